package persist

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"parley/agent/record"
	"parley/toolrt"
)

// Decision is an entry of the log of decisions (A19), with what became of the call.
type Decision struct {
	record.Approval
	Session string `json:"session"` // id
	// Status is that of the call, "" when its row is gone; Started is zero when it never ran.
	Status   toolrt.Status `json:"status,omitzero"`
	Label    string        `json:"label,omitzero"`
	ExitCode *int          `json:"exitCode,omitzero"`
	Started  time.Time     `json:"started,omitzero"`
	Finished time.Time     `json:"finished,omitzero"`
}

// DecisionQuery chooses decisions. The zero value means all of sessions that are not in the bin.
type DecisionQuery struct {
	Session string // id; "" means all sessions that are not in the bin
	Tool    string // name shown; "" means all
	By      string // who decided, see toolrt.Decision; "" means all
	Rule    string // text of the rule that decided or was made; "" means all
	Denied  bool   // denials only
	Since   time.Time
	Limit   int   // at most so many; zero means 100, negative all
	Before  int64 // those before the decision of that id in the list; zero begins with the newest
}

// Decisions returns the decisions that q chooses, newest first.
func (s *Store) Decisions(ctx context.Context, q DecisionQuery) ([]Decision, error) {
	where, args := []string{}, []any{}
	add := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}
	if q.Session != "" {
		num, err := s.number(ctx, q.Session)
		if err != nil {
			return nil, err
		}
		add("approvals.session = ?", num)
	} else {
		add("deleted_ms IS NULL")
	}
	if q.Tool != "" {
		add("approvals.tool = ?", q.Tool)
	}
	if q.By != "" {
		add("approvals.decision ->> '$.by' = ?", q.By)
	}
	if q.Rule != "" {
		add("approvals.decision ->> '$.rule' = ?", q.Rule)
	}
	if q.Denied {
		add("is_allowed = 0")
	}
	if !q.Since.IsZero() {
		add("at_ms >= ?", q.Since.UnixMilli())
	}
	if q.Before > 0 {
		add("approvals.id < ?", q.Before)
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	list, err := viewList(ctx, s, `SELECT approvals.id, sessions.id, approvals.turn, approvals.path, approvals.tool, args, args_hash,
			approvals.decision, calls.status, calls.label, calls.exit_code, calls.started_ms, calls.finished_ms
		FROM approvals CROSS JOIN sessions ON sessions.num = approvals.session
		LEFT JOIN calls ON calls.session = approvals.session AND calls.path = approvals.path
		WHERE `+strings.Join(where, " AND ")+` ORDER BY approvals.id DESC LIMIT ?`, append(args, q.Limit), scanDecision)
	if err != nil {
		return nil, fmt.Errorf("decisions: %w", err)
	}
	return list, nil
}

func scanDecision(row scanner) (d Decision, err error) {
	var (
		decision                    string
		status, label               sql.NullString
		exitCode, started, finished sql.NullInt64
	)
	if err := row.Scan(&d.ID, &d.Session, &d.Turn, &d.Path, &d.Tool, &d.Args, &d.ArgsHash, &decision, &status, &label,
		&exitCode, &started, &finished); err != nil {
		return d, err
	}
	d.Status, d.Label = toolrt.Status(status.String), label.String
	d.Started, d.Finished = fromMillis(started), fromMillis(finished)
	if exitCode.Valid {
		code := int(exitCode.Int64)
		d.ExitCode = &code
	}
	return d, fromJSON("the decision about "+d.Path, decision, &d.Decision)
}
