package toolrt

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestR47R49ErrorTextComesBack(t *testing.T) {
	const text = "he said \"no\" \\ <b>&\nsecond\x00line"
	o := run(t, newRuntime(t, Options{}), call("x", exclusive, fails(errors.New(text))))
	if got := errorOf(t, o.Message)["error"]; got != text {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(o.Message, "<b>&") {
		t.Errorf("escaped for HTML: %s", o.Message)
	}
}

func TestR47TextIsSentAsText(t *testing.T) {
	if o := run(t, newRuntime(t, Options{}), call("x", exclusive, says("one\ntwo \"<&>\""))); o.Message != "one\ntwo \"<&>\"" {
		t.Errorf("message %q", o.Message)
	}
}

func TestR49R50ErrorsAreCleanAndBounded(t *testing.T) {
	dir := t.TempDir()
	r := newRuntime(t, Options{OutputDir: dir, Redactor: secrets("hunter2hunter2")})
	for _, text := range []string{
		"\x1b]0;title\x07red\x1b[31m", "\xff\xfe", "key hunter2hunter2", "open " + dir + "/x: no such file",
		strings.Repeat("\"\\\x00", 10_000), strings.Repeat("€", 100_000), strings.Repeat("\x01", 100_000),
	} {
		o := run(t, r, call("x", exclusive, func(context.Context, *Invocation) (Output, error) {
			return Output{Text: text + "tail"}, &Error{Message: text, Problems: []string{text}}
		}))
		errorOf(t, o.Message)
		if len(o.Message) > 4<<10 || !utf8.ValidString(o.Message) || strings.Contains(o.Message, "hunter2") || strings.Contains(o.Message, dir) || strings.Contains(o.Message, "u001b") {
			t.Errorf("%.40q became %d bytes: %.200q", text, len(o.Message), o.Message)
		}
	}
}

func TestR25PartialOutputIsItsLastPart(t *testing.T) {
	dir := t.TempDir()
	r := newRuntime(t, Options{OutputDir: dir})
	o := run(t, r, call("x", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
		_, err := inv.Out.Write([]byte(lines(5000, "line %d")))
		return Output{}, errors.Join(err, errors.New("broke"))
	}))
	object := errorOf(t, o.Message)
	partial, _ := object["partial_output"].(string)
	if !strings.HasSuffix(partial, "line 4999\nline 5000\n") || len(o.Message) > 4<<10 || object["full_output_id"] != "x" || o.OutputID != "x" {
		t.Errorf("message %.300s", o.Message)
	}
	if savedText(t, dir, "x") != lines(5000, "line %d") {
		t.Error("the file does not hold the whole output")
	}
}

func TestR48DenialError(t *testing.T) {
	for _, c := range []struct {
		d    Decision
		want string
	}{
		{Decision{By: "user"}, "Tool call request has been denied"},
		{Decision{By: "rule", Note: "n"}, "denied by a rule"},
		{Decision{By: "nobody", Note: "n"}, "denied by default: nobody is there to ask"},
	} {
		if e := DenialError("x", c.d); !strings.Contains(e.Message, c.want) || e.Plain != (c.d.Note == "") || e.Kind != KindDenied {
			t.Errorf("%+v: %+v", c.d, e)
		}
	}
}

func FuzzErrorMessage(f *testing.F) {
	f.Add("text", "tool", "partial", 4096)
	f.Add("\xff\x00\"\\", "\u2028", "\x1b[31m", 300)
	f.Add(strings.Repeat("\x01", 5000), "", strings.Repeat("€", 5000), 1000)
	r := New(Options{})
	f.Fuzz(func(t *testing.T, text, tool, partial string, limit int) {
		e := &Error{Kind: KindExecutionFailed, Tool: tool, Message: text, Partial: partial, Problems: []string{text}, Feedback: partial}
		r.cleanError(e)
		limit = 800 + max(limit, 0)%10_000
		message := errorMessage(e, "id", text, limit)
		if !utf8.ValidString(message) {
			t.Fatalf("invalid UTF-8: %q", message)
		}
		if object := errorOf(t, message); object["kind"] != "execution_failed" {
			t.Fatalf("message %s", message)
		}
		if len(message) > limit {
			t.Fatalf("%d bytes, limit %d", len(message), limit)
		}
	})
}
