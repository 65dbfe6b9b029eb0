package approval

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestA1RuleTextRoundTrip(t *testing.T) {
	for in, want := range map[string]string{
		"sys.exec(go test *)":                               "",
		"sys.exec( git log ** )":                            "sys.exec(git log **)",
		`sys.exec("git" 'log')`:                             "sys.exec(git log)",
		"sys.exec(FOO=1 go test *)":                         "",
		"sys.exec('FOO=1' x)":                               "",
		"sys.exec('if' x)":                                  "",
		"sys.exec(echo '*' 'a b' \"it's\" ')')":             `sys.exec(echo '*' 'a b' 'it'\''s' ')')`,
		"sys.exec(ls *.go)":                                 "",
		`sys.exec(cat "$HOME/x")`:                           "",
		"sys.exec(**)":                                      "",
		"sys.exec(dir: /srv/site, make deploy)":             "",
		"sys.exec(dir: /srv/site)":                          "",
		"sys.exec('dir:' x)":                                "",
		"sys.exec":                                          "",
		"sys.*":                                             "",
		"*":                                                 "",
		"sys.write(path:src/**)":                            "sys.write(path: src/**)",
		`sys.write(path: "a b/**")`:                         "",
		"sys.http.get(host: api.github.com)":                "",
		"sys.http.get(host: http://localhost:8080)":         "",
		"github.create_issue(owner=acme,repo=shop)":         "github.create_issue(owner=acme, repo=shop)",
		`github.create_issue(title="Login, test", a.b.c=1)`: "",
		`x(title~"Login *")`:                                "",
		`x(title=~"^a)|(b$")`:                               "error",
		`x(title=~"a|b")`:                                   "",
		"x(count=1..5)":                                     "",
		`x(count="1..5")`:                                   "",
		"x(count=5..1)":                                     "error",
		"build#3f2a":                                        "",
		"build#3f2a(env=test)":                              "",
		`"My Tool (v2)"`:                                    "",
		`"a*"#ff`:                                           "",
		"My Tool":                                           "",
		"x(\"odd key\"=1)":                                  "",
		"":                                                  "error",
		"(x)":                                               "error",
		"a*b":                                               "error",
		"x(":                                                "error",
		"x()":                                               "error",
		"x(a)":                                              "error",
		"x(a=1":                                             "error",
		"x(a=1) y":                                          "error",
		"x#":                                                "error",
		"x*#aa":                                             "error",
		"sys.exec(a && b)":                                  "error",
		"sys.exec(a > b)":                                   "error",
		"sys.exec(a 'b)":                                    "error",
		"sys.exec(** a)":                                    "error",
		"sys.exec(a $(b))":                                  "error",
		"sys.exec()":                                        "error",
		"sys.write(dir: x)":                                 "error",
		"sys.write(path: )":                                 "error",
		"sys.http.get(host: a b)":                           "error",
		`x(a="b`:                                            "error",
		"\xff":                                              "error",
	} {
		r, err := ParseRule(Allow, in, Session)
		if want == "error" {
			var re *RuleError
			if !errors.As(err, &re) || re.Column < 1 || re.Column > len(in)+1 {
				t.Errorf("%q: error %v, want a *RuleError with a column in the text", in, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if want == "" {
			want = in
		}
		if got := r.String(); got != want {
			t.Errorf("%q: text %q, want %q", in, got, want)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Rule
		if err := json.Unmarshal(b, &back); err != nil || back.String() != r.String() || back.Scope != r.Scope {
			t.Errorf("%q: JSON %s gives %v, %v", in, b, back, err)
		}
	}
}

func TestRuleErrorNamesColumn(t *testing.T) {
	for in, col := range map[string]int{"sys.exec(ls; rm)": 10, "sys.exec(ls > x)": 13, "é(a=1, ü)": 8, "x(a=1": 6, "a*b": 2} {
		_, err := ParseRule(Deny, in, User)
		var re *RuleError
		if !errors.As(err, &re) || re.Column != col {
			t.Errorf("%q: %v, want column %d", in, err, col)
		}
	}
}

func TestA4UntrustedProjectFileOnlyNarrows(t *testing.T) {
	dir := t.TempDir()
	project, user := filepath.Join(dir, "project.json"), filepath.Join(dir, "user.json")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := `{"theme":"x","permissions":{"allow":["sys.exec(**)"],"ask":["sys.exec(git **)"],"deny":["sys.exec(rm **)"]}}`
	write(project, text)
	write(user, `{"permissions":{"allow":[{"rule":"sys.exec(ls **)","expires":"2030-01-01T00:00:00Z","note":"n"},"sys.exec(ls"]}}`)

	rules, errs := Load(project, user, func(string) bool { return false })
	var texts []string
	for _, r := range rules {
		texts = append(texts, r.Scope.String()+" "+r.Effect.String()+" "+r.String())
	}
	want := "project deny sys.exec(rm **)|project ask sys.exec(git **)|user allow sys.exec(ls **)"
	if got := strings.Join(texts, "|"); got != want {
		t.Errorf("rules %s, want %s", got, want)
	}
	if rules[2].Expires != time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) || rules[2].Note != "n" {
		t.Errorf("user rule %+v", rules[2])
	}
	if len(errs) != 2 || !errors.Is(errs[0], ErrUntrusted) || !strings.Contains(errs[1].Error(), "permissions.allow[1]") {
		t.Errorf("errors %v", errs)
	}
	hash := FileHash([]byte(text))
	if rules, errs := Load(project, "", func(h string) bool { return h == hash }); len(rules) != 3 || len(errs) != 0 {
		t.Errorf("trusted: %v %v", rules, errs)
	}
	write(project, text+"\n") // trust ends with the content
	if rules, _ := Load(project, "", func(h string) bool { return h == hash }); len(rules) != 2 {
		t.Errorf("changed file still allows: %v", rules)
	}
	if rules, errs := Load(filepath.Join(dir, "none"), "", nil); rules != nil || errs != nil {
		t.Errorf("missing file: %v %v", rules, errs)
	}
	write(project, `{"permissions":`)
	if _, errs := Load(project, "", nil); len(errs) != 1 {
		t.Errorf("broken file: %v", errs)
	}
}
