package toolrt

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime/debug"
	"unicode"
	"unicode/utf8"
)

// redaction replaces secret values in a stream. It holds back as much as the longest value may
// need, so that one split over two pieces is still found (R69).
type redaction struct {
	redactor Redactor // nil: nothing is replaced or held back
	held     []byte   // text not passed on yet
}

// write appends to dst what of the text so far can be passed on.
func (r *redaction) write(dst, p []byte) []byte {
	if r.redactor == nil {
		return append(dst, p...)
	}
	r.held = append(r.held, p...)
	hold := r.hold()
	if len(r.held) <= hold {
		return dst
	}
	cut := runeStart(r.held, len(r.held)-hold)
	if cut == 0 {
		return dst
	}
	text := string(r.held)
	clean := r.redactor.Redact(text)
	// A value that starts before cut ends within text. Only if there are values at all can one lie
	// across cut.
	if clean != text {
		cut = r.safeCut(text, clean, cut)
	}
	dst = append(dst, r.redactor.Redact(text[:cut])...)
	r.held = append(r.held[:0], text[cut:]...)
	return dst
}

// heldHidden is how much is held back where signs that are not seen may divide a value.
const heldHidden = 8 << 10

// hold is how much of the text must be held back.
func (r *redaction) hold() int {
	hold := max(r.redactor.Longest()-1, 0)
	if hold == 0 || !bytes.ContainsFunc(r.held, func(c rune) bool {
		return c != '\n' && c != '\t' && c != '\r' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c))
	}) {
		return hold
	}
	return max(hold, heldHidden)
}

// safeCut returns the last place up to cut at which text can be divided without dividing a value.
func (r *redaction) safeCut(text, clean string, cut int) int {
	for cut > 0 && r.redactor.Redact(text[:cut])+r.redactor.Redact(text[cut:]) != clean {
		for cut--; cut > 0 && !utf8.RuneStart(text[cut]); cut-- {
		}
	}
	return cut
}

// end appends what was held back.
func (r *redaction) end(dst []byte) []byte {
	if len(r.held) == 0 {
		return dst
	}
	dst = append(dst, r.redactor.Redact(string(r.held))...)
	r.held = nil
	return dst
}

// runeStart moves i back to the start of a character of p.
func runeStart(p []byte, i int) int {
	if i >= len(p) {
		return len(p)
	}
	for i > 0 && !utf8.RuneStart(p[i]) {
		i--
	}
	return i
}

// withheld takes the place of a text that could not be searched for secrets (R71).
const withheld = "[this text could not be checked for secrets and is withheld]"

// checkedRedactor withholds a text on which the redactor fails.
type checkedRedactor struct {
	Redactor
	log *slog.Logger
}

func (c checkedRedactor) Redact(text string) (clean string) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("a text could not be searched for secrets", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			clean = withheld
		}
	}()
	return c.Redactor.Redact(text)
}

// redact replaces secret values in a whole text.
func (r *Runtime) redact(text string) string {
	if r.redactor == nil {
		return text
	}
	return r.redactor.Redact(text)
}
