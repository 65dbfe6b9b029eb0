package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
	"parley/toolrt/undo"
	"parley/ui/tui/text"
)

func sessionCommands() []command {
	return []command{
		{name: "new", group: "sessions", args: "[agent]", help: "start a new session, perhaps with another agent", run: (*screen).commandNew, complete: agentItems},
		{name: "resume", aliases: []string{"sessions"}, group: "sessions", args: "[text]", help: "choose a session to go on with", looks: true, run: (*screen).commandResume},
		{name: "rename", group: "sessions", args: "title", help: "give the session a title", looks: true, needs: true, run: (*screen).commandRename},
		{name: "fork", group: "sessions", args: "[seq]", help: "go on in a copy of the session", run: (*screen).commandFork},
		{name: "timeline", aliases: []string{"rewind"}, group: "sessions", help: "step through the session, view only", looks: true, run: (*screen).commandTimeline},
		{name: "replay", group: "sessions", args: "[turn]", help: "play the session from its record, from a turn on", looks: true, run: (*screen).commandReplay},
		{name: "undo", group: "sessions", help: "take back the file changes of the last turn", run: func(m *screen, _ string) tea.Cmd { return m.takeBack(undo.Refuse, false) }},
		{name: "redo", group: "sessions", help: "do again what was taken back", run: func(m *screen, _ string) tea.Cmd { return m.takeBack(undo.Refuse, true) }},
		{name: "export", group: "sessions", args: "[format]", help: "write the session to a file of the working folder", looks: true, run: (*screen).commandExport, complete: formatItems},
		{name: "archive", group: "sessions", help: "put the session away and start a new one", run: (*screen).commandArchive},
		{name: "delete", group: "sessions", help: "move the session to the bin and start a new one", run: (*screen).commandDelete},
	}
}

func (m *screen) commandNew(arg string) tea.Cmd {
	backend := m.opts.Backend
	name := strings.TrimPrefix(arg, "@")
	if name == "" {
		return m.open(backend.New)
	}
	s, ok := backend.(Starter)
	if !ok {
		return m.cannot("start with another agent")
	}
	return m.open(func(ctx context.Context) (Chat, error) { return s.NewWith(ctx, name) })
}

// cannot says that the backend does not know how.
func (m *screen) cannot(what string) tea.Cmd {
	m.say("parley cannot " + what + " here")
	return nil
}

func (m *screen) commandResume(arg string) tea.Cmd {
	if arg == "" && m.session.chat.Unfinished() && !m.session.running {
		return m.goOn()
	}
	return m.showPicker(arg)
}

func (m *screen) commandRename(arg string) tea.Cmd { return m.rename(m.session.row.ID, arg) }

func (m *screen) commandFork(arg string) tea.Cmd {
	seq := int64(0)
	if arg != "" {
		var err error
		if seq, err = strconv.ParseInt(arg, 10, 64); err != nil || seq < 1 {
			m.say("/fork takes a place of the journal, which the timeline shows; without one it copies all")
			return nil
		}
	}
	return m.fork(m.session.row.ID, seq)
}

// fork goes on in a copy of a session.
func (m *screen) fork(id string, seq int64) tea.Cmd {
	f, ok := m.opts.Backend.(Forker)
	if !ok {
		return m.cannot("copy sessions")
	}
	return m.open(func(ctx context.Context) (Chat, error) { return f.Fork(ctx, id, seq) })
}

// takeBack undoes or redoes the file changes of a turn.
func (m *screen) takeBack(how undo.How, again bool) tea.Cmd {
	u, ok := m.session.chat.(Undoer)
	if !ok {
		return m.cannot("take back file changes")
	}
	g := gen(m.session.gen)
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		do := u.Undo
		if again {
			do = u.Redo
		}
		report, err := do(ctx, how)
		return tookBack{g, again, report, err}
	})
}

// tookBack is the end of takeBack.
type tookBack struct {
	gen
	again  bool
	report undo.Report
	err    error
}

func (t tookBack) take(m *screen) tea.Cmd {
	word := "taken back"
	if t.again {
		word = "done again"
	}
	var conflict *undo.ConflictError
	switch {
	case errors.As(t.err, &conflict):
		m.choice = newChoice(fmt.Sprintf("%s changed since turn %d. What about it?", count(len(conflict.Conflicts), "file"), conflict.Turn), []item{
			{value: "leave", label: "leave everything as it is"},
			{value: "skip", label: "leave these files", detail: conflictNames(conflict.Conflicts)},
			{value: "overwrite", label: "bring these files back too", detail: "/redo brings back what they held"},
		}, func(m *screen, answer string) tea.Cmd {
			switch answer {
			case "skip":
				return m.takeBack(undo.Skip, t.again)
			case "overwrite":
				return m.takeBack(undo.Overwrite, t.again)
			}
			return nil
		})
	case errors.Is(t.err, undo.ErrNothing):
		m.say("there is nothing to be " + word)
	case t.err != nil:
		m.trouble("it cannot be "+word, t.err)
	default:
		m.say(undoText(t.report, word))
	}
	return nil
}

func conflictNames(items []undo.Item) string {
	names := make([]string, len(items))
	for i, it := range items {
		names[i] = it.Path
	}
	return strings.Join(names, ", ")
}

// undoText says what was taken back.
func undoText(r undo.Report, word string) string {
	lines := []string{fmt.Sprintf("turn %d: %s %s", r.Turn, count(len(r.Done), "file"), word)}
	for _, part := range []struct {
		word  string
		items []undo.Item
	}{{"", r.Done}, {"left as it is: ", r.Left}, {"not covered: ", r.NotCovered}} {
		for _, it := range part.items {
			lines = append(lines, "  "+part.word+text.Line(it.Path)+" "+text.Line(it.What))
		}
	}
	return strings.Join(lines, "\n")
}

func (m *screen) commandExport(arg string) tea.Cmd {
	e, ok := m.opts.Backend.(Exporter)
	if !ok {
		return m.cannot("write sessions to files")
	}
	if arg == "" {
		m.choice = newChoice("Write the session as", formatItems(m), func(m *screen, format string) tea.Cmd { return m.export(e, m.session.row, format) })
		return nil
	}
	return m.export(e, m.session.row, arg)
}

func (m *screen) export(e Exporter, row record.Session, format string) tea.Cmd {
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		path, err := e.Export(ctx, row.ID, format)
		return exportDone{path, err}
	})
}

type exportDone struct {
	path string
	err  error
}

func (e exportDone) apply(m *screen) tea.Cmd {
	line := "written to " + e.path
	if e.err != nil {
		m.trouble("the session cannot be written", e.err)
		line = e.err.Error()
	} else {
		m.say(line)
	}
	m.picker.SetNotice(line)
	return nil
}

func formatItems(m *screen) []item {
	if e, ok := m.opts.Backend.(Exporter); ok {
		return plainItems(e.ExportFormats()...)
	}
	return nil
}

// commandReplay plays the session from its record.
func (m *screen) commandReplay(arg string) tea.Cmd {
	args := []string{"replay", m.session.row.ID}
	if arg != "" {
		args = append(args, "--from", arg)
	}
	return m.report("replay", args...)
}

// commandArchive puts the session away and starts a new one.
func (m *screen) commandArchive(string) tea.Cmd {
	id := m.session.row.ID
	a, ok := m.opts.Backend.(Archiver)
	if !ok {
		return m.cannot("put sessions away")
	}
	return m.startAnew(func(ctx context.Context) error { return a.Archive(ctx, id, true) })
}

// startAnew opens a new session once the one on screen was put elsewhere.
func (m *screen) startAnew(putAway func(context.Context) error) tea.Cmd {
	backend := m.opts.Backend
	return m.open(func(ctx context.Context) (Chat, error) {
		chat, err := backend.New(ctx)
		if err != nil {
			return nil, err
		}
		if err := putAway(ctx); err != nil {
			return nil, errors.Join(err, chat.Close())
		}
		return chat, nil
	})
}

func (m *screen) commandDelete(string) tea.Cmd {
	id, backend := m.session.row.ID, m.opts.Backend
	m.choice = newChoice("Move this session to the bin? It is kept there for 7 days.", plainItems("no, keep it", "yes, move it to the bin"),
		func(m *screen, answer string) tea.Cmd {
			if !strings.HasPrefix(answer, "yes") {
				return nil
			}
			return m.startAnew(func(ctx context.Context) error { return backend.Delete(ctx, id) })
		})
	return nil
}
