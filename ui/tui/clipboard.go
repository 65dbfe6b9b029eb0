package tui

import (
	"context"
	"os/exec"
	"runtime"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// copyText puts text on the clipboard: by OSC 52, which works over SSH but whose arrival no terminal
// confirms, and beside it by the system's own tool if there is one.
func (m *screen) copyText(s string) tea.Cmd {
	if s == "" {
		m.say("nothing to copy here")
		return nil
	}
	said := "copied " + count(len([]rune(s)), "letter")
	args := clipboardTool(m.opts.Getenv)
	if args == nil {
		m.say(said + ", if the terminal takes what programs copy (OSC 52)")
		return tea.SetClipboard(s)
	}
	m.say(said)
	return tea.Batch(tea.SetClipboard(s), m.tasks.cmd(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Stdin = strings.NewReader(s)
		if err := cmd.Run(); err != nil {
			return copyFailed{args[0], said}
		}
		return nil
	}))
}

// copyFailed says that the system's tool did not take a text.
type copyFailed struct{ tool, said string }

func (c copyFailed) apply(m *screen) tea.Cmd {
	m.say(c.said + " by the terminal (OSC 52) alone: " + c.tool + " failed")
	return nil
}

// clipboardTool is the command that takes the clipboard's text on its input, nil when there is none.
// Over SSH the clipboard of the other end is meant, which only the terminal reaches.
func clipboardTool(getenv func(string) string) []string {
	if getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != "" {
		return nil
	}
	var tools [][]string
	switch {
	case runtime.GOOS == "darwin":
		tools = [][]string{{"pbcopy"}}
	case runtime.GOOS == "windows":
		tools = [][]string{{"clip.exe"}}
	case getenv("WAYLAND_DISPLAY") != "":
		tools = [][]string{{"wl-copy"}}
	case getenv("DISPLAY") != "":
		tools = [][]string{{"xclip", "-selection", "clipboard"}, {"xsel", "--clipboard", "--input"}}
	}
	for _, t := range tools {
		if _, err := exec.LookPath(t[0]); err == nil {
			return t
		}
	}
	return nil
}
