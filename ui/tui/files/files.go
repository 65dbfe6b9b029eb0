// Package files finds files by parts of their names: an [Index] is filled while a folder is walked,
// and can be asked at any time, so that the first results of a large tree are there at once.
package files

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
)

// Max is how many paths an index holds; more are left out, and Full says so.
const Max = 500_000

// Index is a list of paths. Safe for concurrent use.
type Index struct {
	mu    sync.Mutex // guards paths
	paths []string
}

// Add adds a slash-separated path. It reports whether there was room for it.
func (x *Index) Add(path string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.paths) >= Max {
		return false
	}
	x.paths = append(x.paths, path)
	return true
}

// Len is how many paths there are.
func (x *Index) Len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.paths)
}

// found is a path with how well it fits, larger is better.
type found struct {
	path  string
	score int
}

// Match returns the paths that hold the letters of query in their order, whatever their case, the
// best first, at most limit. An empty query gives the first paths of the walk. It stops early, with
// what it has, when ctx ends.
func (x *Index) Match(ctx context.Context, query string, limit int) []string {
	x.mu.Lock()
	paths := x.paths // is only appended to
	x.mu.Unlock()
	if limit <= 0 {
		return nil
	}
	query = strings.ToLower(query)
	var best []found
	worst := 0
	for i, p := range paths {
		if i&0x3fff == 0 && ctx.Err() != nil {
			break
		}
		score, ok := Score(p, query)
		if !ok || len(best) == limit && score <= worst {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, score, func(f found, s int) int { return cmp.Compare(s, f.score) })
		for at < len(best) && best[at].score == score {
			at++ // of equals the first stays first
		}
		best = slices.Insert(best, at, found{p, score})
		if len(best) > limit {
			best = best[:limit]
		}
		worst = best[len(best)-1].score
	}
	out := make([]string, len(best))
	for i, f := range best {
		out[i] = f.path
	}
	return out
}

// Score says how well a text fits a query in lower case: its letters must occur in their order.
// Letters in a row, at the beginning of a word and in the last part of a path count more, a long
// text less.
func Score(text, query string) (score int, ok bool) {
	if query == "" {
		return -len(text), true
	}
	name := strings.LastIndexByte(strings.TrimSuffix(text, "/"), '/') + 1
	if s, ok := scoreFrom(text, query, name); ok {
		return s + 40, true
	}
	return scoreFrom(text, query, 0)
}

// scoreFrom looks at the text from a place on.
func scoreFrom(text, query string, from int) (score int, ok bool) {
	if i := indexFold(text[from:], query); i >= 0 { // as one piece
		score = 20 * len(query)
		if start(text, from+i) {
			score += 30
		}
		return score - len(text), true
	}
	at, last := from, -2
	for i := range len(query) {
		for at < len(text) && lower(text[at]) != query[i] {
			at++
		}
		if at == len(text) {
			return 0, false
		}
		switch {
		case at == last+1:
			score += 8
		case start(text, at):
			score += 6
		default:
			score++
		}
		last = at
		at++
	}
	return score - len(text), true
}

// start reports whether a word begins at i.
func start(s string, i int) bool {
	if i == 0 {
		return true
	}
	switch s[i-1] {
	case '/', '_', '-', '.', ' ':
		return true
	}
	return s[i] >= 'A' && s[i] <= 'Z' && !(s[i-1] >= 'A' && s[i-1] <= 'Z')
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// indexFold is the place of query, which is in lower case, in s, whatever the case of s; -1 when it
// does not occur.
func indexFold(s, query string) int {
	for i := 0; i+len(query) <= len(s); i++ {
		if lower(s[i]) != query[0] {
			continue
		}
		n := 1
		for n < len(query) && lower(s[i+n]) == query[n] {
			n++
		}
		if n == len(query) {
			return i
		}
	}
	return -1
}
