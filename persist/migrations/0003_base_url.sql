-- The address of the model's server stays with the session: a chat with a server of one's own must not
-- go on with the provider's.
ALTER TABLE sessions ADD COLUMN base_url TEXT NOT NULL DEFAULT '';
