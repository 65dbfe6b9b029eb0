package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// streamStep is how often at most the growing text of one reply is written.
const streamStep = 100 * time.Millisecond

// maxProgress bounds the text of one progress event: of longer ones the end is written.
const maxProgress = 64 << 10

// Stream writes the events that it reads in the event format (5.11), each followed by Separator.
type Stream struct {
	W io.Writer
	// Separator follows each JSON object: one newline, or two as GPTScript writes.
	Separator string

	texts map[string]*growing
}

// growing is the text so far of one reply or command.
type growing struct {
	parts   []growingPart
	written time.Time
	changed bool
	event   Event
}

// growingPart is a piece of a reply: text, or one call.
type growingPart struct {
	call int // -1 for text
	name string
	text strings.Builder
}

// Run writes until the reader is closed or ctx ends. Events of our own are left out.
func (s *Stream) Run(ctx context.Context, r *Reader) error {
	s.texts = map[string]*growing{}
	for {
		// Without text that waits to be written there is nothing to wake up for.
		wait, cancel := context.WithCancel(ctx)
		if s.growingNow() {
			wait, cancel = context.WithTimeout(ctx, streamStep)
		}
		events, err := r.Next(wait)
		cancel()
		for _, e := range events {
			if err := s.take(e); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, ErrClosed):
			return s.flush(true)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err := s.flush(false); err != nil {
			return err
		}
	}
}

func (s *Stream) growingNow() bool {
	for _, g := range s.texts {
		if g.changed {
			return true
		}
	}
	return false
}

// take writes a lifecycle event at once and keeps a piece of progress.
func (s *Stream) take(e Event) error {
	switch e.Type {
	case RowsChanged, Notice, Paused, Resumed, JobChanged, ServersChanged:
		return nil
	case CallProgress:
		if e.Delta != nil {
			s.grow(e)
			return nil
		}
	case CallFinish, CallChat:
		if err := s.end(e.Path); err != nil {
			return err
		}
	}
	return s.write(e)
}

// grow adds a piece to the text of its reply or command.
func (s *Stream) grow(e Event) {
	g := s.texts[e.Path]
	if g == nil || e.Delta.Kind == PieceVoid {
		g = &growing{}
		s.texts[e.Path] = g
	}
	call := -1
	if e.Delta.Kind == PieceCall {
		call = e.Delta.Call
	}
	if e.Delta.Kind == PieceReasoning || e.Delta.Kind == PieceVoid {
		return
	}
	if n := len(g.parts); n == 0 || g.parts[n-1].call != call || e.Delta.Name != "" {
		g.parts = append(g.parts, growingPart{call: call, name: e.Delta.Name})
	}
	g.parts[len(g.parts)-1].text.WriteString(e.Delta.Text)
	g.changed, g.event = true, e
}

// text is the text so far: the parts of the reply in order, one per line (5.11).
func (g *growing) text() string {
	var lines []string
	for i := range g.parts {
		p := &g.parts[i]
		if p.call < 0 {
			lines = append(lines, p.text.String())
			continue
		}
		lines = append(lines, fmt.Sprintf("<tool call> %s -> %s", p.name, p.text.String()))
	}
	text := strings.Join(lines, "\n")
	if len(text) > maxProgress {
		text = strings.ToValidUTF8(text[len(text)-maxProgress:], "")
	}
	return text
}

// flush writes the texts that have grown and were not written for a step, or all.
func (s *Stream) flush(all bool) error {
	for path := range s.texts {
		g := s.texts[path]
		if g.changed && (all || time.Since(g.written) >= streamStep) {
			if err := s.progress(g); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Stream) end(path string) error {
	g := s.texts[path]
	delete(s.texts, path)
	if g == nil || !g.changed {
		return nil
	}
	return s.progress(g)
}

func (s *Stream) progress(g *growing) error {
	g.changed, g.written = false, time.Now()
	e := g.event
	e.Content, e.Delta = g.text(), nil
	return s.write(e)
}

func (s *Stream) write(e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write event %s: %w", e.Type, err)
	}
	_, err = s.W.Write(append(line, s.Separator...))
	return err
}
