package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// C-02: only the value that is set changes, every other byte stays.
func TestC02OnlyTheValueChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit         func([]byte) ([]byte, error)
		before, want string
	}{
		"value":    {member1("theme", `"light"`), "{ \"theme\" :  \"dark\",\n\t\"mode\":\"ask\"}\n", "{ \"theme\" :  \"light\",\n\t\"mode\":\"ask\"}\n"},
		"new":      {member1("theme", `"light"`), "{\n    \"mode\": \"ask\"\n}\n", "{\n    \"mode\": \"ask\",\n    \"theme\": \"light\"\n}\n"},
		"one line": {member1("theme", `"light"`), `{"mode": "ask"}`, `{"mode": "ask", "theme": "light"}`},
		"empty":    {member1("theme", `"light"`), "{}\n", "{\n  \"theme\": \"light\"\n}\n"},
		"twice":    {member1("a", `3`), `{"a": 1, "a": 2}`, `{"a": 1, "a": 3}`},
		"nested":   {member1("a", `3`), `{"b": {"a": 1}, "a": [1, {"a": 2}]}`, `{"b": {"a": 1}, "a": 3}`},
		"first rule": {rule1("sys.exec(ls)"), "{\n  \"mode\": \"ask\"\n}\n",
			"{\n  \"mode\": \"ask\",\n  \"permissions\": {\n    \"allow\": [\n      \"sys.exec(ls)\"\n    ]\n  }\n}\n"},
		"next rule":  {rule1("b"), "{\"permissions\": {\n  \"allow\": [\n    \"a\"\n  ]}}", "{\"permissions\": {\n  \"allow\": [\n    \"a\",\n    \"b\"\n  ]}}"},
		"same rule":  {rule1("a"), `{"permissions": {"allow": [{"rule": "a"}]}}`, `{"permissions": {"allow": [{"rule": "a"}]}}`},
		"take first": {take1("a"), `{"permissions": {"allow": ["a", "b", "c"]}}`, `{"permissions": {"allow": ["b", "c"]}}`},
		"take some":  {take1("a"), `{"permissions": {"allow": ["a", "b", "a", "c", {"rule": "a"}]}}`, `{"permissions": {"allow": ["b", "c"]}}`},
		"take all":   {take1("a"), `{"permissions": {"allow": ["a"], "deny": ["a"]}}`, `{"permissions": {"allow": [], "deny": ["a"]}}`},
	} {
		got, err := test.edit([]byte(test.before))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %q, %v\nwant %q", name, got, err, test.want)
		}
	}
	for _, broken := range []string{"", "[]", `{"a"`, `{"a": }`, "null"} {
		if out, err := setMember([]byte(broken), 0, "a", []byte("1")); err == nil {
			t.Errorf("%q became %q", broken, out)
		}
	}
}

func member1(key, value string) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) { return setMember(data, 0, key, []byte(value)) }
}

func rule1(text string) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) { return addRule(data, "allow", text) }
}

func take1(text string) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		return removeRule(data, "allow", func(old string) bool { return old == text })
	}
}

// C-02: changes made at the same time all survive, and a link stays a link.
func TestC02ChangesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "config.json")
	if err := os.WriteFile(real, []byte("{\n  \"mode\": \"ask\"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			a := &app{paths: paths{data: filepath.Join(dir, "data")}} // as another process would
			if err := a.setConfig(link, fmt.Sprintf("key%d", i), i); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	data, err := os.ReadFile(real)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if !strings.Contains(string(data), fmt.Sprintf("\"key%d\": %d", i, i)) {
			t.Errorf("key%d is lost: %s", i, data)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
}

// Settings that somebody has broken are refused or changed, never a panic.
func FuzzSettings(f *testing.F) {
	f.Add([]byte(`{"permissions": {"allow": ["a", {"rule": "b"}]}, "theme": "x"}`))
	f.Add([]byte("{\n}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, edit := range []func([]byte) ([]byte, error){member1("theme", `"y"`), rule1("c"), take1("a")} {
			if out, err := edit(data); err == nil {
				if _, err := edit(out); err != nil {
					t.Errorf("%q became %q, which cannot be read: %v", data, out, err)
				}
			}
		}
	})
}
