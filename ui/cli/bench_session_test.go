package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/persist"
	"parley/toolrt"
)

// lastWords end the last message of a stored session: one character, see lastToken.
const lastWords = "▞"

// session is the id of a stored session of so many messages: turns of a question, a call, its
// result and a reply. It is stored once.
func (b *bench) session(t *testing.T, messages int) string {
	t.Helper()
	ctx := context.Background()
	id := fmt.Sprintf("0bec%04x-0000-7000-8000-%012d", messages&0xffff, messages)
	store, err := persist.Open(ctx, filepath.Join(b.home, ".local", "share", "parley", "parley.db"), persist.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	if _, err := store.Session(ctx, id); err == nil {
		return id
	}
	now := time.Now()
	j, err := store.Create(ctx, record.Session{ID: id, Title: fmt.Sprint(messages, " messages"), Dir: b.home,
		Workspace: filepath.Join(b.home, "workspace"), Model: "offline/parley", Mode: "ask", Agent: "assistant",
		State: record.StateIdle, Created: now, Updated: now})
	if err != nil {
		t.Fatal(err)
	}
	for turn := 1; turn <= messages/4; turn++ {
		if err := storeTurn(ctx, j, turn, turn == messages/4); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return id
}

// storeTurn stores a turn as the runner leaves it.
func storeTurn(ctx context.Context, j agent.Journal, number int, last bool) error {
	now, first, round := time.Now(), (number-1)*4, number*2-1
	input := fmt.Sprintf("Question %d: what does that file say about the weather?", number)
	reply := fmt.Sprintf("Answer %d. The file says **this**:\n\n- rain in the *morning*, `12` mm\n- sun in the afternoon\n\n%s", number,
		strings.Repeat("Some words of a longer paragraph that has to be wrapped. ", 4))
	if last {
		reply += "\n\n" + lastWords
	}
	wire := model.ToolCall{ID: fmt.Sprint("call_", number), Function: model.Function{Name: "read", Arguments: `{"filename":"weather.txt"}`}}
	result := strings.Repeat("rain in the morning, sun in the afternoon\n", 10)
	rows := record.Rows{Calls: []record.Call{
		{Path: "1", Turn: 1, Tool: "assistant", ToolID: "parley:assistant", Agent: true, Chat: true, Status: toolrt.StatusSuccess,
			Result: reply, Created: now, Started: now, Finished: now},
		{Path: fmt.Sprintf("1/%d.0", round), Parent: "1", Turn: number, Label: fmt.Sprint(round), Round: round, WireID: wire.ID, Tool: "sys.read",
			ToolID: "sys.read", Display: "Reading `weather.txt`", Input: wire.Function.Arguments, Status: toolrt.StatusSuccess,
			Result: result, OutputBytes: int64(len(result)), OutputLines: 10, Created: now, Started: now, Finished: now},
	}}
	for i, m := range []model.Message{
		model.TextMessage(model.User, input),
		{Role: model.Assistant, Content: []model.Part{{ToolCall: &wire}}},
		{Role: model.ToolRole, Content: []model.Part{{Text: result}}, ToolCall: &wire},
		model.TextMessage(model.Assistant, reply),
	} {
		rows.Messages = append(rows.Messages, record.Message{Conversation: "1", Index: first + i, Turn: number, Agent: "assistant",
			Shown: true, Message: m, Time: now, Model: "offline/parley"})
	}
	state, err := json.Marshal(map[string]any{"path": "1", "toolID": "parley:assistant", "turn": 1, "input": input, "start": input,
		"messages": first + 4, "rounds": number * 2, "result": reply})
	if err != nil {
		return err
	}
	t := record.Turn{Session: j.Session().ID, Number: number, Input: input, Model: "offline/parley", Version: 1, Status: record.TurnOpen, Started: now}
	if err := j.BeginTurn(ctx, t, record.Rows{}); err != nil {
		return err
	}
	t.Status, t.State, t.Output, t.Finished = record.TurnDone, state, reply, now
	return j.EndTurn(ctx, t, rows)
}
