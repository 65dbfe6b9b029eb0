package persist

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/agent/record"
	"parley/toolrt"
)

// Execution is a call of a command tool in the history of a session.
type Execution struct {
	record.Call
	Session string `json:"session"` // id
	id      int64
}

// HistoryQuery chooses executions.
type HistoryQuery struct {
	Session string // id; "" means all sessions that are not in the bin
	Tool    string // name shown; "" means all
	Status  toolrt.Status
	Since   time.Time // created then or later; zero means all
	Text    string    // stands in input or result, whatever its case; "" means all
	// Agents gives the calls of agents too.
	Agents bool
	Limit  int // at most so many; zero means 100
	// Before, unless nil, gives those after this one in the list: the last of the page before.
	Before *Execution
}

// History returns the executions that q chooses, newest first. A page costs the same wherever it
// is.
func (s *Store) History(ctx context.Context, q HistoryQuery) ([]Execution, error) {
	where, args := []string{}, []any{}
	add := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}
	order := "calls.id DESC"
	if q.Session != "" {
		num, err := s.number(ctx, q.Session)
		if err != nil {
			return nil, err
		}
		add("session = ?", num)
		order = "turn DESC, calls.id DESC" // the index by turn gives this order
		if q.Before != nil {
			add("(turn, calls.id) < (?, ?)", q.Before.Turn, q.Before.id)
		}
	} else {
		add("deleted_ms IS NULL")
		if q.Before != nil {
			add("calls.id < ?", q.Before.id)
		}
	}
	if q.Tool != "" {
		add("tool = ?", q.Tool)
	}
	if q.Status != "" {
		add("status = ?", string(q.Status))
	}
	if !q.Since.IsZero() {
		add("calls.created_ms >= ?", q.Since.UnixMilli())
	}
	if q.Text != "" {
		add(`(input LIKE ? ESCAPE '\' OR result LIKE ? ESCAPE '\')`, likePattern(q.Text), likePattern(q.Text))
	}
	if !q.Agents {
		add("is_agent = 0")
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	list, err := viewList(ctx, s, `SELECT calls.id, sessions.id, `+qualified("calls", callColumns)+`
		FROM calls CROSS JOIN sessions ON sessions.num = calls.session
		WHERE `+strings.Join(where, " AND ")+` ORDER BY `+order+` LIMIT ?`, append(args, q.Limit), scanExecution)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return list, nil
}

// Undecided returns executions that ran with no decision on record, of one session or (with "") of
// all that are not in the bin. There are none unless somebody has changed the database.
func (s *Store) Undecided(ctx context.Context, session string) ([]Execution, error) {
	list, err := viewList(ctx, s, `SELECT calls.id, sessions.id, `+qualified("calls", callColumns)+`
		FROM calls CROSS JOIN sessions ON sessions.num = calls.session
		WHERE (sessions.id = ?1 OR ?1 = '' AND deleted_ms IS NULL) AND is_agent = 0 AND started_ms IS NOT NULL
			AND calls.decision IS NULL AND status NOT IN ('skipped', 'denied') AND tool_id <> ''
		ORDER BY calls.id`, []any{session}, scanExecution)
	if err != nil {
		return nil, fmt.Errorf("executions without a decision: %w", err)
	}
	return list, nil
}

func scanExecution(row scanner) (e Execution, err error) {
	if err := (partOf{row: row, after: columnCount(callColumns)}).Scan(&e.id, &e.Session); err != nil {
		return Execution{}, err
	}
	e.Call, err = scanCall(partOf{row: row, before: 2})
	return e, err
}

// likePattern finds text anywhere, its own signs meaning themselves.
func likePattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}
