package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/google/shlex"
	"golang.org/x/term"

	"parley/ui/tui/prompt"
)

// openSelected opens what is chosen in the chat in the pager: a message, a code block, or all that a
// call has printed.
func (m *screen) openSelected() tea.Cmd {
	if path := m.transcript.SelectedPath(); path != "" {
		s := m.session
		return m.tasks.cmd(func(ctx context.Context) tea.Msg {
			out, err := s.chat.Output(ctx, path)
			return outputToOpen{gen(s.gen), out, err}
		})
	}
	return m.openText(m.transcript.Copy(), m.transcript.FileName())
}

// outputToOpen is the output of a call for the pager.
type outputToOpen struct {
	gen
	text string
	err  error
}

func (o outputToOpen) take(m *screen) tea.Cmd {
	if o.err != nil {
		m.trouble("the output cannot be read", o.err)
		return nil
	}
	return m.openText(o.text, "output.txt")
}

// openText shows a text in $PAGER, else in the editor; what is changed there is not kept.
func (m *screen) openText(s, name string) tea.Cmd {
	if s == "" {
		m.say("there is nothing to open here")
		return nil
	}
	args, err := m.pagerCommand()
	if err != nil {
		m.trouble("it cannot be opened", err)
		return nil
	}
	// A pager hands control signs on to the terminal: they are shown in words there too.
	return m.withFile(m.clean(s), name, "it cannot be opened", func(file string) tea.Cmd {
		return tea.ExecProcess(m.foreground(args, file), func(err error) tea.Msg {
			return pagerEnded{errors.Join(err, os.RemoveAll(filepath.Dir(file)))}
		})
	})
}

// withFile writes a text to a file of its own and goes on with that, outside Update: a disk may be slow.
func (m *screen) withFile(text, name, trouble string, next func(file string) tea.Cmd) tea.Cmd {
	return m.tasks.cmd(func(context.Context) tea.Msg {
		file, err := writeTemp(text, name)
		return fileWritten{file, trouble, err, next}
	})
}

type fileWritten struct {
	file, trouble string
	err           error
	next          func(file string) tea.Cmd
}

func (f fileWritten) apply(m *screen) tea.Cmd {
	if f.err != nil {
		m.trouble(f.trouble, f.err)
		return nil
	}
	return f.next(f.file)
}

type pagerEnded struct{ err error }

func (p pagerEnded) apply(m *screen) tea.Cmd {
	if p.err != nil {
		m.trouble("the pager failed", p.err)
	}
	return tea.ClearScreen // what was drawn before is not on the screen any more
}

// pagerCommand is $PAGER, less if it is there, or the editor.
func (m *screen) pagerCommand() ([]string, error) {
	if value := strings.TrimSpace(m.opts.Getenv("PAGER")); value != "" {
		args, err := shlex.Split(value)
		if err != nil || len(args) == 0 {
			return nil, fmt.Errorf("$PAGER is %q, which is no command", value)
		}
		return args, nil
	}
	if _, err := exec.LookPath("less"); err == nil {
		return []string{"less", "-R"}, nil
	}
	return m.editorCommand()
}

// editDraft opens the composer's text in the external editor.
func (m *screen) editDraft() tea.Cmd {
	m.composer.EndSearch(true)
	return m.edit(m.composer.Value(), "message.md", func(m *screen, text string) tea.Cmd {
		m.composer.SetValue(text)
		return m.keepSoon()
	})
}

// editPrompt opens a text of a question in the external editor.
func (m *screen) editPrompt(w prompt.WantEditor) tea.Cmd {
	return m.edit(w.Text, w.Name, func(m *screen, text string) tea.Cmd {
		return m.toPrompts(prompt.Edited{ID: w.ID, Text: text})
	})
}

// edit runs the editor on a text while the screen is suspended; done gets the text as it was
// saved. Whatever goes wrong, the text on screen stays as it was.
func (m *screen) edit(text, name string, done func(m *screen, text string) tea.Cmd) tea.Cmd {
	args, err := m.editorCommand()
	if err != nil {
		m.trouble("the editor cannot be started", err)
		return nil
	}
	return m.withFile(text, name, "the editor cannot be started", func(file string) tea.Cmd {
		return tea.ExecProcess(m.foreground(args, file), func(err error) tea.Msg {
			defer os.RemoveAll(filepath.Dir(file))
			saved, readErr := os.ReadFile(file)
			return edited{before: text, after: string(saved), err: err, readErr: readErr, done: done}
		})
	})
}

// editorCommand is $VISUAL or $EDITOR, which may hold arguments and quotes.
func (m *screen) editorCommand() ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		value := strings.TrimSpace(m.opts.Getenv(name))
		if value == "" {
			continue
		}
		args, err := shlex.Split(value)
		if err != nil || len(args) == 0 {
			return nil, fmt.Errorf("$%s is %q, which is no command", name, value)
		}
		return args, nil
	}
	for _, name := range []string{"editor", "nano", "vi", "notepad"} {
		if _, err := exec.LookPath(name); err == nil {
			return []string{name}, nil
		}
	}
	return nil, errors.New("set $EDITOR to the editor you like")
}

// writeTemp writes the text to a file in a folder of its own, readable by its owner only.
func writeTemp(text, name string) (string, error) {
	dir, err := os.MkdirTemp("", "parley-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the text: %w", err)
	}
	if name = filepath.Base(name); name == "." || name == string(filepath.Separator) {
		name = "text.txt"
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", errors.Join(fmt.Errorf("write the text: %w", err), os.RemoveAll(dir))
	}
	return file, nil
}

// edited is the end of the editor.
type edited struct {
	before, after string
	err, readErr  error
	done          func(m *screen, text string) tea.Cmd
}

func (e edited) apply(m *screen) tea.Cmd {
	var exit *exec.ExitError
	switch {
	case e.readErr != nil && e.err == nil:
		m.say("the editor left no file: your text is as it was")
		return nil
	case errors.As(e.err, &exit) && exit.ExitCode() > 0 && e.readErr == nil && e.after != e.before:
		m.say("the editor ended with an error, but it had saved: its text is here, undo brings the old one back")
	case e.err != nil:
		m.trouble("the editor failed, your text is as it was", e.err)
		return nil
	}
	// Editors end the last line; what was written without that end stays so.
	text := e.after
	if !strings.HasSuffix(e.before, "\n") {
		text = strings.TrimSuffix(text, "\n")
	}
	return e.done(m, text)
}

// foreground is a command that gets the terminal while it runs. The person ends it.
func (m *screen) foreground(args []string, file string) *exec.Cmd {
	cmd := exec.Command(args[0], append(args[1:], file)...) //nolint:noctx // ended by the person
	in, given := m.opts.Input.(*os.File)
	if m.opts.Input == nil {
		in, given = os.Stdin, term.IsTerminal(int(os.Stdin.Fd()))
	}
	if given {
		cmd.Stdin = in // itself; a reader around it would become a pipe
	}
	return cmd
}
