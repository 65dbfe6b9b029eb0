package persist

import "strings"

// qualified puts the table's name before each of a list of columns.
func qualified(table, columns string) string {
	names := strings.Split(columns, ",")
	for i, name := range names {
		names[i] = table + "." + strings.TrimSpace(name)
	}
	return strings.Join(names, ", ")
}

func columnCount(columns string) int { return strings.Count(columns, ",") + 1 }

// partOf is the columns of a row between the first before and the last after of them, so that two
// scan functions can read one joined row.
type partOf struct {
	row           scanner
	before, after int
}

// Scan implements scanner.
func (p partOf) Scan(dest ...any) error {
	all := make([]any, 0, p.before+len(dest)+p.after)
	all = append(all, unread(p.before)...)
	all = append(all, dest...)
	return p.row.Scan(append(all, unread(p.after)...)...)
}

// unread gives places for n values that nobody reads.
func unread(n int) []any {
	places := make([]any, n)
	for i := range places {
		places[i] = new(any)
	}
	return places
}
