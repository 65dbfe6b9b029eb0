-- An archived chat is kept and found, but stands in no list unless asked for.
ALTER TABLE sessions ADD COLUMN archived_ms INTEGER;
