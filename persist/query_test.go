package persist

import (
	"strings"
	"testing"
)

func TestOnlyReads(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]bool{
		"SELECT 1":                               true,
		" -- why\n/* not */ select 1 ; ":         true,
		"WITH a AS (SELECT 1) SELECT * FROM a":   true,
		"SELECT ';', \"a;b\", [c;d], `e;f` -- ;": true,
		"SELECT 'it''s; fine'":                   true,
		"VALUES (1)":                             true,
		"":                                       false,
		";":                                      false,
		"SELECT 1; SELECT 2":                     false,
		"SELECT 1;;/**/-- x\n;DROP TABLE calls":  false,
		"SELECTED":                               false,
		"ATTACH 'x' AS y":                        false,
		"VACUUM INTO 'x'":                        false,
		"SELECT '; DROP TABLE calls":             true, // SQLite will refuse what is not closed
	} {
		if got := onlyReads(statement); got != want {
			t.Errorf("onlyReads(%q) = %v", statement, got)
		}
	}
}

// Whatever the text, it is taken apart without loss and without end.
func FuzzOnlyReads(f *testing.F) {
	f.Add("SELECT ';' /* ; */ -- ;\n [x] `y` \"z")
	f.Fuzz(func(t *testing.T, statement string) {
		onlyReads(statement)
		for rest := statement; rest != ""; {
			token := nextToken(rest)
			if token == "" || !strings.HasPrefix(rest, token) {
				t.Fatalf("%q begins with the token %q", rest, token)
			}
			rest = rest[len(token):]
		}
	})
}
