package approval

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"parley/toolrt"
)

const corpus = "../../testdata/approvals"

// shellSpec is the spec of sys.exec as far as judging needs it.
var shellSpec = toolrt.Spec{Name: "sys.exec", Source: "builtin"}

func exec(command string) Facts {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return Facts{Spec: shellSpec, Args: string(args)}
}

// corpusPolicies returns the policies of the three rule sets, in the order of the columns.
func corpusPolicies(t testing.TB) []*Policy {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	dir := filepath.Join(home, "work")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	var out []*Policy
	for _, name := range []string{"p01", "dev", "auto"} {
		file := filepath.Join(corpus, name+".json")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var head struct{ Mode Mode }
		if err := json.Unmarshal(data, &head); err != nil {
			t.Fatal(err)
		}
		p := New(dir, "", head.Mode)
		rules, errs := Load("", file, nil)
		for _, err := range errs {
			t.Fatal(err)
		}
		for _, r := range rules {
			p.Add(r)
		}
		out = append(out, p)
	}
	return out
}

type corpusCase struct {
	where, command string
	want           [3]string
}

func corpusCases(t testing.TB) []corpusCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	var out []corpusCase
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for s, n := bufio.NewScanner(f), 1; s.Scan(); n++ {
			head, command, ok := strings.Cut(s.Text(), "\t")
			if !ok {
				continue
			}
			if q, ok := strings.CutPrefix(command, "q:"); ok {
				if command, err = strconv.Unquote(q); err != nil {
					t.Fatalf("%s:%d: %v", file, n, err)
				}
			}
			c := corpusCase{where: filepath.Base(file) + ":" + strconv.Itoa(n), command: command}
			if copy(c.want[:], strings.Fields(head)) != 3 {
				t.Fatalf("%s: three verdicts wanted", c.where)
			}
			out = append(out, c)
		}
		f.Close()
	}
	return out
}

// TestA6A7A8P01P04Corpus holds P-01, P-04 and A6 to A9: each command gets its verdict under each rule set.
func TestA6A7A8P01P04Corpus(t *testing.T) {
	policies := corpusPolicies(t)
	cases := corpusCases(t)
	if len(cases) < 150 {
		t.Fatalf("only %d commands in the corpus", len(cases))
	}
	for _, c := range cases {
		for i, p := range policies {
			v := p.Judge(exec(c.command))
			if v.Effect.String() != c.want[i] {
				t.Errorf("%s: set %d: %q: %s (%s), want %s", c.where, i+1, c.command, v.Effect, v.Reason, c.want[i])
			}
			if v.Effect == Allow {
				for _, part := range v.Parts {
					if !part.Covered {
						t.Errorf("%s: %q is allowed though %q is not covered", c.where, c.command, part.Text)
					}
				}
			}
		}
	}
}
