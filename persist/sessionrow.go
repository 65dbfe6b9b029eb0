package persist

import (
	"context"
	"database/sql"
	"fmt"

	"parley/agent/model"
	"parley/agent/record"
)

// sessionColumns are read by scanSession, in this order.
const sessionColumns = `num, id, name, title, program, sub_tool, dir, workspace, model, mode, agent, state,
	parent, parent_seq, draft, queue, panel, turns, calls,
	prompt_tokens, completion_tokens, total_tokens, cached_tokens, reasoning_tokens,
	cost_micros, context_tokens, created_ms, updated_ms, deleted_ms, base_url, archived_ms, effort`

// sessionRow is a session with its number, by which other tables name it.
type sessionRow struct {
	record.Session
	num int64
}

func scanSession(row scanner) (sessionRow, error) {
	var (
		s                                   sessionRow
		queue                               string
		created, updated, deleted, archived sql.NullInt64
	)
	err := row.Scan(&s.num, &s.ID, &s.Name, &s.Title, &s.Program, &s.SubTool, &s.Dir, &s.Workspace, &s.Model,
		&s.Mode, &s.Agent, &s.State, &s.Parent, &s.ParentSeq, &s.Draft, &queue, &s.Panel, &s.Turns, &s.Calls,
		&s.Usage.PromptTokens, &s.Usage.CompletionTokens, &s.Usage.TotalTokens, &s.Usage.CachedTokens,
		&s.Usage.ReasoningTokens, &s.CostMicro, &s.Context, &created, &updated, &deleted, &s.BaseURL, &archived, &s.Effort)
	if err != nil {
		return sessionRow{}, err
	}
	s.Created, s.Updated, s.Deleted, s.Archived = fromMillis(created), fromMillis(updated), fromMillis(deleted), fromMillis(archived)
	return s, fromJSON("the queue of session "+s.ID, queue, &s.Queue)
}

// insertSession stores a new session and returns its number.
func insertSession(ctx context.Context, t *statements, s record.Session) (num int64, err error) {
	queue, err := jsonText("queue", s.Queue)
	if err != nil {
		return 0, err
	}
	u := s.Usage
	_, err = t.exec(ctx, `INSERT INTO sessions (id, name, title, program, sub_tool, dir, workspace, model, mode,
			agent, state, parent, parent_seq, draft, queue, panel, turns, calls,
			prompt_tokens, completion_tokens, total_tokens, cached_tokens, reasoning_tokens,
			cost_micros, context_tokens, created_ms, updated_ms, deleted_ms, base_url, effort)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)`,
		s.ID, s.Name, s.Title, s.Program, s.SubTool, s.Dir, s.Workspace, s.Model, s.Mode,
		s.Agent, string(s.State), s.Parent, s.ParentSeq, s.Draft, queue, s.Panel,
		u.PromptTokens, u.CompletionTokens, u.TotalTokens, u.CachedTokens, u.ReasoningTokens,
		s.CostMicro, s.Context, millis(s.Created), millis(s.Updated), s.BaseURL, string(s.Effort))
	if isUniqueViolation(err) && s.Name != "" {
		return 0, fmt.Errorf("%q: %w", s.Name, ErrNameTaken)
	}
	if err != nil {
		return 0, err
	}
	_, err = queryRow(ctx, t, `SELECT num FROM sessions WHERE id = ?`, []any{s.ID}, &num)
	return num, err
}

// updateSession stores the fields that SaveSession writes.
func updateSession(ctx context.Context, t *statements, num int64, s record.Session) error {
	queue, err := jsonText("queue", s.Queue)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `UPDATE sessions SET title = ?, state = ?, model = ?, mode = ?, agent = ?, draft = ?,
		queue = ?, panel = ?, updated_ms = ?, base_url = ?, effort = ? WHERE num = ?`,
		s.Title, string(s.State), s.Model, s.Mode, s.Agent, s.Draft, queue, s.Panel, millis(s.Updated), s.BaseURL, string(s.Effort), num)
	return err
}

// totals is what one commit adds to a session's row.
type totals struct {
	turns, calls int
	usage        model.Usage
	costMicro    int64
	context      int // replaces, unless zero
}

func (d totals) zero() bool { return d == totals{} }

// plus returns the sum of both; the context of other counts when it has one.
func (d totals) plus(other totals) totals {
	d.turns += other.turns
	d.calls += other.calls
	d.usage = plusUsage(d.usage, other.usage)
	d.costMicro += other.costMicro
	if other.context != 0 {
		d.context = other.context
	}
	return d
}

func plusUsage(a, b model.Usage) model.Usage {
	a.PromptTokens += b.PromptTokens
	a.CompletionTokens += b.CompletionTokens
	a.TotalTokens += b.TotalTokens
	a.CachedTokens += b.CachedTokens
	a.ReasoningTokens += b.ReasoningTokens
	return a
}

// minus takes back what the rows of an effect add that has been counted already.
func minus(rows record.Rows) totals {
	u := rows.Usage
	return totals{costMicro: -rows.CostMicro, usage: model.Usage{
		PromptTokens:     -u.PromptTokens,
		CompletionTokens: -u.CompletionTokens,
		TotalTokens:      -u.TotalTokens,
		CachedTokens:     -u.CachedTokens,
		ReasoningTokens:  -u.ReasoningTokens,
	}}
}

// add applies the totals to the row in memory.
func (d totals) add(s *record.Session) {
	s.Turns += d.turns
	s.Calls += d.calls
	s.Usage = plusUsage(s.Usage, d.usage)
	s.CostMicro += d.costMicro
	if d.context != 0 {
		s.Context = d.context
	}
}

// addTotals applies the totals to the stored row.
func addTotals(ctx context.Context, t *statements, num int64, d totals, updatedMillis any) error {
	_, err := t.exec(ctx, `UPDATE sessions SET turns = turns + ?, calls = calls + ?,
			prompt_tokens = prompt_tokens + ?, completion_tokens = completion_tokens + ?,
			total_tokens = total_tokens + ?, cached_tokens = cached_tokens + ?,
			reasoning_tokens = reasoning_tokens + ?, cost_micros = cost_micros + ?,
			context_tokens = coalesce(nullif(?, 0), context_tokens), updated_ms = ? WHERE num = ?`,
		d.turns, d.calls, d.usage.PromptTokens, d.usage.CompletionTokens, d.usage.TotalTokens,
		d.usage.CachedTokens, d.usage.ReasoningTokens, d.costMicro, d.context, updatedMillis, num)
	return err
}

// setState stores the session's state, and a title when it has none.
func setState(ctx context.Context, t *statements, num int64, state record.SessionState, title string) error {
	_, err := t.exec(ctx, `UPDATE sessions SET state = ?, title = CASE title WHEN '' THEN ? ELSE title END WHERE num = ?`,
		string(state), title, num)
	return err
}
