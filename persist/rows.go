package persist

import (
	"context"
	"fmt"

	"parley/agent/record"
)

// encodedRows is what a commit writes beside its entry, made ready outside the transaction.
type encodedRows struct {
	record.Rows
	bodies    []string // of the messages
	calls     []callJSON
	decisions []string // of the approvals
}

func encodeRows(rows record.Rows) (encodedRows, error) {
	e := encodedRows{
		Rows:      rows,
		bodies:    make([]string, len(rows.Messages)),
		calls:     make([]callJSON, len(rows.Calls)),
		decisions: make([]string, len(rows.Approvals)),
	}
	var err error
	for i, m := range rows.Messages {
		if e.bodies[i], err = encodeBody(m); err != nil {
			return e, err
		}
	}
	for i, c := range rows.Calls {
		if e.calls[i], err = encodeCall(c); err != nil {
			return e, err
		}
	}
	for i, a := range rows.Approvals {
		if e.decisions[i], err = jsonText("decision about "+a.Path, a.Decision); err != nil {
			return e, err
		}
	}
	return e, nil
}

// put writes the rows and adds what they count to the session's totals. It sets the messages' Seq
// and the approvals' ID in place. Whoever calls it has the writer's connection.
func (j *journal) put(ctx context.Context, t *statements, e encodedRows) (totals, error) {
	sum := totals{usage: e.Usage, costMicro: e.CostMicro, context: e.Context}
	for _, text := range e.Texts {
		if err := j.putText(ctx, t, text); err != nil {
			return sum, fmt.Errorf("store text %s: %w", text.Hash, err)
		}
	}
	for i := range e.Messages {
		if err := j.putMessage(ctx, t, &e.Messages[i], e.bodies[i]); err != nil {
			return sum, fmt.Errorf("store message %d of %q: %w", e.Messages[i].Index, e.Messages[i].Conversation, err)
		}
	}
	for i := range e.Rows.Calls {
		added, err := j.putCall(ctx, t, e.Rows.Calls[i], e.calls[i])
		if err != nil {
			return sum, fmt.Errorf("store call %s: %w", e.Rows.Calls[i].Path, err)
		}
		if added && e.Rows.Calls[i].Parent != "" {
			sum.calls++
		}
	}
	for i := range e.Approvals {
		if err := j.putApproval(ctx, t, &e.Approvals[i], e.decisions[i]); err != nil {
			return sum, fmt.Errorf("store approval of %s: %w", e.Approvals[i].Path, err)
		}
	}
	return sum, nil
}

// putText stores a text unless a session has brought it already, and notes that this one needs it.
func (j *journal) putText(ctx context.Context, t *statements, text record.Text) error {
	if j.knowsText(text.Hash) {
		return nil
	}
	if _, err := t.exec(ctx, `INSERT INTO texts (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`,
		text.Hash, text.Body); err != nil {
		return err
	}
	_, err := t.exec(ctx, `INSERT INTO session_texts (session, text) SELECT ?, id FROM texts WHERE hash = ?
		ON CONFLICT DO NOTHING`, j.num, text.Hash)
	return err
}

// putMessage stores a message, or brings the stored one up to date.
func (j *journal) putMessage(ctx context.Context, t *statements, m *record.Message, body string) error {
	conversation, notice := messageKey(*m)
	m.Seq = j.nextSeq()
	added, err := t.exec(ctx, `INSERT INTO messages (session, seq, conversation, is_notice, place, turn, agent, shown,
			label, model, time_ms, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, conversation, is_notice, place) DO NOTHING`,
		j.num, m.Seq, conversation, notice, m.Index, m.Turn, m.Agent, m.Shown, m.Label, m.Model, millis(m.Time), body)
	if err != nil || added > 0 {
		return err
	}
	return j.replaceMessage(ctx, t, m, body)
}

// replaceMessage brings the stored message up to date. The same turn walked again keeps its place;
// for a later turn, which takes the conversation up earlier, it is a new one.
func (j *journal) replaceMessage(ctx context.Context, t *statements, m *record.Message, body string) error {
	conversation, notice := messageKey(*m)
	var id, seq int64
	var turn int
	if _, err := queryRow(ctx, t, `SELECT id, seq, turn FROM messages
		WHERE session = ? AND conversation = ? AND is_notice = ? AND place = ?`,
		[]any{j.num, conversation, notice, m.Index}, &id, &seq, &turn); err != nil {
		return err
	}
	if turn == m.Turn {
		m.Seq = seq
	} else if _, err := t.exec(ctx, `DELETE FROM search WHERE rowid = ?`, id); err != nil {
		return err
	}
	_, err := t.exec(ctx, `UPDATE messages SET seq = ?, turn = ?, agent = ?, shown = ?, label = ?, model = ?,
		time_ms = ?, body = ? WHERE id = ?`,
		m.Seq, m.Turn, m.Agent, m.Shown, m.Label, m.Model, millis(m.Time), body, id)
	return err
}

// putCall stores a call or brings the stored one up to date, and reports whether it is new.
func (j *journal) putCall(ctx context.Context, t *statements, c record.Call, enc callJSON) (added bool, err error) {
	// A column that stands in an index costs the index a write even if it stays as it is, and these
	// nearly always do.
	changed, err := t.exec(ctx, `UPDATE calls SET label = ?, wire_id = ?, tool = ?, tool_id = ?, is_agent = ?, is_chat = ?,
			category = ?, display = ?, input = ?, status = ?, result = ?, error = ?, decision = ?, exit_code = ?,
			is_truncated = ?, output_bytes = ?, output_lines = ?, output_id = ?, created_ms = ?, started_ms = ?,
			finished_ms = ?, usage = ?
		WHERE session = ? AND path = ? AND parent = ? AND turn = ? AND round = ? AND place = ?`,
		append(callDetails(c, enc), j.num, c.Path, c.Parent, c.Turn, c.Round, c.Index)...)
	if err != nil || changed > 0 {
		return false, err
	}
	changed, err = t.exec(ctx, `UPDATE calls SET parent = ?, turn = ?, round = ?, place = ? WHERE session = ? AND path = ?`,
		c.Parent, c.Turn, c.Round, c.Index, j.num, c.Path)
	if err != nil || changed > 0 {
		if err == nil {
			_, err = j.putCall(ctx, t, c, enc) // it is found now
		}
		return false, err
	}
	_, err = t.exec(ctx, `INSERT INTO calls (label, wire_id, tool, tool_id, is_agent, is_chat, category, display, input,
			status, result, error, decision, exit_code, is_truncated, output_bytes, output_lines, output_id, created_ms,
			started_ms, finished_ms, usage, session, path, parent, turn, round, place)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		append(callDetails(c, enc), j.num, c.Path, c.Parent, c.Turn, c.Round, c.Index)...)
	return err == nil, err
}

// putApproval adds a decision unless the turn, walked again, brings the very same one.
func (j *journal) putApproval(ctx context.Context, t *statements, a *record.Approval, decision string) error {
	key := []any{j.num, a.Turn, a.Path, a.ArgsHash, decision}
	const find = `SELECT id FROM approvals WHERE session = ? AND turn = ? AND path = ? AND args_hash = ? AND decision = ?`
	found, err := queryRow(ctx, t, find, key, &a.ID)
	if err != nil || found {
		return err
	}
	if _, err := t.exec(ctx, `INSERT INTO approvals (session, turn, path, args_hash, decision, tool, args, is_allowed, at_ms)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, append(key, a.Tool, a.Args, a.Decision.Allow, millis(a.Decision.At))...); err != nil {
		return err
	}
	_, err = queryRow(ctx, t, `SELECT last_insert_rowid()`, nil, &a.ID)
	return err
}
