package program

import (
	"fmt"
	"testing"
)

func TestParseCredential5_10(t *testing.T) {
	const input = `{"s":"text","n":1.50,"o":{"b":1,"a":2},"z":null,"t":true}`
	for _, tt := range []struct{ ref, want string }{
		{"cred", `cred||` + `|map[]`},
		{"cred as my", "my|my||map[]"},
		{`cred as "my one" checked with "a b"`, "my one|my one|a b|map[]"},
		{"cred checked with v", "cred||v|map[]"},
		{"cred checked with v with a as b", "cred||v|map[b:a]"},
		{`cred as c with "x, y" as p and ${s} as q`, "c|c||map[p:x, y q:text]"},
		{"cred with ${n} as n and ${o} as o and ${z} as z and ${t} as t and ${gone} as g and $s as s", `cred|||map[g:${gone} n:1.50 o:{"a":2,"b":1} s:$s t:true z:null]`}, // Q15
		{"x from lib.gpt", "x from lib.gpt|||map[]"}, // Q43
		{"two words from lib.gpt as c", "c|c||map[]"},
		{"long name with spaces with a as b", "long name with spaces|||map[b:a]"}, // Q9
	} {
		src := "-- a.gpt --\nCredentials: " + tt.ref + "\n\nhi\n---\nName: cred\n#!x\n---\nName: long name with spaces\n#!x\n-- lib.gpt --\nName: x\n#!x\n---\nName: two words\n#!x"
		p, _ := loadFiles(t, "a.gpt", src)
		refs := p.Credentials(p.Entry())
		if len(refs) != 1 {
			t.Errorf("%s: %v", tt.ref, refs)
			continue
		}
		name, alias, checked, args, err := ParseCredential(refs[0], input)
		if got := fmt.Sprintf("%s|%s|%s|%v", name, alias, checked, args); got != tt.want || err != nil {
			t.Errorf("%s:\n got %s %v\nwant %s", tt.ref, got, err, tt.want)
		}
	}
	for ref, want := range map[string]string{
		"cred as c d":              "expected 'with' but got d",
		"cred with":                "expected args after 'with'",
		"cred with a":              "expected 'as' after a",
		"cred with a as":           "expected arg name after 'as'",
		"cred with a as b and":     "expected an arg after 'and'",
		"cred with a as b c":       "expected 'and' but got c",
		"cred as c checked with":   "expected 'checked with some_value'",
		"cred as c checked":        "expected 'checked with some_value'",
		`cred with "a as b`:        "EOF found when expecting closing quote",
		"cred with a as b as c":    "expected 'and' but got as",
		"cred checked with v as c": "expected 'with' but got as",
	} {
		err := loadError(t, "a.gpt", "-- a.gpt --\nCredentials: "+ref+"\n\nhi\n---\nName: cred\n#!x")
		if want := fmt.Sprintf("a.gpt:1:14: credential %q: %s", ref, want); err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", ref, err, want)
		}
	}
}
