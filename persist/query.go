package persist

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// ErrNotSelect says that a text is not one statement that only reads.
var ErrNotSelect = errors.New("only one SELECT statement is taken (it may begin with WITH, VALUES or EXPLAIN)")

// queryTime bounds how long a statement of [Store.Select] may run.
const queryTime = 30 * time.Second

// Select runs one statement of a person that only reads, on a connection of its own that can do
// nothing else, and gives row after row to each, with the names of the columns. It ends after limit
// rows and then reports that there are more. Values are nil, int64, float64, string or []byte.
func (s *Store) Select(ctx context.Context, statement string, limit int, each func(columns []string, values []any) error) (more bool, err error) {
	if !onlyReads(statement) {
		return false, ErrNotSelect
	}
	if s.path == "" {
		return false, errors.New("nothing is saved")
	}
	params := url.Values{"mode": {"ro"}, "_busy_timeout": {"5000"}, "_query_only": {"1"}, "_pragma": {"trusted_schema(0)", "temp_store(2)"}}
	db := openPool(dsn(s.path, params))
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx, cancel := context.WithTimeoutCause(ctx, queryTime, fmt.Errorf("the statement took more than %s", queryTime))
	defer cancel()
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		return false, selectError(ctx, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return false, translate(err)
	}
	for n := 0; rows.Next(); n++ {
		if n == limit {
			return true, nil
		}
		values, err := scanValues(rows, len(columns))
		if err != nil {
			return false, selectError(ctx, err)
		}
		if err := each(columns, values); err != nil {
			return false, err
		}
	}
	return false, selectError(ctx, rows.Err())
}

// selectError prefers why a statement was broken off to how.
func selectError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return translate(err)
}

func scanValues(rows *sql.Rows, n int) ([]any, error) {
	values, places := make([]any, n), make([]any, n)
	for i := range values {
		places[i] = &values[i]
	}
	return values, rows.Scan(places...)
}

// onlyReads reports whether a text is one statement that begins like one that reads. What it may do
// is held by the connection; this keeps out statements such as VACUUM INTO and ATTACH, which reach
// other files, and a second statement behind the first.
func onlyReads(statement string) bool {
	words, ends := 0, false
	first := ""
	for rest := statement; rest != ""; {
		token := nextToken(rest)
		rest = rest[len(token):]
		switch {
		case isBlank(token):
		case token == ";":
			ends = words > 0
		case ends:
			return false
		default:
			if words == 0 {
				first = strings.ToUpper(token)
			}
			words++
		}
	}
	switch first {
	case "SELECT", "WITH", "VALUES", "EXPLAIN":
		return true
	}
	return false
}

func isBlank(token string) bool {
	return strings.TrimSpace(token) == "" || strings.HasPrefix(token, "--") || strings.HasPrefix(token, "/*")
}

// nextToken is the first token of a text as SQLite takes it apart, as far as is needed to find where
// a statement ends: a comment, a quoted text, a word, or a single character.
func nextToken(text string) string {
	upTo := func(end string, from int) string {
		if i := strings.Index(text[from:], end); i >= 0 {
			return text[:from+i+len(end)]
		}
		return text
	}
	switch c := text[0]; {
	case strings.HasPrefix(text, "--"):
		return upTo("\n", 2)
	case strings.HasPrefix(text, "/*"):
		return upTo("*/", 2)
	case c == '\'' || c == '"' || c == '`':
		return upTo(string(c), 1) // a doubled quote begins the next token, which does no harm
	case c == '[':
		return upTo("]", 1)
	case isWord(c):
		n := 1
		for n < len(text) && isWord(text[n]) {
			n++
		}
		return text[:n]
	}
	return text[:1]
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}
