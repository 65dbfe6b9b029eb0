package persist

import (
	"context"
	"database/sql"

	"parley/agent/record"
)

// turnColumns are read by scanTurn, in this order, after the session's id.
const turnColumns = `number, input, program, model, version, base, state, status, output, error, started_ms, finished_ms`

func insertTurn(ctx context.Context, t *statements, num int64, turn record.Turn) error {
	_, err := t.exec(ctx, `INSERT INTO turns (session, number, input, program, model, version, base, state, status,
			output, error, started_ms, finished_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		num, turn.Number, turn.Input, turn.Program, turn.Model, turn.Version, rawText(turn.Base), rawText(turn.State),
		string(turn.Status), turn.Output, turn.Error, millis(turn.Started), millis(turn.Finished))
	return err
}

// closeTurn stores how an open turn ended and reports whether there was one.
func closeTurn(ctx context.Context, t *statements, num int64, turn record.Turn) (bool, error) {
	changed, err := t.exec(ctx, `UPDATE turns SET state = ?, status = ?, output = ?, error = ?, finished_ms = ?
		WHERE session = ? AND number = ? AND status = ?`,
		rawText(turn.State), string(turn.Status), turn.Output, turn.Error, millis(turn.Finished),
		num, turn.Number, string(record.TurnOpen))
	return changed > 0, err
}

func scanTurn(session string) func(scanner) (record.Turn, error) {
	return func(row scanner) (record.Turn, error) {
		var (
			t                 = record.Turn{Session: session}
			base, state       sql.NullString
			started, finished sql.NullInt64
		)
		err := row.Scan(&t.Number, &t.Input, &t.Program, &t.Model, &t.Version, &base, &state, &t.Status,
			&t.Output, &t.Error, &started, &finished)
		t.Base, t.State = fromRawText(base), fromRawText(state)
		t.Started, t.Finished = fromMillis(started), fromMillis(finished)
		return t, err
	}
}
