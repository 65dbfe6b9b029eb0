package persist

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/agent/model"
	"parley/toolrt"
)

// StatsQuery chooses what is counted. The zero value is everything that is not in the bin.
type StatsQuery struct {
	Session string // id; "" means all
	Since   time.Time
}

// Spread says how long things took.
type Spread struct {
	Median, P95, Total time.Duration
}

// spreadOf orders the durations.
func spreadOf(all []time.Duration) (s Spread) {
	if len(all) == 0 {
		return s
	}
	slices.Sort(all)
	for _, d := range all {
		s.Total += d
	}
	// The nearest rank: of 20 the 95th percentile is the 19th.
	rank := func(percent int) time.Duration { return all[(len(all)*percent+99)/100-1] }
	s.Median, s.P95 = rank(50), rank(95)
	return s
}

// ToolStats is what the executions of one tool came to.
type ToolStats struct {
	Tool   string
	Count  int
	Ran    int // those that began to run; only they count in Took
	Failed int // failed, or ran out of time
	Denied int
	Broken int // cancelled, skipped or interrupted
	Took   Spread
	Waited time.Duration // for approvals, in all
}

// ModelStats is what the completions of one model came to.
type ModelStats struct {
	Model    string // provider/name
	Count    int
	Unended  int // asked, with no reply: it failed, or the process ended
	Took     Spread
	Usage    model.Usage
	Sessions int
}

// Stats counts executions by tool and completions by model, the most used first.
func (s *Store) Stats(ctx context.Context, q StatsQuery) ([]ToolStats, []ModelStats, error) {
	var num int64
	if q.Session != "" {
		var err error
		if num, err = s.number(ctx, q.Session); err != nil {
			return nil, nil, err
		}
	}
	tools, err := s.toolStats(ctx, num, q.Since)
	if err != nil {
		return nil, nil, fmt.Errorf("statistics of tools: %w", err)
	}
	models, err := s.modelStats(ctx, num, q.Since)
	if err != nil {
		return nil, nil, fmt.Errorf("statistics of models: %w", err)
	}
	return tools, models, nil
}

// counted is what of a session's rows is counted: those of the session num (0: all), from a time on.
const counted = ` (?1 = 0 AND sessions.deleted_ms IS NULL OR sessions.num = ?1) AND coalesce(%s, 0) >= ?2`

func (s *Store) toolStats(ctx context.Context, num int64, since time.Time) ([]ToolStats, error) {
	type row struct {
		tool, status string
		ran          sql.NullInt64
		waited       int64
	}
	rows, err := viewList(ctx, s, `SELECT tool, status, finished_ms - started_ms, coalesce(decision ->> '$.wait', 0)
		FROM calls JOIN sessions ON sessions.num = calls.session
		WHERE is_agent = 0 AND`+fmt.Sprintf(counted, "calls.created_ms"), []any{num, millisOrZero(since)},
		func(r scanner) (row row, err error) {
			return row, r.Scan(&row.tool, &row.status, &row.ran, &row.waited)
		})
	if err != nil {
		return nil, err
	}
	stats, took := map[string]*ToolStats{}, map[string][]time.Duration{}
	for _, r := range rows {
		t := stats[r.tool]
		if t == nil {
			t = &ToolStats{Tool: r.tool}
			stats[r.tool] = t
		}
		t.Count++
		t.Waited += time.Duration(r.waited)
		switch toolrt.Status(r.status) {
		case toolrt.StatusFailed, toolrt.StatusTimeout:
			t.Failed++
		case toolrt.StatusDenied:
			t.Denied++
		case toolrt.StatusCancelled, toolrt.StatusSkipped, toolrt.StatusInterrupted:
			t.Broken++
		case toolrt.StatusSuccess, toolrt.StatusPending, toolrt.StatusRunning, toolrt.StatusWaiting:
		}
		if r.ran.Valid && toolrt.Status(r.status) != toolrt.StatusDenied {
			t.Ran++
			took[r.tool] = append(took[r.tool], time.Duration(r.ran.Int64)*time.Millisecond)
		}
	}
	var list []ToolStats
	for name, t := range stats {
		t.Took = spreadOf(took[name])
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b ToolStats) int { return mostFirst(a.Count, b.Count, a.Tool, b.Tool) })
	return list, nil
}

func mostFirst(a, b int, nameA, nameB string) int {
	if a != b {
		return b - a
	}
	return strings.Compare(nameA, nameB)
}

func millisOrZero(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func (s *Store) modelStats(ctx context.Context, num int64, since time.Time) ([]ModelStats, error) {
	type row struct {
		model    string
		session  int64
		finished bool
		took     sql.NullInt64
		usage    sql.NullString
	}
	rows, err := viewList(ctx, s, `SELECT coalesce(request ->> '$.model', ''), journal.session, finished, ended_ms - started_ms,
			result -> '$.usage'
		FROM journal JOIN sessions ON sessions.num = journal.session
		WHERE kind IN ('completion', 'compaction') AND`+fmt.Sprintf(counted, "journal.started_ms"), []any{num, millisOrZero(since)},
		func(r scanner) (row row, err error) {
			return row, r.Scan(&row.model, &row.session, &row.finished, &row.took, &row.usage)
		})
	if err != nil {
		return nil, err
	}
	stats, took := map[string]*ModelStats{}, map[string][]time.Duration{}
	seen := map[string]map[int64]bool{}
	for _, r := range rows {
		m := stats[r.model]
		if m == nil {
			m = &ModelStats{Model: r.model}
			stats[r.model], seen[r.model] = m, map[int64]bool{}
		}
		m.Count++
		seen[r.model][r.session] = true
		if !r.finished {
			m.Unended++
			continue
		}
		took[r.model] = append(took[r.model], time.Duration(r.took.Int64)*time.Millisecond)
		if r.usage.Valid {
			var usage model.Usage
			if err := fromJSON("the usage of a completion", r.usage.String, &usage); err != nil {
				return nil, err
			}
			m.Usage = plusUsage(m.Usage, usage)
		}
	}
	var list []ModelStats
	for name, m := range stats {
		m.Took, m.Sessions = spreadOf(took[name]), len(seen[name])
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b ModelStats) int { return mostFirst(a.Count, b.Count, a.Model, b.Model) })
	return list, nil
}
