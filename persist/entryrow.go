package persist

import (
	"context"
	"database/sql"

	"parley/agent/record"
)

// entryColumns are read by scanEntry, in this order.
const entryColumns = `turn, path, ordinal, seq, kind, hash, request, result, finished, repeatable, started_ms, ended_ms`

func scanEntry(row scanner) (record.Entry, error) {
	var (
		e               record.Entry
		request, result sql.NullString
		started, ended  sql.NullInt64
	)
	err := row.Scan(&e.Key.Turn, &e.Key.Path, &e.Key.Ordinal, &e.Seq, &e.Kind, &e.Hash, &request, &result,
		&e.Finished, &e.Repeatable, &started, &ended)
	e.Request, e.Result = fromRawText(request), fromRawText(result)
	e.Started, e.Ended = fromMillis(started), fromMillis(ended)
	return e, err
}

// findEntry returns the place of the entry of that key, 0 when there is none.
func findEntry(ctx context.Context, t *statements, num int64, k record.Key) (seq int64, finished bool, err error) {
	_, err = queryRow(ctx, t, `SELECT seq, finished FROM journal
		WHERE session = ? AND turn = ? AND path = ? AND ordinal = ?`,
		[]any{num, k.Turn, k.Path, k.Ordinal}, &seq, &finished)
	return seq, finished, err
}

// insertEntry stores a new entry at the place seq; it reports false, and does nothing, when there is
// one of that key.
func insertEntry(ctx context.Context, t *statements, num, seq int64, e record.Entry) (bool, error) {
	changed, err := t.exec(ctx, `INSERT INTO journal (session, seq, turn, path, ordinal, kind, hash, request, result,
			finished, repeatable, started_ms, ended_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, turn, path, ordinal) DO NOTHING`,
		num, seq, e.Key.Turn, e.Key.Path, e.Key.Ordinal, string(e.Kind), e.Hash, rawText(e.Request),
		rawText(e.Result), e.Finished, e.Repeatable, millis(e.Started), millis(e.Ended))
	return changed > 0, err
}

// beginEntry overwrites an unfinished entry that begins anew. It keeps its place.
func beginEntry(ctx context.Context, t *statements, num int64, e record.Entry) error {
	_, err := t.exec(ctx, `UPDATE journal SET kind = ?, hash = ?, request = ?, result = NULL, repeatable = ?,
			started_ms = ?, ended_ms = NULL
		WHERE session = ? AND turn = ? AND path = ? AND ordinal = ?`,
		string(e.Kind), e.Hash, rawText(e.Request), e.Repeatable, millis(e.Started),
		num, e.Key.Turn, e.Key.Path, e.Key.Ordinal)
	return err
}

// finishEntry finishes an entry that has begun, and reports whether there was one.
func finishEntry(ctx context.Context, t *statements, num int64, e record.Entry) (bool, error) {
	changed, err := t.exec(ctx, `UPDATE journal SET request = coalesce(?, request), result = ?, finished = 1, ended_ms = ?
		WHERE session = ? AND turn = ? AND path = ? AND ordinal = ? AND finished = 0`,
		rawText(e.Request), rawText(e.Result), millis(e.Ended), num, e.Key.Turn, e.Key.Path, e.Key.Ordinal)
	return changed > 0, err
}
