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

		`make test 'SHELL!=touch x; echo /bin/sh'`:      Ask,
		`make test SHELL:=./x`:                          Ask,
		`make test '.SHELLFLAGS=-c x'`:                  Ask,
		`make test`:                                     Allow,
		`gcc @args -c a.c`:                              Ask,
		`shuf -o x f`:                                   Ask,
		`shuf f`:                                        Allow,
		`hg status --config alias.status='!x'`:          Ask,
		`hg status`:                                     Allow,
		`svn diff --diff-cmd ./x`:                       Ask,
		`just build --shell ./x`:                        Ask,
		`bat --pager=x f`:                               Ask,
		`pnpm test --script-shell ./x`:                  Ask,
		`pnpm test -C ../evil`:                          Ask,
		`less '+!touch x' f`:                            Ask,
		`curl --engine ./x.so h`:                        Ask,
		`curl -w '%output{/home/u/.bashrc}x' http://h`:  Ask,
		`cargo test --manifest-path ../evil/Cargo.toml`: Ask,
		`cargo test`:                                    Allow,
		`mvn test -f ../evil/pom.xml`:                   Ask,
		`pytest -c ../evil.ini`:                         Ask,
		`iconv -o f g`:                                  Ask,
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

// A program whose subcommands are told apart, but of whose options nothing is known, gets no rule for a
// family of calls.
func TestA12NoFamilyOfUnknownOptions(t *testing.T) {
	p := New(t.TempDir(), "", ModeAsk)
	for command, want := range map[string]bool{"terraform plan": false, "helm list x": false, "make test": true, "hg status": true} {
		family := false
		for _, r := range p.Suggest(exec(command)) {
			family = family || strings.HasSuffix(r.String(), " **)")
		}
		if family != want {
			t.Errorf("%s: a rule for the family %v, want %v", command, family, want)
		}
	}
}
