package agent

import (
	"parley/agent/program"
)

// callState is what is kept of an open call between turns: the tree of these is the chat state.
// Messages stand in the call's conversation; the state only says how many of them count.
type callState struct {
	Path     string `json:"path"`
	ToolID   string `json:"toolID"`
	WireID   string `json:"wireID,omitempty"`
	Label    string `json:"label,omitempty"`
	ToolName string `json:"toolName,omitempty"` // by which the caller names it
	Category string `json:"category,omitempty"`
	Turn     int    `json:"turn"`              // in which the call started
	Created  int64  `json:"created,omitempty"` // unix milliseconds
	// Input is the call's input as it came, Start the same after its input filters, Latest the
	// newest text of the person as typed.
	Input  string  `json:"input,omitempty"`
	Start  string  `json:"start,omitempty"`
	Latest *string `json:"latest,omitempty"`
	// Messages is the length of the conversation, Rounds how many replies it holds.
	Messages int `json:"messages,omitempty"`
	Rounds   int `json:"rounds,omitempty"`
	// Result is the text last shown by a call that waits for the person.
	Result *string `json:"result,omitempty"`
	// Final is the result of a call that has ended; then only Path, ToolID and WireID are set
	// beside it.
	Final   *string             `json:"final,omitempty"`
	IsError bool                `json:"isError,omitempty"`
	Group   []program.Reference `json:"group,omitempty"`
	// Subs are the calls of the last reply, in its order, while one of them is open; Open is the
	// path of the one that talks to the person.
	Subs []*callState `json:"subs,omitempty"`
	Open string       `json:"open,omitempty"`
	// Digest stands for the oldest part of the conversation in requests, nil while all is sent.
	Digest *digest `json:"digest,omitempty"`

	// cutOff says that the reply that made the call ended at its length limit.
	cutOff bool
	// clear is the argument text as the model wrote it, where Input has marks in the place of secret
	// arguments.
	clear string
}

// deepest follows the open calls down to the one that talks to the person.
func (s *callState) deepest() *callState {
	for s.Open != "" {
		next := s.sub(s.Open)
		if next == nil {
			return s
		}
		s = next
	}
	return s
}

// chain returns the open calls from s down to the one that talks to the person.
func (s *callState) chain() []*callState {
	chain := []*callState{s}
	for s.Open != "" {
		if s = s.sub(s.Open); s == nil {
			break
		}
		chain = append(chain, s)
	}
	return chain
}

func (s *callState) sub(path string) *callState {
	for _, sub := range s.Subs {
		if sub.Path == path {
			return sub
		}
	}
	return nil
}

// tools calls yield with the id of every tool the state needs.
func (s *callState) tools(yield func(id string)) {
	if s.Final == nil {
		yield(s.ToolID)
	}
	for _, sub := range s.Subs {
		sub.tools(yield)
	}
}
