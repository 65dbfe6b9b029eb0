package sys

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"parley/toolrt"
)

// diffMax bounds the text of either side of a diff in bytes; computing it may cost the square.
const diffMax = 1 << 20

// quoted fills in a line for the screen; line breaks become spaces.
func quoted(format string, a ...any) string {
	return strings.Join(strings.Fields(fmt.Sprintf(format, a...)), " ")
}

// named returns a display of one argument.
func named(format, name string) func(args) string {
	return func(a args) string {
		if a[name] == "" {
			return ""
		}
		return quoted(format, a[name])
	}
}

func displayFind(a args) string {
	return quoted("Finding `%s` in `%s`", a["pattern"], a.or("directory", "."))
}

// touching returns a preview of one path argument.
func touching(name, other string) func(*toolrt.Call, args, *toolrt.Preview) {
	return func(call *toolrt.Call, a args, p *toolrt.Preview) {
		if path := a.or(name, other); path != "" {
			p.Paths = []string{ResolvePath(call.Dir, path)}
			p.Basis = basis(p.Paths[0], nil)
		}
	}
}

func previewExec(call *toolrt.Call, a args, p *toolrt.Preview) {
	p.Command = a["command"]
	if a["directory"] != "" {
		p.Paths = []string{ResolvePath(call.Dir, a["directory"])}
	}
}

func previewRemove(call *toolrt.Call, a args, p *toolrt.Preview) {
	if a["location"] != "" {
		p.Paths = []string{resolveEntry(call.Dir, a["location"])}
		p.Basis = basis(p.Paths[0], nil)
	}
}

func previewURL(_ *toolrt.Call, a args, p *toolrt.Preview) { p.URL = a["url"] }

func previewWrite(call *toolrt.Call, a args, p *toolrt.Preview) {
	previewChange(call, a["filename"], p, func(string) string { return a["content"] })
}

func previewAppend(call *toolrt.Call, a args, p *toolrt.Preview) {
	previewChange(call, a["filename"], p, func(old string) string { return old + a["content"] })
}

// previewChange shows the change of a file as a diff, and ties the answer to the bytes it would
// change and to the file they are in.
func previewChange(call *toolrt.Call, name string, p *toolrt.Preview, change func(old string) string) {
	if name == "" {
		return
	}
	target := ResolvePath(call.Dir, name)
	p.Paths = []string{target}
	info, err := os.Stat(target)
	if err == nil && !info.Mode().IsRegular() {
		p.Diff = fmt.Sprintf("%s is not a regular file and will not be written\n", name)
		p.Basis = basis(target, nil)
		return
	}
	if err == nil && info.Size() > diffMax {
		p.Diff = fmt.Sprintf("%s has %d bytes, too many for a diff; the new text has %d\n", name, info.Size(), len(change("")))
		p.Basis = hashFile(target)
		return
	}
	old, readErr := os.ReadFile(target)
	p.Basis = basis(target, old)
	if err != nil || readErr != nil {
		p.Basis = basis(target, nil)
	}
	p.Diff = diff(name, err == nil, old, change(string(old)))
}

// diff returns a unified diff, or a line that says why there is none.
func diff(name string, exists bool, old []byte, changed string) string {
	switch {
	case bytes.IndexByte(old, 0) >= 0 || strings.IndexByte(changed, 0) >= 0:
		return fmt.Sprintf("%s: binary data, %d bytes become %d\n", name, len(old), len(changed))
	case len(changed) > diffMax:
		return fmt.Sprintf("%s: %d bytes become %d, too many for a diff\n", name, len(old), len(changed))
	case exists && string(old) == changed:
		return ""
	}
	before := "a/" + name
	if !exists {
		before = os.DevNull
	}
	return udiff.Unified(before, "b/"+name, string(old), changed)
}

// basis identifies a file by where it really is and what it holds; old is nil if it is not there
// or does not matter.
func basis(target string, old []byte) string {
	h := sha256.New()
	_, _ = io.WriteString(h, target) // a hash takes everything
	if old != nil {
		_, _ = h.Write([]byte{0})
		_, _ = h.Write(old)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashFile is basis for a large file.
func hashFile(target string) string {
	h := sha256.New()
	_, _ = io.WriteString(h, target+"\x00")
	if f, err := os.Open(target); err == nil {
		_, _ = io.Copy(h, f) // a file that cannot be read gives a basis all the same
		_ = f.Close()
	}
	return hex.EncodeToString(h.Sum(nil))
}
