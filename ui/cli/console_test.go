//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"parley/agent/model/modeltest"
)

// atTerminal is a run of parley whose streams are a terminal.
type atTerminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	term *os.File
	done chan struct{} // closed when all output was read

	mu   sync.Mutex // guards the fields below
	out  bytes.Buffer
	more chan struct{} // closed and replaced when something came
}

func runAtTerminal(t *testing.T, program string, replies []modeltest.Reply, args ...string) *atTerminal {
	t.Helper()
	return atTerminalWith(t, program, replies, []string{"run", "p.gpt"}, args...)
}

// atTerminalWith begins the command line with first.
func atTerminalWith(t *testing.T, program string, replies []modeltest.Reply, first []string, args ...string) *atTerminal {
	t.Helper()
	server, err := modeltest.Start(modeltest.Script{Replies: replies})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.gpt"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &atTerminal{t: t, done: make(chan struct{}), more: make(chan struct{})}
	r.cmd = exec.Command(os.Args[0], slices.Concat(first[:1], []string{"--model", "openai/m", "--base-url", server.URL()}, first[1:], args)...)
	r.cmd.Dir = dir
	r.cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+dir, "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CONFIG_HOME=",
		"PARLEY_KEYRING=off", "PARLEY_PASSPHRASE=", "OPENAI_API_KEY=k")
	if r.term, err = pty.Start(r.cmd); err != nil {
		t.Skipf("there is no pseudo-terminal: %v", err)
	}
	go r.read()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // it may have ended
		_ = r.term.Close()
		<-r.done
	})
	return r
}

// read collects the output. A terminal whose process has ended gives an error, not an end.
func (r *atTerminal) read() {
	defer close(r.done)
	buf := make([]byte, 4096)
	for {
		n, err := r.term.Read(buf)
		r.mu.Lock()
		r.out.Write(buf[:n])
		close(r.more)
		r.more = make(chan struct{})
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (r *atTerminal) output() (text string, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String(), r.more
}

// wait waits until the output has a text.
func (r *atTerminal) wait(text string) {
	r.t.Helper()
	patience := time.After(scriptPatience)
	for {
		out, more := r.output()
		if strings.Contains(out, text) {
			return
		}
		select {
		case <-more:
		case <-r.done:
			r.t.Fatalf("it ended without %q:\n%q", text, out)
		case <-patience:
			r.t.Fatalf("no %q:\n%q", text, out)
		}
	}
}

func (r *atTerminal) typed(text string) {
	r.t.Helper()
	if _, err := r.term.WriteString(text); err != nil {
		r.t.Fatal(err)
	}
}

// ended waits for the process and returns its exit code and all its output.
func (r *atTerminal) ended() (int, string) {
	r.t.Helper()
	err := r.cmd.Wait()
	<-r.done
	out, _ := r.output()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		r.t.Fatal(err)
	}
	return r.cmd.ProcessState.ExitCode(), out
}

const touchProgram = "Tools: sys.exec\n\nWork.\n"

var touchReplies = []modeltest.Reply{
	{Calls: []modeltest.Call{{Name: "exec", Arguments: `{"command":"touch made"}`}}},
	{Text: "done"},
}

func TestAtATerminalACallIsAskedForLineByLine(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		made         bool
		told         string
	}{
		{"yes", "y\n", true, ""},
		{"no", "n\n", false, "Tool call request has been denied"},
		{"a reason", "use notes.txt instead\n", false, "use notes.txt instead"},
		{"Enter never answers", "\n\n \ny\n", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runAtTerminal(t, touchProgram, touchReplies, "go")
			r.wait("touch made")
			r.wait("or a reason to deny it > ")
			if _, err := os.Stat(filepath.Join(r.cmd.Dir, "made")); err == nil {
				t.Error("it ran before it was answered")
			}
			r.typed(c.answer)
			code, out := r.ended()
			if code != 0 || !strings.Contains(out, "done") {
				t.Errorf("exit code %d:\n%s", code, out)
			}
			if _, err := os.Stat(filepath.Join(r.cmd.Dir, "made")); (err == nil) != c.made {
				t.Errorf("made: %v, want %v", err == nil, c.made)
			}
		})
	}
}

func TestAtATerminalASecretIsNotShown(t *testing.T) {
	r := runAtTerminal(t, "Tools: use\n\nWork.\n\n---\nName: use\nDescription: Uses a key\nCredential: ask as key\n\n"+
		"#!/bin/sh\necho \"$KEY\" > got\n\n---\nName: ask\n\n#!/bin/sh\n"+
		`printf '{"env": %s}' "$("$GPTSCRIPT_BIN" --quiet sys.prompt '{"message":"The key?","fields":"KEY","sensitive":"true"}')"`+"\n", []modeltest.Reply{{Calls: []modeltest.Call{{Name: "use"}}}, {Text: "done"}}, "--yes", "go")
	r.wait("The key?")
	r.wait("KEY > ")
	r.typed("marker-of-the-key\n")
	code, out := r.ended()
	if code != 0 || strings.Contains(out, "marker") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if got, err := os.ReadFile(filepath.Join(r.cmd.Dir, "got")); string(got) != "marker-of-the-key\n" {
		t.Errorf("the tool got %q, %v", got, err)
	}
}

func TestR07AtATerminalTheReplyHasNoControls(t *testing.T) {
	r := runAtTerminal(t, "Work.\n", []modeltest.Reply{{Text: "a\x1b]52;c;aGk=\x07b\x1b[2Jc\u009b1Ad\u202ee"}}, "go")
	code, out := r.ended()
	if code != 0 || strings.ContainsAny(out, "\x1b\x07\u009b\u202e") {
		t.Errorf("exit code %d: %q", code, out)
	}
	for _, part := range []string{"52;c;aGk=", "2J", "1A"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not visible in %q", part, out)
		}
	}
}

// In lines everything is asked and answered by word or letter, and Ctrl+D leaves.
func TestA01PlainChatAtATerminal(t *testing.T) {
	r := atTerminalWith(t, "Name: p\nChat: true\nTools: sys.exec\n\nWork.\n", touchReplies, []string{"--plain", "p.gpt"})
	r.wait("parley in lines")
	r.wait("> ")
	r.typed("go\n")
	r.wait("or a reason to deny it > ")
	r.typed("y\n")
	r.wait("done")
	r.wait("@p > ")
	r.typed("\x04")
	code, out := r.ended()
	if code != 0 || strings.ContainsAny(out, "\x1b\x07") {
		t.Errorf("exit code %d:\n%q", code, out)
	}
	if _, err := os.Stat(filepath.Join(r.cmd.Dir, "made")); err != nil {
		t.Error(err)
	}
}
