-- Full text search over messages. The index holds no copy of the texts; its rowid is the message's
-- id. A turn's messages are added when the turn has ended.

CREATE VIRTUAL TABLE search USING fts5 (body, content = '', contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2');

ALTER TABLE turns ADD COLUMN is_indexed INTEGER NOT NULL DEFAULT 0 CHECK (is_indexed IN (0, 1));
CREATE INDEX turns_to_index ON turns (session, number) WHERE is_indexed = 0 AND status <> 'open';
