//go:build unix

package sys

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/toolrt"
)

func TestExec(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	call := toolrt.Call{Dir: dir}
	check(t, call, "sys.exec", pairs("command", "echo out; echo err >&2; echo out"), "out\nerr\nout\n", false)
	check(t, call, "sys.exec", pairs("command", "echo out; echo err >&2; exit 3"), "ERROR: exit status 3\nOUTPUT:\nout\nerr\n", true)
	check(t, call, "sys.exec", pairs("command", "pwd", "directory", "sub"), dir+"/sub\n", false)
	check(t, call, "sys.exec", pairs("command", "pwd", "directory", "no"), "ERROR: chdir no: no such file or directory\nOUTPUT:\n", true)
	check(t, call, "sys.exec", `{}`, "", false)
	check(t, call, "sys.exec", pairs("command", "cat"), "", false)
}

func TestExecEnvironment(t *testing.T) {
	t.Setenv("PAGER", "less")
	t.Setenv("EDITOR", "vim")
	t.Setenv("ANTHROPIC_API_KEY", "key")
	ws := t.TempDir()
	write(t, ws+"/gptscript.env", "# note\n  A=from file \nB=\nbroken\n=x\nEDITOR=ed\n")
	call := toolrt.Call{Dir: t.TempDir(), Workspace: ws}
	show := pairs("command", `echo "$A|${B-unset}|$PAGER|$EDITOR|$GIT_TERMINAL_PROMPT|$TERM|$ANTHROPIC_API_KEY"`)
	check(t, call, "sys.exec", show, "from file||cat|ed|0|dumb|\n", false)
	call.Env = []string{"A=call", "PAGER=mypager", "EDITOR=vim", "ANTHROPIC_API_KEY=given"}
	check(t, call, "sys.exec", show, "from file||mypager|ed|0|dumb|given\n", false)
	call.Workspace = ""
	check(t, call, "sys.exec", show, "call|unset|mypager|false|0|dumb|given\n", false)
}

func TestT01ExecHasNoTerminal(t *testing.T) {
	call := toolrt.Call{Dir: t.TempDir()}
	for name, command := range map[string]string{
		"read a line":        `read x; echo "got <$x>"`,
		"ask for a password": `(stty -echo </dev/tty; read p </dev/tty) 2>&1; echo "got <$p>"`,
		"open a pager":       `echo text | $PAGER; echo "got <>"`,
		"open an editor":     `$EDITOR file || $VISUAL file || $GIT_EDITOR file; echo "got <>"`,
		"ask yes or no":      `printf 'sure? '; read a || echo; echo "got <$a>"`,
		"the git way":        `git -c core.askPass= clone -q http://127.0.0.1:1/x 2>&1; echo "got <>"`,
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			out, err := run(t, call, "sys.exec", pairs("command", command))
			if err != nil || !strings.HasSuffix(out.Text, "got <>\n") || time.Since(begun) > 5*time.Second {
				t.Errorf("got %q, %v after %v", out.Text, err, time.Since(begun))
			}
		})
	}
}

// firstWrite cancels when output comes.
type firstWrite struct{ cancel func() }

func (w firstWrite) Write(p []byte) (int, error) {
	w.cancel()
	return len(p), nil
}

func TestT03ExecCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tool, _ := New("sys.exec")
	begun := time.Now()
	out, err := tool.Run(ctx, &toolrt.Invocation{
		Call: &toolrt.Call{Dir: t.TempDir()}, Args: pairs("command", "echo a; sleep 300 | sleep 300"), Out: firstWrite{cancel},
	})
	if !errors.Is(err, context.Canceled) || !out.FromOut || time.Since(begun) > 2*time.Second {
		t.Errorf("got %+v, %v after %v", out, err, time.Since(begun))
	}
}

func TestGetenv(t *testing.T) {
	t.Setenv("ONLY_PROCESS", "p")
	t.Setenv("BOTH", "p")
	t.Setenv("OPENAI_API_KEY", "k")
	call := toolrt.Call{Env: []string{"BOTH=c", "EMPTY="}}
	check(t, call, "sys.getenv", pairs("name", "ONLY_PROCESS"), "p", false)
	check(t, call, "sys.getenv", pairs("name", "BOTH"), "c", false)
	check(t, call, "sys.getenv", pairs("name", "EMPTY"), "EMPTY is not set or has no value", false)
	check(t, call, "sys.getenv", pairs("name", "OPENAI_API_KEY"), "OPENAI_API_KEY is not set or has no value", false)
	call.Env = append(call.Env, "OPENAI_API_KEY=credential")
	check(t, call, "sys.getenv", pairs("name", "OPENAI_API_KEY"), "credential", false)
}
