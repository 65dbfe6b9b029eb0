package picker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"parley/agent/record"
)

// order is what the list is sorted by.
type order int

const (
	byUpdated order = iota
	byCreated
	byTitle
	orders
)

func (o order) String() string { return [...]string{"updated", "created", "title"}[o] }

// sorted puts sessions in order: the newest first, or by title.
func (o order) sorted(list []record.Session) {
	slices.SortStableFunc(list, func(a, b record.Session) int {
		switch o {
		case byCreated:
			return b.Created.Compare(a.Created)
		case byTitle:
			return cmp.Or(cmp.Compare(strings.ToLower(name(a)), strings.ToLower(name(b))), cmp.Compare(a.ID, b.ID))
		}
		return b.Updated.Compare(a.Updated)
	})
}

// condition is one word of the search line that looks at one fact alone: agent: state: before:.
type condition struct{ key, value string }

// split parts the search line into what is looked for in titles and texts, and conditions.
func split(line string) (text string, conditions []condition) {
	var words []string
	for _, w := range strings.Fields(line) {
		key, value, ok := strings.Cut(w, ":")
		switch {
		case ok && (key == "agent" || key == "state" || key == "before" || key == "id") && value != "":
			conditions = append(conditions, condition{key, strings.ToLower(value)})
		case ok && (key == "tool" || key == "file") && value != "":
			words = append(words, value) // tools and files stand in the texts
		default:
			words = append(words, w)
		}
	}
	return strings.Join(words, " "), conditions
}

// holds reports whether a session meets a condition.
func (c condition) holds(s record.Session) bool {
	switch c.key {
	case "agent":
		return strings.Contains(strings.ToLower(s.Agent), strings.TrimPrefix(c.value, "@"))
	case "state":
		return strings.ToLower(State(s.State)) == c.value
	case "id":
		return strings.Contains(strings.ToLower(s.ID), c.value)
	case "before":
		for _, layout := range []string{"2006-01-02", "2006-01", "2006"} {
			if at, err := time.ParseInLocation(layout, c.value, time.Local); err == nil {
				return s.Updated.Before(at)
			}
		}
	}
	return true // a date that is still being typed
}

// narrow keeps the sessions that meet all conditions, in order.
func (m *Model) narrow() {
	_, conditions := split(m.text)
	m.sessions = m.sessions[:0]
	for _, s := range m.found {
		if !slices.ContainsFunc(conditions, func(c condition) bool { return !c.holds(s) }) {
			m.sessions = append(m.sessions, s)
		}
	}
	m.order.sorted(m.sessions)
}
