package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/agent/record"
)

// describe says in what an effect differs from the recorded one.
func (p *played) describe(ctx context.Context, ef effect, old, now record.Entry) Difference {
	c := p.calls[ef.key.Path]
	d := Difference{Path: ef.key.Path, Label: c.Label, Tool: c.Tool, Kind: ef.kind}
	if d.Tool == "" {
		if open := p.turn.call(ef.key.Path); open != nil {
			d.Tool = open.name()
		}
	}
	var was, is map[string]json.RawMessage
	if json.Unmarshal(old.Request, &was) != nil || json.Unmarshal(now.Request, &is) != nil {
		d.What, d.Recorded, d.Now = "differs", string(old.Request), string(now.Request)
		return d
	}
	for _, key := range slices.Sorted(maps.Keys(union(was, is))) {
		if bytes.Equal(was[key], is[key]) {
			continue
		}
		d.What, d.Recorded, d.Now = "differs in "+key, string(was[key]), string(is[key])
		switch key {
		case "system", "tools":
			d.What = "differs in its " + map[string]string{"system": "instructions", "tools": "list of tools"}[key]
			d.Recorded, d.Now = firstDifference(p.textOf(ctx, was[key]), p.textOf(ctx, is[key]))
		case "chain":
			p.firstMessage(ctx, ef.key.Path, &d)
		case "to":
			continue // the conversation is what tells
		}
		return d
	}
	d.What = "differs in its form: it was recorded by another version of parley"
	return d
}

func union(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// textOf is the text that a request names by its hash: one in the store, or one of this walk.
func (p *played) textOf(ctx context.Context, quoted json.RawMessage) string {
	var hash string
	if json.Unmarshal(quoted, &hash) != nil || hash == "" {
		return ""
	}
	p.turn.mu.Lock()
	pending := p.turn.pending.Texts
	p.turn.mu.Unlock()
	for _, text := range pending {
		if text.Hash == hash {
			return text.Body
		}
	}
	text, err := p.turn.s.journal.Text(ctx, hash)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return text
}

// firstMessage finds the first message of a conversation that is not the recorded one.
func (p *played) firstMessage(ctx context.Context, path string, d *Difference) {
	d.What = "differs in its conversation"
	c := p.turn.call(path)
	if c == nil || c.conv == nil {
		return
	}
	rows, err := p.turn.s.journal.Messages(ctx, path, len(c.conv.messages))
	if err != nil {
		return
	}
	for i, m := range c.conv.messages {
		is, _ := json.Marshal(m) // a message is plain data
		var was []byte
		if i < len(rows) {
			was, _ = json.Marshal(rows[i].Message)
		}
		if !bytes.Equal(was, is) {
			d.What = fmt.Sprintf("differs in its conversation, message %d (%s)", i, m.Role)
			d.Recorded, d.Now = firstDifference(string(was), string(is))
			return
		}
	}
	d.What = "differs in its conversation: a stored message was changed"
}

// firstDifference cuts two texts down to where they part, each a line.
func firstDifference(a, b string) (string, string) {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	return around(a, at), around(b, at)
}

// around is the part of a text about a place, as one line.
func around(text string, at int) string {
	const before, after = 30, 90
	start, end := max(0, at-before), min(len(text), at+after)
	part := strings.ToValidUTF8(text[start:end], "")
	if start > 0 {
		part = "…" + part
	}
	if end < len(text) {
		part += "…"
	}
	return strings.Join(strings.Fields(part), " ")
}
