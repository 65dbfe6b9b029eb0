package program

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// The rows of section 10 of the specification that belong to the text of programs and have no test
// elsewhere. Each holds what is done instead of the defect.

// warningsOf parses a source and returns its warnings, one a line.
func warningsOf(t *testing.T, src string) string {
	t.Helper()
	var lines []string
	for _, w := range parseText(t, src).Warnings {
		lines = append(lines, w.String())
	}
	return strings.Join(lines, "\n")
}

// faultsOf parses a source that has faults and returns them, one a line.
func faultsOf(t *testing.T, src string) string {
	t.Helper()
	_, err := Parse("f.gpt", []byte(src))
	if err == nil {
		t.Fatalf("%q has no fault", src)
	}
	return err.Error()
}

// A rule in a body cuts the tool in two, with a warning; a body with one cannot be written.
func TestQ1RuleInABody(t *testing.T) {
	const src = "name: a\n# Title\ntext\n\n---\nmore text\n"
	if tools := parseText(t, src).Tools(); len(tools) != 2 || tools[1].Instructions != "more text" {
		t.Errorf("got %d tools", len(tools))
	}
	if got := warningsOf(t, src); !strings.HasPrefix(got, "f.gpt:5:1: this line ends the tool") {
		t.Errorf("warnings %q", got)
	}
	_, err := Format(&Document{Nodes: []Node{{ToolNode: &ToolNode{Tool: &Tool{Instructions: "a\n----\nb"}}}}})
	if err == nil || !strings.Contains(err.Error(), "would end the tool") {
		t.Errorf("a body with a rule was printed: %v", err)
	}
}

// A directive after an empty line counts, with a warning when plain text follows it.
func TestQ2DirectiveAfterAnEmptyLine(t *testing.T) {
	const src = "name: a\n\ntools: hammer\nare needed\n"
	if tool := parseText(t, src).Tools()[0]; len(tool.Tools) != 1 || tool.Instructions != "are needed" {
		t.Errorf("got %+v", tool)
	}
	if got := warningsOf(t, src); !strings.HasPrefix(got, `f.gpt:3:1: "tools:" is read as a directive`) {
		t.Errorf("warnings %q", got)
	}
}

// Misspelt directives are dropped with a warning at their place; "contexts" is known.
func TestQ3MisspeltDirectives(t *testing.T) {
	if got := warningsOf(t, "name: a\n  \nmodl: x\nbody"); got != `f.gpt:3:1: unknown directive "modl" is ignored (did you mean "model"?)` {
		t.Errorf("warnings %q", got)
	}
	if tool := parseText(t, "contexts: a, b\nhi").Tools()[0]; len(tool.Context) != 2 {
		t.Errorf("contexts %v", tool.Context)
	}
}

func TestQ4ModelProviderIsABoolean(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false} {
		if got := parseText(t, "name: a\nmodel provider: "+value+"\nhi").Tools()[0].ModelProvider; got != want {
			t.Errorf("%s: %t", value, got)
		}
	}
	if got := faultsOf(t, "name: a\nmodel provider: x\nhi"); !strings.Contains(got, "f.gpt:2:17: invalid boolean") {
		t.Errorf("got %s", got)
	}
}

// Empty entries of a list mean nothing.
func TestQ6EmptyEntries(t *testing.T) {
	tool := parseText(t, "tools: , sys.read,, sys.exec ,\ncontext:\nagents: ,\nhi").Tools()[0]
	if strings.Join(tool.Tools, "|") != "sys.read|sys.exec" || tool.Context != nil || tool.Agents != nil {
		t.Errorf("tools %q, context %q, agents %q", tool.Tools, tool.Context, tool.Agents)
	}
}

// A block with directives that is dropped is warned of.
func TestQ7DroppedBlocks(t *testing.T) {
	for _, line := range []string{"description: d", "context: c", "args: a: b", "credentials: c", "share context: c", "model: m"} {
		src := "name: a\n---\n" + line + "\n"
		if n := len(parseText(t, src).Tools()); n != 1 {
			t.Errorf("%s: %d tools", line, n)
		}
		if got := warningsOf(t, src); !strings.HasPrefix(got, "f.gpt:3:1: this block is dropped") {
			t.Errorf("%s: warnings %q", line, got)
		}
	}
}

// Faults have file, line and column; lines that continue a value are counted.
func TestQ8PlacesOfFaults(t *testing.T) {
	src := "name: ä\ndescription: one\n  two\n  three\ntools: a,\n  b\nchat: ja\n\nhi\n---\nname: b\ntemperature:  hot\n"
	if got, want := faultsOf(t, src), "f.gpt:7:7: invalid boolean parameter, must be \"true\" or \"false\", got [ja]\n"+
		"f.gpt:12:15: strconv.ParseFloat: parsing \"hot\": invalid syntax"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := parseText(t, "name: a\ntools: a,\n  b\nhi\n---\n\nname: b\n").Tools()[1].Source.LineNo; got != 6 {
		t.Errorf("the second block begins on line %d: want 6", got)
	}
}

// The whole text of a reference is tried as a name first.
func TestQ9NamesWithKeywords(t *testing.T) {
	p := loadText(t, "tools: log in with sso, as, from here to there as Trip\nhi\n---\nname: Log In With SSO\nb\n---\nname: as\nb\n---\nname: from here to there\nb\n")
	if got := offeredNames(p.Offered(p.Entry(), nil)); got != "logInWithSso as Trip" {
		t.Errorf("offered %q", got)
	}
}

func TestQ10AliasBesideArguments(t *testing.T) {
	p := loadText(t, "context: c as See with 1 as a\nhi\n---\nname: c\nparam: a: x\n#!sys.echo x")
	if got := names(p.Contexts(p.Entry())); got != "c=See(1 as a)" {
		t.Errorf("got %q", got)
	}
}

// A missing sub-tool is an error, also of a program from standard input; all characters of globs count.
func TestQ33SelectionsThatMatch(t *testing.T) {
	_, _, err := Load(t.Context(), "-", Options{Dir: t.TempDir(), Stdin: strings.NewReader("name: a\nhi"), SubTool: "nobody"})
	if err == nil || err.Error() != "tool not found: nobody from -" {
		t.Errorf("got %v", err)
	}
	for sel, want := range map[string]string{"a?pha": "alpha", "[bg]*": "beta Gamma", "alph[a-z]|?eta": "alpha beta", "*": "alpha beta Gamma"} {
		p, _ := loadFiles(t, "app.gpt", "-- app.gpt --\nContext: "+sel+" from lib.gpt\n\nhi\n-- lib.gpt --\nname: alpha\na\n---\nname: beta\nb\n---\nname: Gamma\nc")
		if got := names(p.Contexts(p.Entry())); got != want {
			t.Errorf("%s: got %q, want %q", sel, got, want)
		}
	}
}

// Names are cut at characters, and Latin letters only lose their accents.
func TestQ39NamesOfOtherScripts(t *testing.T) {
	for name, want := range map[string]string{
		"données": "donnees", "Ärger machen": "argerMachen", "Ærø ñandú": "rNandu", "工具": "tool",
		strings.Repeat("a", 54) + "é b": strings.Repeat("a", 54) + "e", strings.Repeat("x", 54) + "я" + strings.Repeat("y", 20): strings.Repeat("x", 54),
	} {
		if got := Normalize(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	p := loadText(t, "tools: das tür, das tur\nhi\n---\nname: das tür\nb\n---\nname: das tur\nb\n")
	if got := offeredNames(p.Offered(p.Entry(), nil)); got != "dasTur dasTur0" {
		t.Errorf("offered %q", got)
	}
}

// Names that are the same for the model are numbered by zeros, in the order of the references.
func TestQ40CollisionsGetZeros(t *testing.T) {
	const tools = "\nhi\n---\nname: a b\nb\n---\nname: a-b\nb\n---\nname: a_b\nb\n"
	for order, want := range map[string]string{"a b, a-b, a_b": "a b=aB a-b=aB0 a_b=aB00", "a_b, a b, a-b": "a_b=aB a b=aB0 a-b=aB00"} {
		p := loadText(t, "tools: "+order+tools)
		var got []string
		for _, o := range p.Offered(p.Entry(), nil) {
			got = append(got, o.Tool.Name+"="+o.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", order, got, want)
		}
	}
}

// Nothing after "as" is a fault found at loading, at the place of the reference.
func TestQ41DanglingAs(t *testing.T) {
	for _, line := range []string{"context: c with 1 as", "input filters: c with 1 as", "output filters: c with a as b and 1 as", "share context: c with 1 as", "credentials: c with 1 as"} {
		_, _, err := LoadSource(t.Context(), "f.gpt", []byte("chat: true\n"+line+"\nhi\n---\nname: c\nparam: b: x\n#!sys.echo x"), Options{Dir: t.TempDir()})
		var faults *ParseErrors
		if !errors.As(err, &faults) || len(faults.Errors) != 1 || faults.Errors[0].Line != 2 || !strings.Contains(err.Error(), "as") {
			t.Errorf("%s: got %v", line, err)
		}
	}
}

// Serial number 3 of the vectors: collisions.
func TestV11_3Collisions(t *testing.T) {
	n := newNamer()
	for i, name := range []string{"a b", "a-b", "a_b"} {
		if got, want := n.pick(name), []string{"aB", "aB0", "aB00"}[i]; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// The rows of the first table that need more than a name and a body.
func TestV11_1ParsingDirectives(t *testing.T) {
	if tool := parseText(t, "tools: a,\n  b, c\nbody").Tools()[0]; strings.Join(tool.Tools, " ") != "a b c" || tool.Instructions != "body" {
		t.Errorf("got %+v", tool)
	}
	two := parseText(t, "name: x\nbody\n - - -\n --- \nname: y").Tools()
	if len(two) != 2 || two[0].Instructions != "body\n - - -" || two[1].Name != "y" {
		t.Errorf("got %+v", two)
	}
	if tool := parseText(t, "chat: T\nhi").Tools()[0]; !tool.Chat || tool.Instructions != "hi" {
		t.Errorf("got %+v", tool)
	}
	if got := faultsOf(t, "chat: yes\nhi"); !strings.HasPrefix(got, "f.gpt:1:7: ") {
		t.Errorf("got %s", got)
	}
	if tool := parseText(t, "Meta Data: k: v: w\nname: q").Tools()[0]; tool.MetaData["k"] != "v: w" {
		t.Errorf("got %+v", tool.MetaData)
	}
}

// The folder of a tool is absolute however the program was named.
func TestQ17ToolFolderIsAbsolute(t *testing.T) {
	dir := writeFiles(t, "-- sub/app.gpt --\nname: a\ntools: b from ./lib/l.gpt\nhi\n-- sub/lib/l.gpt --\nname: b\n#!/bin/true")
	p, _, err := Load(t.Context(), "./sub/app.gpt", Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range p.ToolSet {
		if want := map[string]string{"a": "sub", "b": "sub/lib"}[tool.Name]; tool.WorkingDir != filepath.Join(dir, filepath.FromSlash(want)) {
			t.Errorf("%s: %s", tool.Name, tool.WorkingDir)
		}
	}
}

// An alias stands for one tool only; built-ins have exact names.
func TestV11_4AliasesAndBuiltins(t *testing.T) {
	const lib = "\n-- lib.gpt --\nname: alpha\na\n---\nname: another\nb\n---\nname: beta\nb"
	p, _ := loadFiles(t, "app.gpt", "-- app.gpt --\nTools: b* from lib.gpt as Bee\n\nhi"+lib)
	if got := offeredNames(p.Offered(p.Entry(), nil)); got != "Bee" {
		t.Errorf("offered %q", got)
	}
	for ref, want := range map[string]string{
		"a* from lib.gpt as Bee": "can not combine 'as' syntax with wildcard: a* from lib.gpt as Bee",
		"SYS.READ":               "can not load tools path=. name=SYS.READ",
	} {
		if err := loadError(t, "app.gpt", "-- app.gpt --\nTools: "+ref+"\n\nhi"+lib); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", ref, err)
		}
	}
}
