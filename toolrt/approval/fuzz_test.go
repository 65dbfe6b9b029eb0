package approval

import (
	"testing"
	"unicode/utf8"
)

// FuzzJudgeCommand holds that judging never panics, and that an allowed command has every part
// covered when it is taken apart again.
func FuzzJudgeCommand(f *testing.F) {
	for _, c := range corpusCases(f) {
		f.Add(c.command)
	}
	policies := corpusPolicies(f)
	f.Fuzz(func(t *testing.T, command string) {
		if !utf8.ValidString(command) {
			t.Skip() // JSON cannot carry it
		}
		for i, p := range policies {
			v := p.Judge(exec(command))
			if v.Effect != Allow || i == 2 {
				continue
			}
			mode, rules := p.current()
			j := newJudge(p.guard, exec(command), mode, rules)
			c := parseCommand(command, inFolder(j.dir))
			if c.hard != "" {
				t.Fatalf("allowed though %s: %q", c.hard, command)
			}
			for _, s := range c.steps {
				if r, e, _ := j.step(s); e != Allow || s.hard != "" || r == nil && !j.free(s) {
					t.Fatalf("allowed though %q is not covered: %q", s.text, command)
				}
			}
		}
		for _, choice := range policies[0].Choices(exec(command)) {
			for _, r := range choice.Rules {
				back, err := ParseRule(Allow, r.String(), Session)
				if err != nil || back.String() != r.String() {
					t.Fatalf("offered rule %q is read back as %v, %v", r, back, err)
				}
			}
		}
	})
}

// FuzzParseRule holds that a rule that can be read is written so that it reads back the same.
func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"sys.exec(go test *)", "sys.write(path: src/**)", `x(a="b", c~"d*", e=~"f", g=1..2)`, `"My (x)"#ab(a=1)`,
		"sys.exec(dir: /x, FOO=1 'a b' $x **)", "sys.http.get(host: http://x:8)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(Ask, text, User)
		if err != nil {
			return
		}
		back, err := ParseRule(Ask, r.String(), User)
		if err != nil || back.String() != r.String() {
			t.Fatalf("%q is written %q, which is read as %q, %v", text, r, back, err)
		}
	})
}
