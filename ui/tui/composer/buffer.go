package composer

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// cell is what the cursor steps over: one grapheme, a line break ("\n"), or a folded paste.
type cell struct {
	text  string
	paste *paste // nil unless the cell stands for pasted text
}

func (c cell) newline() bool { return c.paste == nil && c.text == "\n" }

func (c cell) word() bool {
	if c.paste != nil {
		return true
	}
	for _, r := range c.text {
		return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r)
	}
	return false
}

// edit is one change, kept so that it can be taken back.
type edit struct {
	at       int
	removed  []cell
	inserted []cell
	cursor   int  // before the change
	typed    bool // by keys: further typed letters join it
}

// maxUndo bounds how many changes can be taken back.
const maxUndo = 500

// buffer is the text being written, with its cursor, its undo list and its kill ring. Every change
// goes through replace.
type buffer struct {
	cells  []cell
	cursor int // index into cells, 0..len(cells)
	rev    int // counts changes of the text

	undos []edit
	kills [][]cell
	// killing says that the last action cut text, so that the next cut joins it; yanked is the
	// range the last action put in, for yank-pop.
	killing bool
	yanked  [2]int
	pop     int
}

// graphemes splits text into cells. Line ends are normalised before.
func graphemes(text string) []cell {
	cells := make([]cell, 0, len(text))
	g := -1
	for text != "" {
		var c string
		c, text, _, g = uniseg.FirstGraphemeClusterInString(text, g)
		cells = append(cells, cell{text: c})
	}
	return cells
}

// Lines turns CRLF and CR into LF, the only line end the composer knows.
func Lines(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// replace puts with in place of cells[from:to] and the cursor behind it.
func (b *buffer) replace(from, to int, with []cell, typed bool) {
	from = min(max(from, 0), len(b.cells))
	to = min(max(to, from), len(b.cells))
	if from == to && len(with) == 0 {
		return
	}
	e := edit{at: from, removed: slices.Clone(b.cells[from:to]), inserted: with, cursor: b.cursor, typed: typed}
	if !b.join(e) {
		b.undos = append(b.undos, e)
		if len(b.undos) > maxUndo {
			b.undos = slices.Delete(b.undos, 0, len(b.undos)-maxUndo)
		}
	}
	b.cells = slices.Replace(b.cells, from, to, with...)
	b.cursor = from + len(with)
	b.rev++
}

// join adds a typed letter to the last typed word, so that undo takes back words and not letters.
func (b *buffer) join(e edit) bool {
	if !e.typed || len(b.undos) == 0 || len(e.removed) > 0 {
		return false
	}
	last := &b.undos[len(b.undos)-1]
	if !last.typed || last.at+len(last.inserted) != e.at || len(last.inserted) == 0 {
		return false
	}
	if before := last.inserted[len(last.inserted)-1]; !before.word() && e.inserted[0].word() {
		return false
	}
	last.inserted = append(last.inserted, e.inserted...)
	return true
}

// insert puts typed text at the cursor. A combining sign joins the grapheme before it.
func (b *buffer) insert(text string) {
	if text == "" {
		return
	}
	if c := b.before(); c.text != "" && c.paste == nil && !c.newline() {
		if joined := graphemes(c.text + text); joined[0].text != c.text {
			b.replace(b.cursor-1, b.cursor, joined, true)
			return
		}
	}
	b.replace(b.cursor, b.cursor, graphemes(text), true)
}

func (b *buffer) before() cell {
	if b.cursor == 0 {
		return cell{}
	}
	return b.cells[b.cursor-1]
}

func (b *buffer) undo() {
	if len(b.undos) == 0 {
		return
	}
	e := b.undos[len(b.undos)-1]
	b.undos = b.undos[:len(b.undos)-1]
	b.cells = slices.Replace(b.cells, e.at, e.at+len(e.inserted), e.removed...)
	b.cursor = min(e.cursor, len(b.cells))
	b.rev++
}

func (b *buffer) lineStart() int {
	i := b.cursor
	for i > 0 && !b.cells[i-1].newline() {
		i--
	}
	return i
}

func (b *buffer) lineEnd() int {
	i := b.cursor
	for i < len(b.cells) && !b.cells[i].newline() {
		i++
	}
	return i
}

func (b *buffer) wordLeft() int {
	i := b.cursor
	for i > 0 && !b.cells[i-1].word() {
		i--
	}
	for i > 0 && b.cells[i-1].word() {
		i--
	}
	return i
}

func (b *buffer) wordRight() int {
	i := b.cursor
	for i < len(b.cells) && !b.cells[i].word() {
		i++
	}
	for i < len(b.cells) && b.cells[i].word() {
		i++
	}
	return i
}

// spaceLeft is where Ctrl+W cuts to: the start of the word, words being what spaces part.
func (b *buffer) spaceLeft() int {
	blank := func(c cell) bool { return c.paste == nil && strings.TrimSpace(c.text) == "" }
	i := b.cursor
	for i > 0 && blank(b.cells[i-1]) {
		i--
	}
	for i > 0 && !blank(b.cells[i-1]) {
		i--
	}
	return i
}

// kill cuts cells[from:to] into the ring; cuts in a row are one.
func (b *buffer) kill(from, to int) {
	if from == to {
		return
	}
	cut := slices.Clone(b.cells[from:to])
	switch {
	case b.killing && len(b.kills) > 0 && to == b.cursor:
		b.kills[0] = append(cut, b.kills[0]...)
	case b.killing && len(b.kills) > 0:
		b.kills[0] = append(b.kills[0], cut...)
	default:
		b.kills = slices.Insert(b.kills, 0, cut)
		b.kills = b.kills[:min(len(b.kills), 20)]
	}
	b.replace(from, to, nil, false)
	b.killing = true
}

func (b *buffer) yank() {
	if len(b.kills) == 0 {
		return
	}
	b.pop = 0
	b.putYank(b.cursor, b.cursor)
}

// yankPop replaces what the last action yanked by the cut before.
func (b *buffer) yankPop() {
	if b.yanked[1] == 0 || len(b.kills) == 0 {
		return
	}
	b.pop = (b.pop + 1) % len(b.kills)
	b.putYank(b.yanked[0], b.yanked[1])
}

func (b *buffer) putYank(from, to int) {
	b.replace(from, to, slices.Clone(b.kills[b.pop]), false)
	b.yanked = [2]int{from, b.cursor}
}

// set replaces the whole text; undo brings the old one back.
func (b *buffer) set(cells []cell) {
	b.replace(0, len(b.cells), slices.Clone(cells), false)
}
