package cli_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"parley/agent/model/modeltest"
)

var updateScripts = flag.Bool("update-scripts", false, "write what `cmp stdout FILE` got into the scripts")

// TestScript runs the scripts of testdata/script against the program. Each has a home folder of its
// own, no keys, no keyring and a quick offline model. Besides the commands of testscript there are
//
//	modelserver [-anthropic] [-name NAME] SCRIPT.json   starts a model server and points the environment at it
//	requests [-name NAME] [-full]                       prints what it was asked, for `cmp stdout FILE` or stdout
//	release [-name NAME] HOLD                           lets replies go on that the script holds there
//	eventually FILE [TEXT]                              waits until a file is there (the first of a pattern), and has the text
//	exits CODE PROGRAM ARG…                              runs a program that must end with that code
//	types FILE TO                                        writes the types of the events in a file, a word a line
//	sql FILE STATEMENT                                   runs a statement on a database
//	size FILE MIN MAX                                   checks how many bytes a file has
//	printf FILE TEXT                                    writes text with Go's escapes to a file
func TestScript(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts run commands of a POSIX shell")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		Setup:               scriptHome,
		UpdateScripts:       *updateScripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"modelserver": startModelServer,
			"requests":    printRequests,
			"release":     releaseReply,
			"eventually":  waitForFile,
			"exits":       runExits,
			"types":       eventTypes,
			"sql":         runStatement,
			"size":        checkSize,
			"printf":      writeEscaped,
		},
	})
}

// scriptHome gives a script a home outside its working folder, so that the folder holds only what
// the script put there.
func scriptHome(env *testscript.Env) error {
	home, err := os.MkdirTemp("", "parley-script-")
	if err != nil {
		return fmt.Errorf("make a home: %w", err)
	}
	env.Defer(func() { _ = os.RemoveAll(home) })
	for name, value := range map[string]string{
		"HOME": home, "XDG_DATA_HOME": filepath.Join(home, "data"), "XDG_STATE_HOME": filepath.Join(home, "state"),
		"XDG_CONFIG_HOME": filepath.Join(home, "config"), "XDG_CACHE_HOME": filepath.Join(home, "cache"),
		"PARLEY_KEYRING": "off", "PARLEY_OFFLINE_DELAY": "0",
		// A request that leaves this machine fails at once.
		"HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1",
		"GORACE": os.Getenv("GORACE"), // the program is this binary, under the race detector where the tests are
	} {
		env.Setenv(name, value)
	}
	env.Values[serversKey{}] = map[string]*modeltest.Server{}
	return nil
}

// serversKey finds a script's model servers by name.
type serversKey struct{}

func servers(ts *testscript.TestScript) map[string]*modeltest.Server {
	return ts.Value(serversKey{}).(map[string]*modeltest.Server)
}

// serverFlags parses the arguments of a command about a model server.
func serverFlags(ts *testscript.TestScript, command string, args []string, add func(*flag.FlagSet)) (name string, rest []string) {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.StringVar(&name, "name", "", "")
	if add != nil {
		add(fs)
	}
	ts.Check(fs.Parse(args))
	return name, fs.Args()
}

func startModelServer(ts *testscript.TestScript, _ bool, args []string) {
	var anthropic bool
	name, rest := serverFlags(ts, "modelserver", args, func(fs *flag.FlagSet) { fs.BoolVar(&anthropic, "anthropic", false, "") })
	if len(rest) != 1 {
		ts.Fatalf("usage: modelserver [-anthropic] [-name NAME] SCRIPT.json")
	}
	script, err := modeltest.Load(ts.MkAbs(rest[0]))
	ts.Check(err)
	server, err := modeltest.Start(script)
	ts.Check(err)
	ts.Defer(server.Close)
	servers(ts)[name] = server
	prefix := "OPENAI"
	if anthropic {
		prefix = "ANTHROPIC"
	}
	ts.Setenv(prefix+"_BASE_URL", server.URL())
	ts.Setenv(prefix+"_API_KEY", "key-of-the-script")
}

func printRequests(ts *testscript.TestScript, _ bool, args []string) {
	var full bool
	name, _ := serverFlags(ts, "requests", args, func(fs *flag.FlagSet) { fs.BoolVar(&full, "full", false, "") })
	server := servers(ts)[name]
	if server == nil {
		ts.Fatalf("there is no model server %q", name)
	}
	text := server.Golden()
	if !full {
		text = shortRequests(server.Requests())
	}
	fmt.Fprint(ts.Stdout(), strings.ReplaceAll(text, ts.Getenv("WORK"), "$WORK"))
}

// shortRequests writes requests for people: the model, the offered tools and the messages.
func shortRequests(requests []modeltest.Request) string {
	var b strings.Builder
	for i, r := range requests {
		fmt.Fprintf(&b, "request %d: %s [%s]\n", i+1, r.Model, strings.Join(r.Tools, " "))
		var body struct {
			Messages []struct {
				Role, Content json.RawMessage
				ToolCalls     []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			fmt.Fprintf(&b, "%s\n", r.Body)
			continue
		}
		for _, m := range body.Messages {
			fmt.Fprintf(&b, "  %s: %s\n", plainJSON(m.Role), strings.ReplaceAll(plainJSON(m.Content), "\n", "\n    "))
			for _, c := range m.ToolCalls {
				fmt.Fprintf(&b, "    calls %s %s\n", c.Function.Name, c.Function.Arguments)
			}
		}
	}
	return b.String()
}

// plainJSON is a JSON string's text, and other JSON as it is.
func plainJSON(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func releaseReply(ts *testscript.TestScript, _ bool, args []string) {
	name, rest := serverFlags(ts, "release", args, nil)
	server := servers(ts)[name]
	if len(rest) != 1 || server == nil {
		ts.Fatalf("usage: release [-name NAME] HOLD, after modelserver")
	}
	server.Release(rest[0])
}

// scriptPatience is how long a script waits for a process in the background.
const scriptPatience = 30 * time.Second

func waitForFile(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: eventually FILE [TEXT]")
	}
	pattern, text := ts.MkAbs(args[0]), strings.Join(args[1:], "")
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(scriptPatience); ; <-tick.C {
		var data []byte
		found, err := filepath.Glob(pattern)
		if len(found) > 0 {
			data, err = os.ReadFile(found[0])
		}
		if err == nil && len(found) > 0 && strings.Contains(string(data), text) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s: no %q after %v: %v\n%s", args[0], text, scriptPatience, err, data)
		}
	}
}

func runExits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, not %d", got, want)
	}
}

// eventTypes wants JSON on every line. Of several progress events in a row one is written: how many
// there are depends on time.
func eventTypes(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: types FILE TO")
	}
	var types []string
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var event struct{ Type string }
		ts.Check(json.Unmarshal([]byte(line), &event))
		if event.Type == "callProgress" && len(types) > 0 && types[len(types)-1] == event.Type {
			continue
		}
		types = append(types, event.Type)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(types, "\n")+"\n"), 0o600))
}

func runStatement(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENT")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(args[1])
	ts.Check(errors.Join(err, db.Close()))
}

func checkSize(ts *testscript.TestScript, _ bool, args []string) {
	var least, most int64
	if len(args) != 3 {
		ts.Fatalf("usage: size FILE MIN MAX")
	}
	_, err := fmt.Sscan(args[1]+" "+args[2], &least, &most)
	ts.Check(err)
	size := int64(len(ts.ReadFile(args[0])))
	if size < least || size > most {
		ts.Fatalf("%s has %d bytes, not %d to %d", args[0], size, least, most)
	}
}

func writeEscaped(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: printf FILE TEXT")
	}
	var text string
	_, err := fmt.Sscanf(`"`+args[1]+`"`, "%q", &text)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
