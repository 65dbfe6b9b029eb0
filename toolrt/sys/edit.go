package sys

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"parley/toolrt"
)

// editMax is the size in bytes of the largest file that can be edited.
const editMax = 16 << 20

// byteOrderMark begins some text files. It is no part of their text.
const byteOrderMark = "\ufeff"

// editFile is sys.edit: it replaces one piece of text in a file and nothing else.
func editFile(_ context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	name := a["filename"]
	if target, err := locate(inv.Call.Dir, name, "open"); err == nil {
		defer files.lock(ResolvePath(target, "."))()
	}
	c, refusal := planChange(inv.Call, a)
	if refusal != "" {
		return failed("%s", refusal), nil
	}
	if inv.Seen.Changed(c.target, sha256.Sum256(c.old)) {
		return failed("The file %s has changed since it was last read here: read it again and edit what it holds now", name), nil
	}
	changed := c.changed()
	kept, err := keep(inv, c.target)
	if err != nil {
		return failed("Failed to write file %s: %v", name, err), nil
	}
	defer kept()
	err = replace(c.target, func(w io.Writer) error { _, err := w.Write(changed); return err })
	if err != nil {
		return failed("Failed to write file %s: %v", name, asGiven(err, name)), nil
	}
	inv.Seen.Note(c.target, sha256.Sum256(changed))
	out := text("Edited %s: %s\n%s", name, plural(len(c.edits), "replacement"), c.diff())
	out.FilesTouched = []string{c.target}
	return out, nil
}

// previewEdit shows the change as a diff, or why there will be none.
func previewEdit(call *toolrt.Call, a args, p *toolrt.Preview) {
	if a["filename"] == "" {
		return
	}
	c, refusal := planChange(call, a)
	target := ResolvePath(call.Dir, a["filename"])
	p.Paths = []string{target}
	p.Basis = basis(target, c.old)
	if p.Diff = c.diff(); refusal != "" {
		p.Diff = refusal + "\n"
	}
}

// change is what an edit does to a file.
type change struct {
	name   string // as the call names it
	target string
	old    []byte
	edits  []udiff.Edit // in order, apart from each other
}

// planChange reads the file and finds out what the edit changes, or why it cannot be made.
func planChange(call *toolrt.Call, a args) (c change, refusal string) {
	c.name = a["filename"]
	if c.target, refusal = openable(call, c.name); refusal != "" {
		return c, refusal
	}
	if info, err := os.Stat(c.target); err == nil && info.Size() > editMax {
		return c, fmt.Sprintf("The file %s has %d bytes; only files up to %d can be edited", c.name, info.Size(), editMax)
	}
	var err error
	if c.old, err = os.ReadFile(c.target); err != nil {
		return c, fmt.Sprintf("Failed to read file %s: %v", c.name, asGiven(err, c.name))
	}
	before, after := strings.TrimPrefix(a["old"], byteOrderMark), strings.TrimPrefix(a["new"], byteOrderMark)
	switch {
	case bytes.IndexByte(c.old, 0) >= 0:
		return c, fmt.Sprintf("The file %s cannot be edited because it is not a plaintext file", c.name)
	case !utf8.Valid(c.old):
		return c, notUTF8(c.name, c.old)
	case before == "":
		return c, "The old text is empty: give the text to replace, or write the whole file"
	}
	return c, c.find(before, after, a.flag("all"))
}

// notUTF8 says where a file is in another encoding.
func notUTF8(name string, content []byte) string {
	at := 0
	for at < len(content) {
		r, size := utf8.DecodeRune(content[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return fmt.Sprintf("The file %s is not in UTF-8 (line %d holds the byte 0x%02X) and an edit would damage it: convert it first, or change it by a command",
		name, 1+bytes.Count(content[:at], []byte("\n")), content[at])
}

// changed is the file's new bytes.
func (c *change) changed() []byte {
	var out bytes.Buffer
	at := 0
	for _, e := range c.edits {
		out.Write(c.old[at:e.Start])
		out.WriteString(e.New)
		at = e.End
	}
	out.Write(c.old[at:])
	return out.Bytes()
}

// diff is the change as a unified diff.
func (c *change) diff() string {
	const contextLines = 3
	text, err := udiff.ToUnified("a/"+c.name, "b/"+c.name, string(c.old), c.edits, contextLines)
	if err != nil { // edits in order that do not touch always apply
		return err.Error() + "\n"
	}
	return text
}
