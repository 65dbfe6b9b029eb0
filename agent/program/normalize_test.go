package program

import (
	"strings"
	"testing"
)

// TestManyCollisions must end: names have a longest length.
func TestManyCollisions(t *testing.T) {
	n := newNamer()
	seen := map[string]bool{}
	for i := range 5000 {
		name := n.pick(strings.Repeat("ab", 20+i%2*20))
		if seen[name] || len(name) > maxNameLength {
			t.Fatalf("bad name %q", name)
		}
		seen[name] = true
	}
	if n.pick("") != "external" || n.pick("") != "external0" {
		t.Error("an empty name is external")
	}
}

func TestV11_2Normalisation(t *testing.T) {
	for name, want := range map[string]string{
		"my tool": "myTool", "My-Tool": "myTool", "BOB": "BOB", "sys.http.get": "httpGet",
		"github.com/foo/bar-baz": "barBaz", "a b from c.gpt": "aB", "x_Y": "xY", "données": "donnees",
		strings.Repeat("x", 64): strings.Repeat("x", 64), strings.Repeat("x", 70): strings.Repeat("x", 55),
		"__": "tool", "./foo/tool.gpt": "foo", ".a/tool.gpt": "tool", "./x/agent.gpt": "agent", "bar.baz.gpt": "barBaz",
		"": "tool", "привет": "tool", "Über Größe": "uberGroE", "cafe\u0301": "cafe", "a2 B3": "a2B3", "sys.read": "read",
		"x from": "xFrom", "from x": "fromX", strings.Repeat("ы", 40) + "a": "tool", strings.Repeat("é", 60): strings.Repeat("e", 60),
	} {
		if got := Normalize(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
