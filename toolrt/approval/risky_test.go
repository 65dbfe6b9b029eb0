package approval

import (
	"strings"
	"testing"
)

// A rule's wildcards do not cover options and operands that run or write something (A8).
func TestA8WildcardsDoNotCoverRisks(t *testing.T) {
	for command, want := range map[string]Effect{
		`tar cIf "sh -c x" o f`:     Ask,
		`tar cFf x o f`:             Ask,
		`tar tf o`:                  Allow,
		`tar --rmt-command=x tf o`:  Ask,
		`uniq a ../b`:               Ask,
		`uniq a`:                    Allow,
		`xxd a ../b`:                Ask,
		`xxd -p a`:                  Allow,
		`tree --outp x`:             Ask,
		`file -C -m x`:              Ask,
		`file x`:                    Allow,
		`gcc -wrapper x a.c`:        Ask,
		`gcc -fplugin=x a.c`:        Ask,
		`gcc -o ../x a.c`:           Ask,
		`gcc -c a.c`:                Allow,
		`wget -e x http://h`:        Ask,
		`wget -a x http://h`:        Ask,
		`wget --save-cookies x h`:   Ask,
		`npm --git ./x install`:     Ask,
		`npm --node-options=-rx ci`: Ask,
		`go env -w GOFLAGS=x`:       Ask,
		`go env GOFLAGS`:            Allow,
		`sed -ne p f`:               Allow,
		`sed -n1e f`:                Ask,
	} {
		dir := t.TempDir()
		p := New(dir, "", ModeAsk)
		name, _, _ := strings.Cut(command, " ")
		rule, err := ParseRule(Allow, "sys.exec("+name+" **)", Session)
		if err != nil {
			t.Fatal(err)
		}
		p.Add(rule)
		if v := p.Judge(exec(command)); v.Effect != want {
			t.Errorf("%s: %v (%s), want %v", command, v.Effect, v.Reason, want)
		}
	}
}
