-- The journal of sessions. Times are UTC milliseconds; a time that is not known is NULL.
-- Places within a session (seq) are given out by the process that has the session's lease.

CREATE TABLE sessions (
    num                 INTEGER PRIMARY KEY,
    id                  TEXT    NOT NULL UNIQUE CHECK (id <> ''),
    name                TEXT    NOT NULL,
    title               TEXT    NOT NULL,
    program             TEXT    NOT NULL,
    sub_tool            TEXT    NOT NULL,
    dir                 TEXT    NOT NULL,
    workspace           TEXT    NOT NULL,
    model               TEXT    NOT NULL,
    mode                TEXT    NOT NULL,
    agent               TEXT    NOT NULL,
    state               TEXT    NOT NULL CHECK (state <> ''),
    parent              TEXT    NOT NULL,
    parent_seq          INTEGER NOT NULL,
    draft               TEXT    NOT NULL,
    queue               TEXT    NOT NULL CHECK (json_valid(queue)),
    panel               TEXT    NOT NULL,
    turns               INTEGER NOT NULL CHECK (turns >= 0),
    calls               INTEGER NOT NULL CHECK (calls >= 0),
    prompt_tokens       INTEGER NOT NULL,
    completion_tokens   INTEGER NOT NULL,
    total_tokens        INTEGER NOT NULL,
    cached_tokens       INTEGER NOT NULL,
    reasoning_tokens    INTEGER NOT NULL,
    cost_micros         INTEGER NOT NULL,
    context_tokens      INTEGER NOT NULL,
    created_ms          INTEGER NOT NULL,
    updated_ms          INTEGER NOT NULL,
    deleted_ms          INTEGER
) STRICT;
CREATE UNIQUE INDEX sessions_by_name ON sessions (name) WHERE name <> '' AND deleted_ms IS NULL;
CREATE INDEX sessions_by_dir ON sessions (dir);

CREATE TABLE turns (
    session             INTEGER NOT NULL REFERENCES sessions (num) ON DELETE CASCADE,
    number              INTEGER NOT NULL CHECK (number > 0),
    input               TEXT    NOT NULL,
    program             TEXT    NOT NULL, -- hash of a text
    model               TEXT    NOT NULL,
    version             INTEGER NOT NULL,
    base                TEXT,
    state               TEXT,
    status              TEXT    NOT NULL CHECK (status <> ''),
    output              TEXT    NOT NULL,
    error               TEXT    NOT NULL,
    started_ms          INTEGER,
    finished_ms         INTEGER,
    PRIMARY KEY (session, number)
) STRICT;

CREATE TABLE journal (
    session             INTEGER NOT NULL,
    seq                 INTEGER NOT NULL CHECK (seq > 0),
    turn                INTEGER NOT NULL,
    path                TEXT    NOT NULL,
    ordinal             INTEGER NOT NULL CHECK (ordinal >= 0),
    kind                TEXT    NOT NULL CHECK (kind <> ''),
    hash                TEXT    NOT NULL,
    request             TEXT,
    result              TEXT,
    finished            INTEGER NOT NULL CHECK (finished IN (0, 1)),
    repeatable          INTEGER NOT NULL CHECK (repeatable IN (0, 1)),
    started_ms          INTEGER,
    ended_ms            INTEGER,
    UNIQUE (session, turn, path, ordinal),
    FOREIGN KEY (session, turn) REFERENCES turns (session, number) ON DELETE CASCADE
) STRICT;

-- A message is known by its place in its conversation; notices count by themselves.
CREATE TABLE messages (
    id                  INTEGER PRIMARY KEY,
    session             INTEGER NOT NULL REFERENCES sessions (num) ON DELETE CASCADE,
    seq                 INTEGER NOT NULL CHECK (seq > 0),
    conversation        TEXT    NOT NULL,
    is_notice           INTEGER NOT NULL CHECK (is_notice IN (0, 1)),
    place               INTEGER NOT NULL CHECK (place >= 0),
    turn                INTEGER NOT NULL,
    agent               TEXT    NOT NULL,
    shown               INTEGER NOT NULL CHECK (shown IN (0, 1)),
    label               TEXT    NOT NULL,
    model               TEXT    NOT NULL,
    time_ms             INTEGER,
    body                TEXT    NOT NULL, -- JSON of the message, or the notice's line
    UNIQUE (session, conversation, is_notice, place)
) STRICT;
CREATE INDEX messages_on_screen ON messages (session, seq) WHERE shown = 1 OR is_notice = 1;
CREATE INDEX messages_by_turn ON messages (session, turn);

CREATE TABLE calls (
    id                  INTEGER PRIMARY KEY,
    session             INTEGER NOT NULL REFERENCES sessions (num) ON DELETE CASCADE,
    path                TEXT    NOT NULL,
    parent              TEXT    NOT NULL,
    turn                INTEGER NOT NULL,
    label               TEXT    NOT NULL,
    round               INTEGER NOT NULL,
    place               INTEGER NOT NULL,
    wire_id             TEXT    NOT NULL,
    tool                TEXT    NOT NULL,
    tool_id             TEXT    NOT NULL,
    is_agent            INTEGER NOT NULL CHECK (is_agent IN (0, 1)),
    is_chat             INTEGER NOT NULL CHECK (is_chat IN (0, 1)),
    category            TEXT    NOT NULL,
    display             TEXT    NOT NULL,
    input               TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    result              TEXT    NOT NULL,
    error               TEXT    NOT NULL,
    decision            TEXT,             -- JSON
    exit_code           INTEGER,
    is_truncated        INTEGER NOT NULL CHECK (is_truncated IN (0, 1)),
    output_bytes        INTEGER NOT NULL,
    output_lines        INTEGER NOT NULL,
    output_id           TEXT    NOT NULL,
    created_ms          INTEGER,
    started_ms          INTEGER,
    finished_ms         INTEGER,
    usage               TEXT,             -- JSON, NULL when nothing was used
    UNIQUE (session, path)
) STRICT;
CREATE INDEX calls_by_turn ON calls (session, turn);
CREATE INDEX calls_by_parent ON calls (session, parent, round, place);

CREATE TABLE approvals (
    id                  INTEGER PRIMARY KEY,
    session             INTEGER NOT NULL REFERENCES sessions (num) ON DELETE CASCADE,
    turn                INTEGER NOT NULL,
    path                TEXT    NOT NULL,
    tool                TEXT    NOT NULL,
    args                TEXT    NOT NULL,
    args_hash           TEXT    NOT NULL,
    is_allowed          INTEGER NOT NULL CHECK (is_allowed IN (0, 1)),
    decision            TEXT    NOT NULL CHECK (json_valid(decision))
) STRICT;
CREATE INDEX approvals_by_call ON approvals (session, turn, path);

-- Texts are kept once for all sessions; session_texts says who needs them.
CREATE TABLE texts (
    id                  INTEGER PRIMARY KEY,
    hash                TEXT    NOT NULL UNIQUE CHECK (hash <> ''),
    body                TEXT    NOT NULL
) STRICT;
CREATE TABLE session_texts (
    session             INTEGER NOT NULL REFERENCES sessions (num) ON DELETE CASCADE,
    text                INTEGER NOT NULL REFERENCES texts (id),
    PRIMARY KEY (session, text)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_texts_by_text ON session_texts (text);
