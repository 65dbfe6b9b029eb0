package markdown

import (
	"regexp"
	"strings"
)

// Doc is one Markdown text that may still be growing. The zero value is an empty text. It is not
// safe for concurrent use.
type Doc struct {
	raw  strings.Builder // the text as it came
	done bool
	defs string // link reference definitions, once done

	// What follows is derived from raw for one renderer and width.
	r     *Renderer
	width int
	taken int      // bytes of raw whose complete lines are in tail or drawn
	lines []string // of complete blocks
	tail  string   // prepared source of what is not drawn for good yet
	glued bool     // tail follows what is drawn without an empty line between
	fence *fence   // tail is an open code block
	tried int      // length of tail when it was last parsed

	// How the first drawnTo bytes of a long open block look; drawn is nil when that is not known.
	drawn   []string
	drawnTo int

	seen  int      // length of raw that out shows
	valid bool     // out is right, if seen is
	out   []string // what Lines returned last
}

// Append adds a piece to the end of the text.
func (d *Doc) Append(piece string) { d.raw.WriteString(piece) }

// Finish says that the text is complete.
func (d *Doc) Finish() {
	if d.done {
		return
	}
	d.done = true
	d.valid = false
	if d.defs = definitions(d.raw.String()); d.defs != "" {
		d.reset()
	}
}

// Source is the text as it came.
func (d *Doc) Source() string { return d.raw.String() }

// Len is the length of the source in bytes.
func (d *Doc) Len() int { return d.raw.Len() }

// Drop forgets the drawn lines; they are drawn anew when asked for.
func (d *Doc) Drop() {
	d.reset()
	d.out = nil
}

func (d *Doc) reset() {
	d.taken, d.lines, d.tail, d.fence, d.tried, d.drawn = 0, nil, "", nil, 0, nil
	d.glued, d.valid = false, false
}

// Lines draws the text in lines of at most width cells. The result is shared: it must not be
// changed, and holds until the next call.
func (d *Doc) Lines(r *Renderer, width int) []string {
	if width <= 0 {
		return nil
	}
	if r != d.r || width != d.width {
		d.reset()
		d.r, d.width = r, width
	}
	if d.valid && d.seen == d.raw.Len() {
		return d.out
	}
	d.seen, d.valid = d.raw.Len(), true
	partial := d.takeLines()
	d.close()
	if d.done {
		d.out = d.lines
		return d.out
	}
	open := d.open(partial)
	d.out = d.lines // the open block's lines go behind it, and are written over by the next ones
	if len(open) > 0 && len(d.lines) > 0 && !d.glued {
		d.out = append(d.out, "")
	}
	d.out = append(d.out, open...)
	return d.out
}

// takeLines moves the complete lines of raw into tail and returns the incomplete one, prepared.
func (d *Doc) takeLines() string {
	rest := d.raw.String()[d.taken:]
	if d.done && rest != "" && !strings.HasSuffix(rest, "\n") {
		rest += "\n"
	}
	end := strings.LastIndexByte(rest, '\n') + 1
	if end > 0 {
		var b strings.Builder
		b.Grow(len(d.tail) + end)
		b.WriteString(d.tail)
		for line := range strings.Lines(rest[:end]) {
			b.WriteString(prepare(strings.TrimRight(line, "\r\n")))
			b.WriteByte('\n')
		}
		d.tail = b.String()
		d.taken = min(d.taken+end, d.raw.Len())
	}
	return prepare(strings.TrimSuffix(rest[end:], "\r"))
}

// long is the length from which a tail is not drawn anew for every piece.
const long = 4 << 10

// due reports whether tail has grown enough to be parsed again: always while it is short, then by
// an eighth each time, so that one endless list costs its length and not its square.
func (d *Doc) due() bool { return len(d.tail) < long || len(d.tail) >= d.tried+d.tried/8 }

// close draws the blocks of tail that can no longer change.
func (d *Doc) close() {
	for d.tail != "" {
		if d.fence != nil {
			end := d.fence.end(d.tail)
			if end == 0 && !d.done {
				return
			}
			if end == 0 {
				end = len(d.tail)
			}
			d.emit(d.tail[:end])
			d.cut(end)
			d.fence = nil
			continue
		}
		if !d.done && !d.due() {
			return
		}
		starts, last := split(d.tail)
		d.tried = len(d.tail)
		from := 0
		for i := 1; i < len(starts); i++ {
			d.emit(d.tail[from:starts[i]])
			from = starts[i]
		}
		if d.done {
			d.emit(d.tail[from:])
			d.tail = ""
			return
		}
		d.cut(from)
		if last == nil {
			return
		}
		d.fence = last
	}
}

// cut takes n bytes, which are drawn, from the beginning of tail.
func (d *Doc) cut(n int) {
	if n > 0 {
		d.glued = !blankBefore(d.tail, n)
		d.tail, d.tried, d.drawn = d.tail[n:], len(d.tail)-n, nil
	}
}

// emit draws one complete block.
func (d *Doc) emit(block string) {
	lines := d.r.block(block, d.defs, d.width, 0)
	if len(lines) == 0 {
		return
	}
	if len(d.lines) > 0 && !d.glued {
		d.lines = append(d.lines, "")
	}
	d.lines = append(d.lines, lines...)
	d.glued = !blankBefore(block, len(block))
}

// open draws the unfinished block: tail and the incomplete line after it. A long one is drawn anew
// when it has grown by an eighth; what came since stands below it as plain text.
func (d *Doc) open(partial string) []string {
	if d.fence != nil {
		return d.fence.plain(d.r, d.tail, partial, d.width)
	}
	s := d.tail + partial
	if strings.TrimSpace(s) == "" {
		return nil
	}
	if len(s) < long {
		return d.r.blocks(s+"\n", "", d.width, 0)
	}
	if d.drawn == nil || len(s) >= d.drawnTo+d.drawnTo/8 {
		d.drawnTo = strings.LastIndexByte(s, '\n') + 1
		if d.drawnTo < len(s)/2 { // one endless line
			d.drawnTo = max(strings.LastIndexByte(s, ' '), 0)
		}
		d.drawn = d.r.blocks(s[:d.drawnTo]+"\n", "", d.width, 0)
	}
	rest := wrapPlain(s[min(d.drawnTo, len(s)):], d.width)
	return append(d.drawn[:len(d.drawn):len(d.drawn)], rest...)
}

// blankBefore reports whether the line that ends at n is empty.
func blankBefore(s string, n int) bool {
	before := strings.TrimSuffix(s[:n], "\n")
	return strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:]) == ""
}

var definition = regexp.MustCompile(`(?m)^ {0,3}\[[^\]\n]+\]: *\S.*$`)

// maxDefinitions bounds the definitions that are parsed again with every block.
const maxDefinitions = 8 << 10

// definitions returns the link reference definitions of a text, prepared: they may stand far from
// where they are used.
func definitions(source string) string {
	var b strings.Builder
	for _, def := range definition.FindAllString(source, -1) {
		if b.Len()+len(def) > maxDefinitions {
			break
		}
		b.WriteString(prepare(def))
		b.WriteByte('\n')
	}
	return b.String()
}
