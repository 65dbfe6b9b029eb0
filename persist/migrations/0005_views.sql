-- The views that "parley sql" reads; docs/history.md describes them. Times are ISO 8601 texts in UTC,
-- durations whole milliseconds. Chats in the bin are left out. What a later version adds to a table
-- does not change them.

CREATE VIEW v_sessions AS SELECT
    id, name, title, program, sub_tool, dir, workspace, model, mode, agent, state, parent AS forked_from, turns, calls,
    prompt_tokens, completion_tokens, total_tokens, cached_tokens, reasoning_tokens,
    cost_micros / 1000000.0 AS cost_dollars, context_tokens,
    strftime('%Y-%m-%dT%H:%M:%fZ', created_ms / 1000.0, 'unixepoch') AS created,
    strftime('%Y-%m-%dT%H:%M:%fZ', updated_ms / 1000.0, 'unixepoch') AS updated
FROM sessions WHERE deleted_ms IS NULL;

CREATE VIEW v_turns AS SELECT
    s.id AS session, t.number AS turn, t.input, t.output, t.error, t.status, t.model,
    strftime('%Y-%m-%dT%H:%M:%fZ', t.started_ms / 1000.0, 'unixepoch') AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', t.finished_ms / 1000.0, 'unixepoch') AS finished,
    t.finished_ms - t.started_ms AS took_ms
FROM turns t JOIN sessions s ON s.num = t.session WHERE s.deleted_ms IS NULL;

-- text is a notice's line, or the text parts of a message, a line each.
CREATE VIEW v_messages AS SELECT
    s.id AS session, m.turn, m.seq, m.conversation, m.place, m.agent, m.shown, m.model,
    CASE m.is_notice WHEN 1 THEN 'notice' ELSE m.body ->> '$.role' END AS role,
    CASE m.is_notice WHEN 1 THEN m.body ELSE
        (SELECT group_concat(p.value ->> '$.text', char(10)) FROM json_each(m.body, '$.content') p WHERE p.value ->> '$.toolCall' IS NULL)
    END AS text,
    strftime('%Y-%m-%dT%H:%M:%fZ', m.time_ms / 1000.0, 'unixepoch') AS time
FROM messages m JOIN sessions s ON s.num = m.session WHERE s.deleted_ms IS NULL;

CREATE VIEW v_calls AS SELECT
    s.id AS session, c.turn, c.path, c.parent, c.label, c.tool, c.is_agent, c.category, c.input, c.status, c.result, c.error,
    c.exit_code, c.decision ->> '$.by' AS decided_by, c.decision ->> '$.rule' AS rule,
    coalesce(c.decision ->> '$.wait', 0) / 1000000 AS waited_ms,
    c.is_truncated, c.output_bytes, c.output_lines, c.output_id,
    strftime('%Y-%m-%dT%H:%M:%fZ', c.created_ms / 1000.0, 'unixepoch') AS created,
    strftime('%Y-%m-%dT%H:%M:%fZ', c.started_ms / 1000.0, 'unixepoch') AS started,
    strftime('%Y-%m-%dT%H:%M:%fZ', c.finished_ms / 1000.0, 'unixepoch') AS finished,
    c.finished_ms - c.started_ms AS ran_ms
FROM calls c JOIN sessions s ON s.num = c.session WHERE s.deleted_ms IS NULL;

CREATE VIEW v_decisions AS SELECT
    a.id, s.id AS session, a.turn, a.path, a.tool, a.args, a.args_hash, a.is_allowed,
    a.decision ->> '$.by' AS decided_by, a.decision ->> '$.rule' AS rule, a.decision ->> '$.scope' AS scope,
    a.decision ->> '$.reason' AS reason, a.decision ->> '$.note' AS note,
    coalesce(a.decision ->> '$.wait', 0) / 1000000 AS waited_ms,
    strftime('%Y-%m-%dT%H:%M:%fZ', a.at_ms / 1000.0, 'unixepoch') AS time
FROM approvals a JOIN sessions s ON s.num = a.session WHERE s.deleted_ms IS NULL;

CREATE VIEW v_completions AS SELECT
    s.id AS session, j.turn, j.path, j.ordinal, j.request ->> '$.model' AS model, j.finished AS is_finished,
    j.result ->> '$.finish' AS finish, coalesce(j.result ->> '$.aborted', 0) AS is_aborted,
    coalesce(j.result ->> '$.usage.promptTokens', 0) AS prompt_tokens,
    coalesce(j.result ->> '$.usage.completionTokens', 0) AS completion_tokens,
    coalesce(j.result ->> '$.usage.cachedTokens', 0) AS cached_tokens,
    coalesce(j.result ->> '$.usage.reasoningTokens', 0) AS reasoning_tokens,
    strftime('%Y-%m-%dT%H:%M:%fZ', j.started_ms / 1000.0, 'unixepoch') AS started,
    j.ended_ms - j.started_ms AS took_ms
FROM journal j JOIN sessions s ON s.num = j.session WHERE j.kind = 'completion' AND s.deleted_ms IS NULL;
