package program

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// pinned is the form of a program that is stored with a turn: that of 1.13, except that the names
// of a file's tools stand once for each file. Repeated in each of its n tools they would take n²
// room.
type pinned struct {
	Name        string                       `json:"name,omitempty"`
	EntryToolID string                       `json:"entryToolId,omitempty"`
	ToolSet     map[string]*Tool             `json:"toolSet,omitempty"`
	LocalTools  map[string]map[string]string `json:"localTools,omitempty"` // location → name → id
}

// JSON returns the whole linked program, working folders and links included, for [FromJSON]. The
// same program always gives the same bytes.
func (p *Program) JSON() ([]byte, error) {
	out := pinned{
		Name: p.Name, EntryToolID: p.EntryToolID,
		ToolSet: make(map[string]*Tool, len(p.ToolSet)), LocalTools: map[string]map[string]string{},
	}
	for id, t := range p.ToolSet {
		short := *t
		if len(t.LocalTools) > 0 {
			out.LocalTools[t.Source.Location] = t.LocalTools
			short.LocalTools = nil
		}
		out.ToolSet[id] = &short
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	// Escapes would change the schemas, and with them the requests of a turn that goes on.
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("write program %s: %w", p.Name, err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// FromJSON reads a program that JSON wrote, or one in the form of 1.13. It loads no file. A
// program whose entry or links lead nowhere is an error.
func FromJSON(data []byte) (*Program, error) {
	var in pinned
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("read program: %w", err)
	}
	p := &Program{Name: in.Name, EntryToolID: in.EntryToolID, ToolSet: in.ToolSet}
	for id, t := range p.ToolSet {
		if t == nil || t.ID != id {
			return nil, fmt.Errorf("read program: tool %q is not stored under its id", id)
		}
		if t.LocalTools == nil {
			t.LocalTools = in.LocalTools[t.Source.Location]
		}
		for _, links := range t.ToolMapping {
			for _, r := range links {
				if p.ToolSet[r.ToolID] == nil {
					return nil, fmt.Errorf("read program: tool %q refers to %q, which is missing", id, r.ToolID)
				}
			}
		}
	}
	if p.Entry() == nil {
		return nil, fmt.Errorf("read program: the entry tool %q is missing", p.EntryToolID)
	}
	return p, nil
}
