package cli_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestTerminalFlows runs the scripts of testdata/tmux: the program in a real terminal, a tmux of its
// own, with the offline model or a scripted one. Besides the commands of TestScript there are
//
//	terminal WxH PROGRAM ARG…  starts the program in a terminal of that size
//	keys KEY…                  presses keys, by tmux's names
//	text TEXT                  types text
//	armed [TEXT]               waits until the question that has TEXT ("authorize") in it takes keys
//	answer KEY [TEXT]          answers it then
//	shows TEXT…                waits until all of the texts show
//	hides TEXT                 waits until the text does not show
//	paste FILE                 pastes a file
//	resize WxH                 changes the size
//	killed                     ends the program at once, as a lost machine would
//	ended                      waits until the program has ended
func TestTerminalFlows(t *testing.T) {
	for _, program := range []string{"tmux", "pkill"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "tmux"),
		Setup:               scriptHome,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"modelserver": startModelServer, "requests": printRequests, "release": releaseReply,
			"eventually": waitForFile, "exits": runExits,
			"terminal": startTerminal, "keys": pressKeys, "text": typeText, "armed": waitArmed, "answer": answerQuestion,
			"shows": waitShows, "hides": waitHides, "paste": pasteFile, "resize": resizeTerminal, "killed": killProgram, "ended": waitEnded,
		},
	})
}

// tmux runs one command of the script's own tmux server.
func tmux(ts *testscript.TestScript, args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(ts.Getenv("HOME"), "tmux"+ts.Getenv("TERMINALS")), "-f", "/dev/null"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "PATH", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "PARLEY_KEYRING", "PARLEY_OFFLINE_DELAY",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "GORACE", "GOCOVERDIR", "OPENAI_API_KEY", "OPENAI_BASE_URL", "PARLEY_CONFIG", "NO_COLOR", "EDITOR", "TMPDIR"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, "LANG=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func mustTmux(ts *testscript.TestScript, args ...string) string {
	out, err := tmux(ts, args...)
	if err != nil {
		ts.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func sizeOf(ts *testscript.TestScript, text string) (w, h string) {
	w, h, ok := strings.Cut(text, "x")
	if !ok {
		ts.Fatalf("%q is no size WxH", text)
	}
	return w, h
}

func startTerminal(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: terminal WxH PROGRAM ARG…")
	}
	w, h := sizeOf(ts, args[0])
	words := make([]string, len(args)-1)
	for i, a := range args[1:] {
		words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	_, _ = tmux(ts, "kill-server") // of the terminal before
	ts.Setenv("TERMINALS", ts.Getenv("TERMINALS")+"1")
	mustTmux(ts, "new-session", "-d", "-x", w, "-y", h, strings.Join(words, " ")+"; echo \"ended with $?\"; exec sleep 600", ";", "set", "-g", "status", "off", ";", "set", "-s", "escape-time", "0")
	ts.Defer(func() { _, _ = tmux(ts, "kill-server") })
}

func pressKeys(ts *testscript.TestScript, _ bool, args []string) {
	mustTmux(ts, append([]string{"send-keys"}, args...)...)
}

func typeText(ts *testscript.TestScript, _ bool, args []string) {
	mustTmux(ts, "send-keys", "-l", strings.Join(args, " "))
}

// until waits for a screen that is as wanted.
func until(ts *testscript.TestScript, what string, ok func(screen string) bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(scriptPatience); ; <-tick.C {
		screen := mustTmux(ts, "capture-pane", "-p")
		if ok(screen) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s; the screen:\n%s", what, screen)
		}
	}
}

func waitShows(ts *testscript.TestScript, _ bool, args []string) {
	for _, want := range args {
		until(ts, fmt.Sprintf("%q does not show", want), func(screen string) bool { return strings.Contains(screen, want) })
	}
}

func waitHides(ts *testscript.TestScript, _ bool, args []string) {
	for _, gone := range args {
		until(ts, fmt.Sprintf("%q does not go", gone), func(screen string) bool { return !strings.Contains(screen, gone) })
	}
}

// waitArmed waits until the question that has the text takes keys: until then the last line says that
// Tab answers it.
func waitArmed(ts *testscript.TestScript, _ bool, args []string) {
	text := append(args, "authorize")[0]
	until(ts, fmt.Sprintf("no question with %q takes keys", text), func(screen string) bool {
		return strings.Contains(screen, text) && !strings.Contains(screen, "Tab answer")
	})
}

func answerQuestion(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: answer KEY [TEXT]")
	}
	waitArmed(ts, neg, args[1:])
	pressKeys(ts, neg, args[:1])
	waitHides(ts, neg, []string{append(args, "authorize")[1]})
}

func pasteFile(ts *testscript.TestScript, _ bool, args []string) {
	mustTmux(ts, "load-buffer", ts.MkAbs(args[0]), ";", "paste-buffer", "-p", "-r")
}

func resizeTerminal(ts *testscript.TestScript, _ bool, args []string) {
	w, h := sizeOf(ts, args[0])
	mustTmux(ts, "resize-window", "-x", w, "-y", h)
}

func killProgram(ts *testscript.TestScript, _ bool, _ []string) {
	pid := strings.TrimSpace(mustTmux(ts, "display-message", "-p", "#{pane_pid}"))
	ts.Check(ts.Exec("pkill", "-KILL", "-P", pid))
	waitEnded(ts, false, nil)
}

func waitEnded(ts *testscript.TestScript, _ bool, args []string) {
	waitShows(ts, false, append([]string{"ended with"}, args...))
}
