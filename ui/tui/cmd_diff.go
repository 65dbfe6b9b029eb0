package tui

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/toolrt/undo"
	"parley/ui/tui/diff"
	"parley/ui/tui/text"
)

// commandDiff shows what the session's tools have made of files.
func (m *screen) commandDiff(string) tea.Cmd {
	c, ok := m.session.chat.(Changer)
	if !ok {
		return m.cannot("tell what has changed")
	}
	g, dir := gen(m.session.gen), m.session.row.Dir
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		all, err := c.FileChanges(ctx)
		return changesRead{g, changedFiles(all, dir), err}
	})
}

// changedFiles compares the texts. It may take long.
func changedFiles(changes []undo.Difference, dir string) []changedFile {
	var files []changedFile
	for _, d := range changes {
		name := d.Path
		if rel, err := filepath.Rel(dir, d.Path); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		f := changedFile{head: text.Line(name) + "  " + text.Line(d.String())}
		if d.Text {
			f.unified = diff.Of(name, d.Was, d.Is)
		}
		files = append(files, f)
	}
	return files
}

type changesRead struct {
	gen
	files []changedFile
	err   error
}

func (c changesRead) take(m *screen) tea.Cmd {
	switch files := c.files; {
	case c.err != nil:
		m.trouble("the changes cannot be read", c.err)
	case len(files) == 0:
		m.say("no file differs from what it was before this session's tools changed it")
	default:
		var body strings.Builder
		for _, f := range files {
			body.WriteString(f.head + "\n" + f.unified + "\n")
		}
		m.read(reader{title: "Changed by tools: " + count(len(files), "file"), body: text.Clean(body.String()), lines: func(w int) []string { return m.changedLines(files, w) }})
	}
	return nil
}

// changedFile is one file of the page of changes.
type changedFile struct{ head, unified string }

func (m *screen) changedLines(files []changedFile, w int) []string {
	var lines []string
	for _, f := range files {
		for _, l := range text.Wrap(f.head, max(w-2, 1)) {
			lines = append(lines, " "+m.style.Strong.Render(l))
		}
		for _, l := range diff.Lines(f.unified, max(w-2, 1), m.style) {
			lines = append(lines, " "+l)
		}
		lines = append(lines, "")
	}
	lines = append(lines, text.Wrap(" What commands changed is not here: git diff shows it. /undo takes the newest turn back.", max(w, 1))...)
	return lines
}
