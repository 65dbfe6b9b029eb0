package sys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"parley/toolrt"
)

// edit changes a file named f with that content and returns what it holds then and the result.
func edit(t *testing.T, before, old, with string, all bool) (after string, out toolrt.Output) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), before)
	arguments := map[string]any{"filename": "f", "old": old, "new": with}
	if all {
		arguments["all"] = true
	}
	out, err := run(t, toolrt.Call{Dir: dir}, "sys.edit", typed(t, arguments))
	if err != nil {
		t.Fatal(err)
	}
	return content(t, filepath.Join(dir, "f")), out
}

func TestT07EditChangesOnlyTheWord(t *testing.T) {
	for name, tt := range map[string]struct{ before, old, with, after string }{
		"LF":                    {"a one\nb two\n", "two", "2", "a one\nb 2\n"},
		"CRLF":                  {"a one\r\nb two\r\nc\r\n", "one\nb two", "one\nb 2", "a one\r\nb 2\r\nc\r\n"},
		"CRLF, new lines":       {"a\r\nb\r\n", "b", "b1\nb2", "a\r\nb1\r\nb2\r\n"},
		"CRLF, last line":       {"a\r\nb", "b", "b1\nb2", "a\r\nb1\r\nb2"},
		"CRLF given as such":    {"a\r\nb\r\n", "a\r\nb", "a\r\nc", "a\r\nc\r\n"},
		"CRLF given, LF there":  {"a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"},
		"CRLF made LF":          {"a\r\nb\r\n", "a\r\n", "a\n", "a\nb\r\n"},
		"mixed ends":            {"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nB\nc\nD", "a\r\nB\nc\r\nD\n"},
		"mixed, lines go":       {"a\r\nb\nc\r\nd\n", "b\nc\n", "", "a\r\nd\n"},
		"bare CR inside a line": {"a\rb word\rc\r\nd\n", "word", "other", "a\rb other\rc\r\nd\n"},
		"bare CR in the text":   {"a\rb\nc\n", "a\rb", "a\rB", "a\rB\nc\n"},
		"BOM":                   {"\ufeffone\r\ntwo\r\n", "one", "1", "\ufeff1\r\ntwo\r\n"},
		"BOM given":             {"\ufeffone\n", "\ufeffone", "1", "\ufeff1\n"},
		"no final newline":      {"a\nword", "word", "other", "a\nother"},
		"final newline goes":    {"a\nb\n", "b\n", "b", "a\nb"},
		"tabs":                  {"\tif x {\n\t\ty()\n\t}\n", "\t\ty()", "\t\tz()", "\tif x {\n\t\tz()\n\t}\n"},
		"NBSP given":            {"a\u00a0word b\n", "a\u00a0word", "a\u00a0other", "a\u00a0other b\n"},
		"wide letters":          {"héé日本\n", "héé日", "héè日", "héè日本\n"},
		"all of it":             {"a", "a", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			after, out := edit(t, tt.before, tt.old, tt.with, false)
			if out.IsError || after != tt.after {
				t.Errorf("%q became %q, want %q: %s", tt.before, after, tt.after, out.Text)
			}
			if !strings.HasPrefix(out.Text, "Edited f: 1 replacement\n--- a/f\n+++ b/f\n@@ ") || len(out.FilesTouched) != 1 {
				t.Errorf("result %q, touched %q", out.Text, out.FilesTouched)
			}
		})
	}
}

func TestT07EditRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ before, old, with, want string }{
		"NBSP there": {"x\nfoo\u00a0bar\n", "foo bar", "y",
			"The old text was not found in f. Line 2 looks like it but is not the same: it has a no-break space (U+00A0) where the call has a space (U+0020)\n" +
				"in the file: \"foo\\u00a0bar\"\nin the call: \"foo bar\""},
		"NBSP in the call":     {"foo bar\n", "foo\u00a0bar", "y", "it has a space (U+0020) where the call has a no-break space (U+00A0)"},
		"tab there":            {"\tfoo(a, b)\n", "    foo(a, b)", "y", "it has a tab (U+0009) where the call has a space (U+0020)"},
		"trailing space there": {"a\nfoo \nb\n", "foo\nb", "y", "Line 2 looks like it but is not the same: it has a space (U+0020) where the call has its end"},
		"quotes there":         {"say \u201chi\u201d\n", `say "hi"`, "y", "it has \"\u201c\" (U+201C) where the call has \"\\\"\" (U+0022)"},
		"zero width there":     {"a\u200bb c\n", "ab c", "y", "it has a zero-width space (U+200B) where the call has \"b\" (U+0062)"},
		"second of two lines":  {"one\ntwo\u00a0x\nthree\n", "one\ntwo x\nthree", "y", "Line 2 looks like it"},
		"line numbers":         {"one\ntwo\n", "1\tone\n2\ttwo", "y", "It is there without the line numbers: leave them out"},
		"not there":            {"one\n", "two", "y", "The old text was not found in f. It must be exactly as it stands there: read the file again"},
		"several times":        {"a\nb\na\n", "a", "y", "The old text stands 2 times in f (lines 1, 3): give more of the lines around it so that it is unique, or set all to true"},
		"overlapping":          {"aaa\n", "aa", "y", "stands 2 times in f (lines 1, 1)"},
		"many times":           {strings.Repeat("a\n", 9), "a", "y", "stands 9 times in f (lines 1, 2, 3, 4, 5, …)"},
		"same":                 {"a\n", "a", "a", "The old and the new text are the same: there is nothing to change"},
		"same but for ends":    {"a\nb\n", "a\r\n", "a\n", "The old and the new text are the same: there is nothing to change"},
		"empty":                {"a\n", "", "a", "The old text is empty: give the text to replace, or write the whole file"},
		"Latin-1":              {"ok\ncaf\xe9 word\n", "word", "y", "The file f is not in UTF-8 (line 2 holds the byte 0xE9) and an edit would damage it"},
		"binary":               {"a\x00word", "word", "y", "The file f cannot be edited because it is not a plaintext file"},
	} {
		t.Run(name, func(t *testing.T) {
			after, out := edit(t, tt.before, tt.old, tt.with, false)
			if !out.IsError || !strings.Contains(out.Text, tt.want) || after != tt.before {
				t.Errorf("%q became %q:\n%s\nwant: %s", tt.before, after, out.Text, tt.want)
			}
		})
	}
}

func TestEditReplacesAll(t *testing.T) {
	after, out := edit(t, "aa b aaa\r\naa\n", "aa", "x", true)
	if after != "x b xa\r\nx\n" || !strings.HasPrefix(out.Text, "Edited f: 3 replacements\n") {
		t.Errorf("got %q: %s", after, out.Text)
	}
	if after, _ := edit(t, "one", "one", "1", true); after != "1" {
		t.Errorf("got %q", after)
	}
}

func TestEditShowsTheChange(t *testing.T) {
	_, out := edit(t, "a\nb\nc\nd\ne\nf\ng\nh\n", "e", "E", false)
	want := "Edited f: 1 replacement\n--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n"
	if out.Text != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.Text, want)
	}
}

func TestT07EditKeepsModeAndLink(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	write(t, dir+"/tool", "echo old\n")
	for _, err := range []error{os.Chmod(dir+"/tool", 0o751), os.Symlink("tool", dir+"/link")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := run(t, call, "sys.edit", pairs("filename", "link", "old", "old", "new", "new"))
	if err != nil || out.IsError || content(t, dir+"/tool") != "echo new\n" {
		t.Errorf("%+v, %v", out, err)
	}
	if info, err := os.Stat(dir + "/tool"); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if to, err := os.Readlink(dir + "/link"); err != nil || to != "tool" {
		t.Errorf("the link leads to %q: %v", to, err)
	}
	if left, _ := filepath.Glob(dir + "/.parley*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestT07EditOfAReadOnlyFileIsRefused(t *testing.T) {
	unixOnly(t)
	if os.Getuid() == 0 {
		t.Skip("root may write every file")
	}
	dir := t.TempDir()
	write(t, dir+"/f", "old")
	if err := os.Chmod(dir+"/f", 0o444); err != nil {
		t.Fatal(err)
	}
	check(t, toolrt.Call{Dir: dir}, "sys.edit", pairs("filename", "f", "old", "old", "new", "new"), "Failed to write file f: open f: permission denied", true)
	if content(t, dir+"/f") != "old" {
		t.Error("the file was changed")
	}
}

func TestEditOfWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir, Denied: func(path string) bool { return filepath.Base(path) == ".env" }}
	write(t, filepath.Join(dir, ".env"), "SECRET=1\n")
	change := func(name string) string { return pairs("filename", name, "old", "S", "new", "T") }
	check(t, call, "sys.edit", change("none"), "The file none does not exist", true)
	check(t, call, "sys.edit", change("."), ". is a folder, not a file", true)
	check(t, call, "sys.edit", change(""), "The file  does not exist", true)
	check(t, call, "sys.edit", change(".env"), "The file .env is kept from you by a rule", true)
	if got := content(t, filepath.Join(dir, ".env")); got != "SECRET=1\n" {
		t.Errorf("P-11: changed to %q", got)
	}
}

func TestT07PreviewOfEdit(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "f")
	write(t, file, "one\r\ntwo\r\n")
	call := toolrt.Call{Dir: dir}
	change := pairs("filename", "f", "old", "two", "new", "2")
	p := preview(t, call, "sys.edit", change)
	if want := "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r\n"; p.Diff != want || p.Summary != "Editing `f`" {
		t.Errorf("summary %q, diff %q", p.Summary, p.Diff)
	}
	if len(p.Paths) != 1 || p.Paths[0] != file || p.Basis == "" {
		t.Errorf("paths %q, basis %q", p.Paths, p.Basis)
	}
	if content(t, file) != "one\r\ntwo\r\n" {
		t.Error("the preview changed the file")
	}
	write(t, file, "one\r\ntwo!\r\n")
	if again := preview(t, call, "sys.edit", change); again.Basis == p.Basis {
		t.Error("A15: the file changed and the basis did not")
	}
	if none := preview(t, call, "sys.edit", pairs("filename", "f", "old", "three", "new", "3")); !strings.HasPrefix(none.Diff, "The old text was not found") {
		t.Errorf("diff %q", none.Diff)
	}
}

// FuzzEdit holds that an edit touches nothing but the text it was given, whatever the file holds.
func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\nc\r\n", "b\nc", "x\ny\nz")
	f.Add("\ufeffone\rtwo\r\n", "two", "\r\n")
	f.Add("foo\u00a0bar", "foo bar", "")
	f.Add("1\tone", "1\tone\n", "é")
	f.Fuzz(func(t *testing.T, content, old, with string) {
		if !utf8.ValidString(content) || !utf8.ValidString(old) || !utf8.ValidString(with) || old == "" {
			t.Skip()
		}
		c := change{name: "f", old: []byte(content)}
		if refusal := c.find(old, with, false); refusal != "" {
			if len(c.edits) > 0 {
				t.Fatalf("refused (%s) with edits %v", refusal, c.edits)
			}
			return
		}
		if len(c.edits) != 1 {
			t.Fatalf("%d edits", len(c.edits))
		}
		e, after := c.edits[0], string(c.changed())
		flat := func(s string) string { return strings.ReplaceAll(strings.TrimPrefix(s, byteOrderMark), "\r\n", "\n") }
		if !strings.HasPrefix(after, content[:e.Start]) || !strings.HasSuffix(after, content[e.End:]) || !utf8.ValidString(after) {
			t.Fatalf("%q became %q", content, after)
		}
		if !strings.Contains(old, "\r") && !strings.Contains(content+with, "\r") && flat(after) != strings.Replace(flat(content), old, with, 1) {
			t.Fatalf("%q with %q for %q became %q", content, with, old, after)
		}
		if c.diff() == "" {
			t.Fatal("no diff")
		}
	})
}
