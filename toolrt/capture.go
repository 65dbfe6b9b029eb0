package toolrt

import (
	"bytes"
	"slices"
	"sync"
	"unicode/utf8"
)

// CaptureOptions say how a Capture cleans and bounds what is written to it.
type CaptureOptions struct {
	// Form: see Spec.Form.
	Form TextForm
	// Redactor may be nil.
	Redactor Redactor
	// Keep is how many bytes are kept of the beginning, and as many of the end. Zero takes 64 KiB.
	Keep int
	// Raw keeps the bytes as they are, for secrets.
	Raw bool
}

const (
	defaultKeep = 64 << 10
	// batchSize is how much is gathered before it is cleaned: small writes would be searched for
	// secrets one by one.
	batchSize = 16 << 10
)

// Capture is a writer that keeps the beginning and the end of what is written to it, cleaned and
// redacted, with exact counts. Its memory is bounded by twice Keep and 64 KiB whatever is written
// (R66). Safe for concurrent use.
type Capture struct {
	mu  sync.Mutex // guards the rest
	raw []byte     // not cleaned yet
	cleaner
	ends ends
}

// NewCapture returns an empty capture.
func NewCapture(o CaptureOptions) *Capture {
	c := &Capture{}
	c.init(o)
	return c
}

func (c *Capture) init(o CaptureOptions) {
	if o.Keep <= 0 {
		o.Keep = defaultKeep
	}
	c.cleaner = newCleaner(o)
	c.ends.keep = o.Keep
}

// Write takes p. It never fails.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		m := min(len(p), batchSize-len(c.raw))
		c.raw, p = append(c.raw, p[:m]...), p[m:]
		if len(c.raw) == batchSize {
			c.settle()
		}
	}
	return n, nil
}

func (c *Capture) settle() {
	c.ends.add(c.cleaner.write(c.raw))
	c.raw = c.raw[:0]
}

// excerpt ends the capture and returns what it holds.
func (c *Capture) excerpt() excerpt {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	c.ends.add(c.cleaner.end())
	if c.cleaner.binary {
		return wholeText(binaryLine(c.cleaner.probe, c.cleaner.size))
	}
	return c.ends.excerpt()
}

// soFar returns what was written until now; the capture goes on.
func (c *Capture) soFar() excerpt {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	if c.cleaner.binary {
		return wholeText(binaryLine(c.cleaner.probe, c.cleaner.size))
	}
	d, e := c.cleaner.clone(), c.ends.clone()
	e.add(d.end())
	return e.excerpt()
}

// Text returns what was written, cleaned, and whether that is all of it; if not, it is only the
// beginning. It is meant to be called when all is written.
func (c *Capture) Text() (text string, whole bool) {
	e := c.excerpt()
	return e.head, e.whole
}

// cleaner turns raw bytes into text fit for a model: sanitised, then redacted, then, for terminal
// output, with rewritten lines resolved.
type cleaner struct {
	sanitizer sanitizer
	redaction redaction
	rewrite   lastRewrite
	form      TextForm
	plain     bool // pass everything through

	binary bool   // NUL near the beginning: nothing is passed on any more
	probe  []byte // the beginning, to name the type of binary data
	size   int64  // raw bytes

	// live, if not nil, gets the text before rewritten lines are resolved.
	live         func([]byte)
	clean, shown []byte // reused buffers
}

func newCleaner(o CaptureOptions) cleaner {
	return cleaner{sanitizer: o.Form.sanitizer(), form: o.Form, redaction: redaction{redactor: o.Redactor}, plain: o.Raw}
}

// write returns the next part of the text. It is valid until the next call.
func (c *cleaner) write(p []byte) []byte {
	if c.plain {
		return p
	}
	if c.probing(p); c.binary {
		return nil
	}
	c.clean = c.sanitizer.write(c.clean[:0], p)
	c.shown = c.redaction.write(c.shown[:0], c.clean)
	return c.pass(false)
}

// end returns the rest of the text.
func (c *cleaner) end() []byte {
	if c.plain || c.binary {
		return nil
	}
	c.clean = c.sanitizer.end(c.clean[:0])
	c.shown = c.redaction.write(c.shown[:0], c.clean)
	c.shown = c.redaction.end(c.shown)
	return c.pass(true)
}

func (c *cleaner) pass(last bool) []byte {
	if c.live != nil && len(c.shown) > 0 {
		c.live(c.shown)
	}
	if c.form != FormTerminal {
		return c.shown
	}
	c.clean = c.rewrite.write(c.clean[:0], c.shown)
	if last {
		c.clean = c.rewrite.end(c.clean)
	}
	return c.clean
}

// clone returns a cleaner that goes on where c stands, without c noticing.
func (c *cleaner) clone() *cleaner {
	d := *c
	d.live, d.clean, d.shown = nil, nil, nil
	d.sanitizer.partial = slices.Clone(c.sanitizer.partial)
	d.redaction.held = slices.Clone(c.redaction.held)
	d.rewrite.line = slices.Clone(c.rewrite.line)
	return &d
}

func (c *cleaner) probing(p []byte) {
	if c.size < binaryProbe {
		start := p[:min(int64(len(p)), binaryProbe-c.size)]
		c.binary = c.binary || bytes.IndexByte(start, 0) >= 0
		const sniffed = 512
		c.probe = append(c.probe, start[:min(len(start), sniffed-min(len(c.probe), sniffed))]...)
	}
	c.size += int64(len(p))
}

// ends keeps the first and the last keep bytes of a text, and counts it.
type ends struct {
	keep  int
	head  []byte
	ring  []byte // the last bytes after head; once full, next is where the oldest stands
	next  int
	bytes int64
	feeds int64 // line feeds
	last  byte
}

func (e *ends) add(p []byte) {
	if len(p) == 0 {
		return
	}
	e.bytes += int64(len(p))
	e.feeds += int64(bytes.Count(p, []byte{'\n'}))
	e.last = p[len(p)-1]
	n := min(len(p), e.keep-len(e.head))
	e.head, p = e.grow(e.head, p[:n]), p[n:]
	if len(p) > e.keep {
		p = p[len(p)-e.keep:]
	}
	n = min(len(p), e.keep-len(e.ring))
	e.ring, p = e.grow(e.ring, p[:n]), p[n:]
	for len(p) > 0 {
		n = copy(e.ring[e.next:], p)
		e.next, p = (e.next+n)%e.keep, p[n:]
	}
}

func (e *ends) clone() *ends {
	d := *e
	d.head, d.ring = slices.Clone(e.head), slices.Clone(e.ring)
	return &d
}

// grow appends p to buf, which never takes more memory than keep.
func (e *ends) grow(buf, p []byte) []byte {
	if need := len(buf) + len(p); need > cap(buf) {
		bigger := make([]byte, len(buf), min(max(need, 2*cap(buf)), e.keep))
		copy(bigger, buf)
		buf = bigger
	}
	return append(buf, p...)
}

func (e *ends) lines() int64 {
	if e.bytes > 0 && e.last != '\n' {
		return e.feeds + 1
	}
	return e.feeds
}

func (e *ends) excerpt() excerpt {
	tail := make([]byte, 0, len(e.ring))
	tail = append(append(tail, e.ring[e.next:]...), e.ring[:e.next]...)
	if e.bytes <= int64(len(e.head)+len(tail)) {
		return excerpt{head: string(e.head) + string(tail), whole: true, bytes: e.bytes, lines: e.lines()}
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	head := e.head[:runeStart(e.head, len(e.head)-1)] // the last character may be cut
	return excerpt{head: string(head), tail: string(tail), bytes: e.bytes, lines: e.lines(), headPart: true, tailPart: true}
}
