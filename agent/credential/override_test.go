package credential

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseOverrides(t *testing.T) {
	type vars = map[string]map[string]string
	getenv := env("FROM_ENV", "e")
	for _, c := range []struct {
		in   string // one a line
		want vars
	}{
		{"", vars{}},
		{"gh:TOKEN=t", vars{"gh": {"TOKEN": "t"}}},
		{"gh:A=1,B=2|C=3", vars{"gh": {"A": "1", "B": "2", "C": "3"}}},
		{"gh:FROM_ENV,A=x=y", vars{"gh": {"FROM_ENV": "e", "A": "x=y"}}},
		{"gh:A=1\ngh:B=2\nother:A=3", vars{"gh": {"A": "1", "B": "2"}, "other": {"A": "3"}}},
		{"github.com/acme/tool:A=1", vars{"github.com/acme/tool": {"A": "1"}}},
		{"https://x.example/t.gpt:A=1", vars{"https://x.example/t.gpt": {"A": "1"}}},
		{"work///gh:URL=http://x:1/", vars{"work///gh": {"URL": "http://x:1/"}}},
		{"gh", nil}, {":A=1", nil}, {"gh:=secret", nil}, {"a b///gh:A=1", nil},
	} {
		var texts []string
		if c.in != "" {
			texts = strings.Split(c.in, "\n")
		}
		got, err := ParseOverrides(texts, getenv)
		if (err != nil) != (c.want == nil) || err == nil && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v, %v, want %v", c.in, got, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells the value: %v", err)
		}
	}
	if _, err := ParseOverrides([]string{"gh"}, getenv); err == nil || err.Error() != "invalid credential override: gh" {
		t.Errorf("%v", err)
	}
}

func TestOverrideEntriesAreReadOnly(t *testing.T) {
	overrides, err := ParseOverrides([]string{"work///gh:T=1", "gh:T=2"}, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	base := &Memory{}
	if WithEntries(base, map[string]map[string]string{"gh": nil}) != Store(base) {
		t.Error("wrapped without need")
	}
	s := WithEntries(base, overrides)
	if err := s.Put(t.Context(), Credential{Context: "work", ToolName: "gh", Env: map[string]string{"T": "stored"}}); err != nil {
		t.Fatal(err)
	}
	if c, ok, err := s.Get(t.Context(), []string{"work"}, "gh"); !ok || err != nil || c.Env["T"] != "1" {
		t.Errorf("%+v %v %v", c, ok, err)
	}
	if _, ok, _ := s.Get(t.Context(), nil, "gh"); ok {
		t.Error("found in another context")
	}
	if l, err := s.List(t.Context(), []string{"*"}); err != nil || len(l) != 1 || l[0].Env["T"] != "1" {
		t.Errorf("%v %v", l, err)
	}
}

func TestKeys(t *testing.T) {
	s := &Memory{}
	for name, vars := range map[string]map[string]string{"sys.openai": {"OPENAI_API_KEY": "stored"}, "sys.my-llm": {"key": "only"}, "sys.two": {"a": "1", "b": "2"}} {
		if err := s.Put(t.Context(), Credential{ToolName: name, Env: vars}); err != nil {
			t.Fatal(err)
		}
	}
	getenv := env("ANTHROPIC_API_KEY", "from-env", "OPENAI_API_KEY", " ")
	for provider, want := range map[string][2]string{
		"openai":    {"stored", "the credential sys.openai (memory)"},
		"anthropic": {"from-env", "the environment variable ANTHROPIC_API_KEY"},
		"my-llm":    {"only", "the credential sys.my-llm (memory)"},
		"two":       {}, "none": {},
	} {
		key, err := Keys(s, getenv)(t.Context(), provider)
		source, err2 := KeySource(t.Context(), s, getenv, provider)
		if err != nil || err2 != nil || key != want[0] || source != want[1] {
			t.Errorf("%s: %q from %q, %v %v", provider, key, source, err, err2)
		}
	}
	if key, err := Keys(nil, noEnv)(t.Context(), "openai"); key != "" || err != nil {
		t.Errorf("%q %v", key, err)
	}
	if v := KeyVariable("my-llm.2"); v != "MY_LLM_2_API_KEY" {
		t.Error(v)
	}
}
