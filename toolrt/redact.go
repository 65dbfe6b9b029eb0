package toolrt

import "unicode/utf8"

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
	hold := max(r.redactor.Longest()-1, 0)
	r.held = append(r.held, p...)
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

// redact replaces secret values in a whole text.
func (r *Runtime) redact(text string) string {
	if r.redactor == nil {
		return text
	}
	return r.redactor.Redact(text)
}
