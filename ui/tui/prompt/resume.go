package prompt

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/agent"
	"parley/ui/tui/style"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

// ResumeID is the id of the resume dialog.
const ResumeID = "resume"

// resume is the dialog about calls that had begun when the last process ended.
type resume struct {
	open  []agent.OpenCall
	info  string
	at    int
	field *field // a result is typed
	pager *pager // what a call had printed is read
	note  string // why the last key did nothing
	news  string // what happened to a process
	// answered: an answer is on its way; the root shows the dialog anew with what is left.
	answered bool
}

// NewResume returns the dialog about calls that were running when the last process ended. Info is
// a sentence about what is not asked ("Calls 1 and 2.1 are done and are not run again."). Each
// answer comes as a [ResumeResolved]; the root then shows a new dialog with the calls that are
// left.
func NewResume(open []agent.OpenCall, info string) Prompt { return &resume{open: open, info: info} }

func (r *resume) ID() string       { return ResumeID }
func (r *resume) Kind() Kind       { return Resume }
func (r *resume) FullScreen() bool { return r.pager != nil }
func (r *resume) Editing() bool    { return r.field != nil }

func (r *resume) Path() string {
	if len(r.open) == 0 {
		return ""
	}
	return r.open[r.at].Call.Path
}

// Update takes keys while the dialog is armed.
func (r *resume) Update(msg tea.Msg) (Prompt, tea.Cmd) {
	if ended, ok := msg.(Ended); ok {
		r.ended(ended)
		return r, nil
	}
	if r.answered {
		return r, nil
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		r.note, r.news = "", ""
		return r, r.key(msg)
	case Looked:
		r.look(msg.Open)
	case Edited:
		if msg.ID == ResumeID && r.field != nil {
			r.field.area.SetValue(strings.TrimRight(msg.Text, "\n"))
		}
	default:
		if r.field != nil {
			return r, r.field.update(msg)
		}
	}
	return r, nil
}

// look takes what is known of the calls now. A process that has ended meanwhile is told.
func (r *resume) look(now []agent.OpenCall) {
	for _, o := range now {
		for i := range r.open {
			if r.open[i].Key != o.Key {
				continue
			}
			if r.open[i].Alive && !o.Alive {
				r.news = fmt.Sprintf("process %d has ended by itself: c shows what it had printed", o.Pgid)
			}
			r.open[i] = o
		}
	}
}

// ended takes what came of ending a process.
func (r *resume) ended(e Ended) {
	r.answered = false
	r.look(e.Open)
	r.note, r.news = "", ""
	for _, o := range r.open {
		switch {
		case o.Key != e.Key:
		case e.Err != nil:
			r.note = "it could not be ended: " + e.Err.Error()
		case o.Alive:
			r.note = fmt.Sprintf("process %d still runs", o.Pgid)
		default:
			r.news = fmt.Sprintf("process %d was ended: now say what the call's result is", o.Pgid)
		}
	}
}

func (r *resume) key(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch {
	case k == "ctrl+c":
		return r.leave()
	case r.field != nil:
		return r.textKey(k, msg)
	case r.pager != nil:
		if !r.pager.move(k) && (k == "esc" || k == "q" || k == "c") {
			r.pager = nil
		}
		return nil
	case k == "esc" || len(r.open) == 0:
		return r.leave()
	}
	return r.askKey(k)
}

func (r *resume) askKey(k string) tea.Cmd {
	call := r.open[r.at]
	switch k {
	case "up", "[":
		r.at = max(r.at-1, 0)
	case "down", "]":
		r.at = min(r.at+1, len(r.open)-1)
	case "c":
		r.pager = &pager{key: "c", body: looked(call)}
	case "R":
		if call.Alive {
			r.note = "it still runs: end it first (x)"
			return nil
		}
		return r.resolve(agent.ResolveRerun, "")
	case "k":
		r.field = newField("")
	case "i":
		if call.Alive {
			r.note = "it still runs: end it first (x)"
			return nil
		}
		return r.resolve(agent.ResolveInterrupted, "")
	case "x":
		if call.Alive {
			r.answered = true
			return send(EndProcess{Key: call.Key})
		}
	case ".":
		return send(WantPanel{Path: call.Call.Path})
	}
	return nil
}

func (r *resume) textKey(k string, msg tea.KeyPressMsg) tea.Cmd {
	switch k {
	case "esc":
		r.field = nil
		return nil
	case "ctrl+g":
		return send(WantEditor{ID: ResumeID, Text: r.field.value(), Name: "result.txt"})
	case "enter":
		return r.resolve(agent.ResolveResult, r.field.value())
	}
	return r.field.update(msg)
}

func (r *resume) resolve(how agent.Resolution, value string) tea.Cmd {
	r.answered = true
	return send(ResumeResolved{Key: r.open[r.at].Key, Resolution: how, Text: value})
}

func (r *resume) leave() tea.Cmd {
	r.answered = true
	return send(ResumeClosed{})
}

// View draws the dialog.
func (r *resume) View(width, maxHeight int, st State, s *style.Set) string {
	view, _ := r.paint(width, maxHeight, st, s)
	return view
}

// Cursor is where a result is typed.
func (r *resume) Cursor(width, maxHeight int, st State, s *style.Set) *tea.Cursor {
	if !st.Armed {
		return nil
	}
	_, cursor := r.paint(width, maxHeight, st, s)
	return cursor
}

func (r *resume) paint(width, maxHeight int, st State, s *style.Set) (string, *tea.Cursor) {
	calls, was := "calls", "were"
	if len(r.open) == 1 {
		calls, was = "call", "was"
	}
	f := frame{title: fmt.Sprintf("resume: %d %s %s running when the process ended", len(r.open), calls, was), armed: st.Armed}
	f.small = st.Composing && !st.Armed
	switch {
	case f.small:
		f.bottom = "Tab to answer; sending means \"interrupted\""
	case !st.Armed:
		f.bottom = "Tab to answer"
	case r.field != nil:
		f.bottom = "Enter send " + s.Glyphs.Dot + " Ctrl+J new line " + s.Glyphs.Dot + " Esc back"
	case r.pager != nil:
		f.bottom = "Esc back"
	default:
		f.bottom = "Esc leave stopped"
	}
	return paint(width, maxHeight, s, f, func(c *canvas) {
		switch {
		case len(r.open) == 0:
		case f.small:
			r.callLine(c, r.at)
		case r.pager != nil:
			r.pager.draw(c, c.h)
		case r.field != nil:
			r.callLine(c, r.at)
			c.cut(c.Strong.Render("what happened:"))
			r.field.draw(c, "", max(c.left(), 1), true)
		default:
			r.body(c)
		}
	})
}

// callLine is one open call.
func (r *resume) callLine(c *canvas, i int) {
	o := r.open[i]
	mark := " "
	if i == r.at && len(r.open) > 1 {
		mark = c.Accent.Render(c.Glyphs.Cursor)
	}
	right := "no result"
	if !o.Started.IsZero() && c.w >= 56 {
		right = "started " + o.Started.Local().Format("15:04:05") + ", no result"
	}
	if o.Alive {
		right = fmt.Sprintf("still runs, pid %d", o.Pgid)
	}
	left := mark + " " + strictLine(o.Call.Label) + " " + c.Strong.Render(strictLine(transcript.Title(o.Call)))
	c.add(text.Spread(left, "  "+c.Muted.Render(right), c.w, c.Glyphs.Ellipsis))
}

func (r *resume) body(c *canvas) {
	call := r.open[r.at]
	choices := sub(c, func(k *canvas) { r.choices(k, call, c.h-len(r.open)-3 >= 5 && c.w >= 50) })
	rows := max(c.h-len(choices), 1)
	from := min(max(r.at-rows+1, 0), max(len(r.open)-rows, 0))
	for i := from; i < min(from+rows, len(r.open)); i++ {
		r.callLine(c, i)
	}
	c.add(choices...)
	if r.info != "" && c.left() >= 2 {
		c.add("")
		c.wrap(c.Muted.Render(text.Strict(r.info)))
	}
}

// choices are the answers: one a line, or as hints where there is little room.
func (r *resume) choices(k *canvas, call agent.OpenCall, long bool) {
	switch {
	case r.note != "":
		k.cut(k.Error.Render(strictLine(r.note)))
	case r.answered:
		k.cut(k.Muted.Render("one moment" + k.Glyphs.Ellipsis))
	case r.news != "":
		k.cut(k.Strong.Render(r.news))
	}
	if !long {
		pairs := []string{"c", "look", "R", "again", "k", "result", "i", "interrupted"}
		if call.Alive {
			pairs = append([]string{"x", "end it"}, pairs...)
		}
		k.keys(pairs...)
		return
	}
	option := func(key, name, what string) {
		k.cut(k.Key.Render(text.Fit(key, 3, "")) + text.Fit(name, 16, "") + k.Muted.Render(what))
	}
	k.add("")
	if call.Alive {
		option("x", "end it", "its processes get TERM, then KILL")
	}
	option("c", "look first", "what it had printed, and what kind of call it is")
	option("R", "run it again", "not marked repeatable: it may happen twice")
	option("k", "give a result", "type or paste what happened")
	option("i", "interrupted", "the model is told it was cut off, no rerun")
}

// looked is what is known of an open call.
func looked(o agent.OpenCall) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", strictLine(o.Call.Label), strictLine(transcript.Title(o.Call)))
	if o.Effects != "" {
		fmt.Fprintf(&b, "%s\n", text.Strict(o.Effects))
	}
	fmt.Fprintf(&b, "\narguments:\n%s\n\n", text.Strict(o.Call.Input))
	if o.Printed == "" {
		b.WriteString("It had printed nothing, or nothing was kept.\n")
	} else {
		fmt.Fprintf(&b, "the end of what it had printed:\n%s\n", text.Strict(text.StripSGR(o.Printed)))
	}
	return strings.TrimRight(b.String(), "\n")
}
