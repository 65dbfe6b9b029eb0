package persist

import (
	"context"
	"database/sql"
	"fmt"
)

// querier is what reads need: the pool of readers, or the writer's connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// statements keeps the prepared statements of one connection by their text. It is used by one
// goroutine at a time and lives as long as the connection.
type statements struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

func newStatements(conn *sql.Conn) *statements {
	return &statements{conn: conn, prepared: make(map[string]*sql.Stmt)}
}

func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := s.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare %.60q: %w", query, translate(err))
	}
	s.prepared[query] = stmt
	return stmt, nil
}

// QueryContext makes statements a querier.
func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// exec runs a statement and returns the number of rows it changed.
func (s *statements) exec(ctx context.Context, query string, args ...any) (int64, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s *statements) close() error {
	var first error
	for _, stmt := range s.prepared {
		if err := stmt.Close(); err != nil && first == nil {
			first = err
		}
	}
	s.prepared = nil
	if err := s.conn.Close(); err != nil && first == nil {
		first = err
	}
	return first
}

// queryRow scans the first row into dest and reports whether there was one.
func queryRow(ctx context.Context, q querier, query string, args []any, dest ...any) (found bool, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return false, translate(err)
	}
	defer func() {
		if closeErr := rows.Close(); err == nil && closeErr != nil {
			err = translate(closeErr)
		}
	}()
	if !rows.Next() {
		return false, rows.Err()
	}
	return true, rows.Scan(dest...)
}

// collect reads all rows of a query with scan.
func collect[T any](ctx context.Context, q querier, query string, args []any, scan func(scanner) (T, error)) (list []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, translate(err)
	}
	defer func() {
		if closeErr := rows.Close(); err == nil && closeErr != nil {
			list, err = nil, translate(closeErr)
		}
	}()
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		return nil, translate(err)
	}
	return list, nil
}

// scanner is the current row of a result.
type scanner interface{ Scan(dest ...any) error }
