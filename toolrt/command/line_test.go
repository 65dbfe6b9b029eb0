package command

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for body, want := range map[string][2]string{
		"#!/bin/sh\necho a\n\nb":  {"/bin/sh", "echo a\n\nb"},
		"#! /usr/bin/env x  y \n": {"/usr/bin/env x  y", ""},
		"#!one":                   {"one", ""},
	} {
		if a, b := Split(body); a != want[0] || b != want[1] {
			t.Errorf("Split(%q) = %q, %q, want %q", body, a, b, want)
		}
	}
}

func TestShellLine(t *testing.T) {
	vars := map[string]string{"HOME": "/home/u", "CMD": "a b; c", "Q": `x'"; rm $(y) *`}
	lookup := func(name string) string { return vars[name] }
	foreign := map[string]bool{"Q": true}
	tests := []struct{ line, file, want string }{
		{`/bin/echo '$HOME' ${!HOME} $(echo s) "c  d"`, "", `exec /bin/echo '${HOME}' /home/u $(echo s) "c d"`},
		{"python3", "/tmp/a b", "exec python3 '/tmp/a b'"},
		{"sh  -x\t$A ${B:-c} $$ $1", "/t/f", "exec sh -x ${A} ${B:-c} ${$} ${1} /t/f"},
		{"${!CMD}", "", "exec a b; c"},
		{"e ${!Q}", "", `exec e x\'\"\; rm \$\(y\) \*`},
		{`e "${!Q}"`, "", `exec e "x'\"; rm \$(y) *"`},
		{`e '${!Q}'`, "", `exec e 'x'\''"; rm $(y) *'`},
		{`e \${!Q} "\"${!Q}"`, "", `exec e \\x\'\"\; rm \$\(y\) \* "\"x'\"; rm \$(y) *"`},
		{"e ${!NONE}.", "", "exec e ."},
	}
	for _, tt := range tests {
		got, err := shellLine(tt.line, tt.file, lookup, foreign)
		if err != nil || got != tt.want {
			t.Errorf("shellLine(%q)\n got %s, %v\nwant %s", tt.line, got, err, tt.want)
		}
	}
	for _, line := range []string{"", "   ", `e "$(f '${!Q}')"`, "e `f ${!Q}`"} {
		if got, err := shellLine(line, "", lookup, foreign); err == nil {
			t.Errorf("shellLine(%q) = %q, want an error", line, got)
		}
	}
}

// FuzzForeignText: whatever a model writes into ${!X}, the shell runs nothing of it.
func FuzzForeignText(f *testing.F) {
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		f.Skip("needs /bin/sh")
	}
	for _, seed := range []string{"; echo HACKED", "$(echo HACKED)", "`echo HACKED`", "'\"'; echo HACKED #", "\\\n&& echo HACKED", "\xfe';echo HACKED;\xff'", "a  b\tc"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ReplaceAll(text, "\x00", "")
		lookup := func(string) string { return text }
		line, err := shellLine(`/usr/bin/printf '%s\n' ${!X} "<${!X}>" '[${!X}]' \${!X}`, "", lookup, map[string]bool{"X": true})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Env = []string{"PATH=/nowhere"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
		want := strings.ToValidUTF8(text, "\ufffd")
		if len(want) < 3 { // runs of invalid bytes are compared only by what follows
			return
		}
		if strings.ContainsRune(text, 0xfffd) || strings.ToValidUTF8(text, "") != text {
			return
		}
		if !strings.Contains(string(out), "<"+text+">\n") || !strings.Contains(string(out), "["+text+"]\n") {
			t.Fatalf("%q became %q", text, out)
		}
	})
}

func TestDirectWords(t *testing.T) {
	lookup := func(name string) string { return map[string]string{"D": `C:\t x`, "E": "e"}[name] }
	tests := []struct {
		line string
		want []string
	}{
		{`/usr/bin/env python3 "${D}/a b.py" $E ${!E}`, []string{"python3", `C:\t x/a b.py`, "e", "e"}},
		{"/bin/bash -x", []string{"bash", "-x"}},
		{"/bin/sh", []string{"sh"}},
		{`tools/x.exe 'a  b'`, []string{"tools/x.exe", "a  b"}},
	}
	for _, tt := range tests {
		got, err := directWords(tt.line, lookup)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("directWords(%q) = %q, %v, want %q", tt.line, got, err, tt.want)
		}
	}
	for _, line := range []string{"", `a "b`} {
		if got, err := directWords(line, lookup); err == nil {
			t.Errorf("directWords(%q) = %q, want an error", line, got)
		}
	}
}
