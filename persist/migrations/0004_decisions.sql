-- When a decision was made, so that the log can be read by time. It stands in the decision's JSON as
-- well; decisions that were only taken from the record have no time.
ALTER TABLE approvals ADD COLUMN at_ms INTEGER;
UPDATE approvals SET at_ms = CAST(round((julianday(json_extract(decision, '$.at')) - 2440587.5) * 86400000) AS INTEGER);
