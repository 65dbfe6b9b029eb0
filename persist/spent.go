package persist

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"parley/agent/model"
	"parley/agent/record"
)

// Spent says what a session has used: one line for each agent and each model that replied, and for
// each tool that ran, the largest first.
func (s *Store) Spent(ctx context.Context, session string) ([]record.Spent, error) {
	num, err := s.number(ctx, session)
	if err != nil {
		return nil, err
	}
	const usage = `count(*), coalesce(sum(body ->> '$.usage.promptTokens'), 0), coalesce(sum(body ->> '$.usage.completionTokens'), 0),
		coalesce(sum(body ->> '$.usage.totalTokens'), 0), coalesce(sum(body ->> '$.usage.cachedTokens'), 0)`
	const replies = ` FROM messages WHERE session = ? AND is_notice = 0 AND model <> '' GROUP BY 2 ORDER BY 6 DESC`
	var all []record.Spent
	for _, q := range []string{
		`SELECT 'agent', agent, ` + usage + `, 0, 0` + replies,
		`SELECT 'model', model, ` + usage + `, 0, 0` + replies,
		`SELECT 'tool', tool, count(*), 0, 0, 0, 0, coalesce(sum(finished_ms - started_ms), 0),
			sum(status NOT IN ('success', 'pending', 'running', 'waiting'))
		FROM calls WHERE session = ? AND is_agent = 0 AND category = '' GROUP BY tool ORDER BY 8 DESC, 3 DESC`,
	} {
		list, err := viewList(ctx, s, q, []any{num}, scanSpent)
		if err != nil {
			return nil, fmt.Errorf("usage of session %s: %w", session, err)
		}
		all = append(all, list...)
	}
	times, err := viewList(ctx, s, `SELECT coalesce(request ->> '$.model', ''), sum(ended_ms - started_ms) FROM journal
		WHERE session = ? AND kind = 'completion' AND finished = 1 GROUP BY 1`, []any{num}, scanTime)
	if err != nil {
		return nil, fmt.Errorf("times of session %s: %w", session, err)
	}
	for i := range all {
		for _, t := range times {
			if all[i].By == record.SpentModel && all[i].Name == t.Name {
				all[i].Time = t.Time
			}
		}
	}
	return all, nil
}

func scanSpent(row scanner) (s record.Spent, err error) {
	var u model.Usage
	var millis int64
	err = row.Scan(&s.By, &s.Name, &s.Count, &u.PromptTokens, &u.CompletionTokens, &u.TotalTokens, &u.CachedTokens, &millis, &s.Failed)
	s.Usage, s.Time = u, time.Duration(millis)*time.Millisecond
	return s, err
}

func scanTime(row scanner) (s record.Spent, err error) {
	var millis sql.NullInt64
	err = row.Scan(&s.Name, &millis)
	s.Time = time.Duration(millis.Int64) * time.Millisecond
	return s, err
}
