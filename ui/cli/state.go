package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"parley/agent"
)

// stateResponse is a turn's response as scripts read it (5.1).
type stateResponse struct {
	Done    bool            `json:"done"`
	Content string          `json:"content"`
	ToolID  string          `json:"toolID"`
	State   json.RawMessage `json:"state"`
}

// stateless reports whether the response with its state goes to stdout.
func (h *headless) stateless() bool {
	to := h.a.f.saveState
	return to == "-" || to == "stdout"
}

// importState makes what --chat-state gives the state of the new session: a file, the state itself,
// or a whole response of an earlier run (Q24).
func (h *headless) importState(ctx context.Context) error {
	given := strings.TrimSpace(h.a.f.chatState)
	if given == "" || given == "null" {
		return nil
	}
	data := []byte(given)
	if !strings.HasPrefix(given, "{") && !strings.HasPrefix(given, `"`) {
		var err error
		if data, err = os.ReadFile(expand(h.a.paths.dir, given)); errors.Is(err, fs.ErrNotExist) && given == h.a.f.saveState {
			return nil // the first turn of a script that keeps its state there
		} else if err != nil {
			return usagef("read the chat state: %w", err)
		}
	}
	if data = unwrapState(data); data == nil {
		return nil
	}
	return h.session.Import(ctx, data)
}

// unwrapState finds the state in what scripts keep: the state itself, a whole response around it, or
// the JSON text of either as a string. Nil is none.
func unwrapState(data []byte) []byte {
	for range 4 { // how deep it may be wrapped
		var text string
		var response struct {
			State        json.RawMessage `json:"state"`
			Done         *bool           `json:"done"`
			Continuation json.RawMessage `json:"continuation"`
		}
		switch {
		case json.Unmarshal(data, &text) == nil:
			data = []byte(text)
		case json.Unmarshal(data, &response) == nil && response.Continuation == nil && (len(response.State) > 0 || response.Done != nil):
			data = response.State
		}
		if trimmed := strings.TrimSpace(string(data)); trimmed == "" || trimmed == "null" {
			return nil
		}
	}
	return data
}

// exportState returns the chat state after the turn where it is asked for, and keeps it in the file
// of --save-chat-state-file. A finished program has none: the file is removed.
func (h *headless) exportState(ctx context.Context, turnErr error) (json.RawMessage, error) {
	to := h.a.f.saveState
	if to == "" || turnErr != nil {
		return nil, nil
	}
	state, err := h.session.StateJSON(context.WithoutCancel(ctx))
	if err != nil || h.stateless() {
		return state, err
	}
	path := expand(h.a.paths.dir, to)
	if state == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("remove the chat state of a finished chat: %w", err)
		}
		return nil, nil
	}
	return state, writeFile(path, append(state, '\n'))
}

// dumpState writes the chat that was opened last, its messages and calls, to the file of
// --dump-state.
func (a *app) dumpState(ctx context.Context) error {
	id := a.opened.Load()
	if id == nil {
		return nil
	}
	row, err := a.store.Session(ctx, *id)
	if err != nil {
		return fmt.Errorf("write the chat to %s: %w", a.f.dumpState, err)
	}
	chat, err := a.exported(ctx, row)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := printJSON(&out, chat); err != nil {
		return err
	}
	return writeFile(expand(a.paths.dir, a.f.dumpState), out.Bytes())
}

// printState prints the response with its state.
func printState(out io.Writer, resp agent.Response, state json.RawMessage, err error) error {
	if err != nil && state == nil && resp.Content == "" {
		return nil
	}
	if state == nil {
		state = json.RawMessage("null")
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(stateResponse{Done: resp.Done, Content: resp.Content, ToolID: resp.ToolID, State: state})
}
