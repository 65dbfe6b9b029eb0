package toolrt

import (
	"cmp"
	"slices"
	"strings"
)

const maxNearNames = 3

// nearNames returns up to three of visible that wanted may have been meant for: equal when case,
// "-" and "_" are ignored, or at most two edits away (R13). The nearest come first. None of them
// is ever run in wanted's place.
func nearNames(wanted string, visible []string) []string {
	type near struct {
		name string
		dist int
	}
	if len(wanted) > 256 {
		return nil
	}
	plain := plainName(wanted)
	var found []near
	for _, name := range visible {
		dist := 0
		if plainName(name) != plain {
			dist = editDistance(wanted, name)
		}
		// Two edits turn any two-letter name into any other: such a match says nothing.
		if dist > 2 || dist >= min(len(wanted), len(name)) {
			continue
		}
		found = append(found, near{name, dist})
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, f := range found {
		if len(names) < maxNearNames && !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}

func plainName(name string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
}

// editDistance is the number of letters to insert, delete or replace between a and b. It is only
// needed up to 2: texts whose lengths differ by more give 3.
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if d := len(s) - len(t); d > 2 || d < -2 {
		return 3
	}
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range s {
		diagonal := row[0]
		row[0] = i + 1
		for j, d := range t {
			change := diagonal
			if c != d {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(t)]
}

// listNames joins names as in "a, b or c".
func listNames(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
