package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/persist"
	"parley/toolrt"
	"parley/ui/tui"
)

// backend opens sessions for the screen (tui.Backend).
type backend struct {
	a         *app
	ref       string // program given on the command line, "" for the embedded one
	questions *tui.Questions
}

var (
	_ tui.Backend  = (*backend)(nil)
	_ tui.Archiver = (*backend)(nil)
)

func (b *backend) Greeting() string {
	if b.ref != "" {
		return ""
	}
	return greeting
}

func (b *backend) New(ctx context.Context) (tui.Chat, error) {
	ref, _ := b.a.chooseModel(ctx) // the first line shows it
	row := b.a.newRow(b.ref, ref)
	if b.ref == "" && row.SubTool == "" {
		row.Agent = assistantName
	}
	return b.create(ctx, row)
}

func (b *backend) Open(ctx context.Context, id string) (tui.Chat, error) {
	row, err := b.a.findSession(ctx, id)
	if err != nil {
		return nil, sessionError(id, err)
	}
	journal, err := b.a.store.OpenSession(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	return b.chat(ctx, journal)
}

func (b *backend) chat(ctx context.Context, journal agent.Journal) (tui.Chat, error) {
	hub := &monitor.Hub{}
	b.a.listen(func(line string) { hub.Event(monitor.Event{Type: monitor.Notice, Text: line}) })
	s, err := b.a.openSession(ctx, journal, hub, b.questions)
	if err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	if b.a.f.model != "" {
		if err := s.SetModel(b.a.f.model); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return &screenChat{Session: s, a: b.a, store: b.a.store, hub: hub, journal: journal, outputs: journal.OutputDir(),
		program: func(ctx context.Context) (*program.Program, error) {
			row := journal.Session()
			prg, _, err := b.a.loadProgram(ctx, row.Program, row.SubTool)
			return prg, err
		}, open: b.a.opener(journal.Session())}, nil
}

func (b *backend) Sessions(ctx context.Context, all bool, text string) ([]record.Session, error) {
	return b.list(ctx, all, text, persist.WithoutArchived)
}

// Archived lists the sessions that were put away (tui.Archiver).
func (b *backend) Archived(ctx context.Context, all bool, text string) ([]record.Session, error) {
	return b.list(ctx, all, text, persist.OnlyArchived)
}

// Archive puts a session away, or takes it back (tui.Archiver).
func (b *backend) Archive(ctx context.Context, id string, archived bool) error {
	return b.a.store.Archive(ctx, id, archived)
}

func (b *backend) list(ctx context.Context, all bool, text string, archived persist.Archived) ([]record.Session, error) {
	q := persist.Query{Text: text, Limit: 500, Archived: archived}
	if !all {
		q.Dir = b.a.paths.dir
	}
	rows, err := b.a.store.Sessions(ctx, q)
	if err != nil {
		return nil, err
	}
	kept := rows[:0]
	for _, r := range rows {
		if !empty(r) {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

func (b *backend) Delete(ctx context.Context, id string) error   { return b.a.store.Delete(ctx, id) }
func (b *backend) Undelete(ctx context.Context, id string) error { return b.a.store.Undelete(ctx, id) }

func (b *backend) Rename(ctx context.Context, id, title string) error {
	row, err := b.a.store.Session(ctx, id)
	if err != nil {
		return sessionError(id, err)
	}
	return b.a.store.Rename(ctx, id, title, row.Name)
}

func (b *backend) SaveConfig(_ context.Context, key, value string) error {
	if b.a.paths.config == "" {
		return errors.New("there is no home folder to keep settings in")
	}
	return b.a.setConfig(b.a.paths.config, key, value)
}

func (b *backend) History(ctx context.Context, limit int) ([]string, error) {
	inputs, err := b.a.store.Inputs(ctx, b.ref, limit)
	for i, input := range inputs {
		inputs[i] = agent.InputText(input)
	}
	return inputs, err
}

func (b *backend) Models(ctx context.Context) ([]string, error) {
	var refs []string
	var errs []error
	for _, p := range b.a.models.Providers() {
		names, err := b.a.listModels(ctx, p)
		errs = append(errs, err)
		for _, n := range names {
			refs = append(refs, p.Name()+"/"+n)
		}
	}
	if len(refs) == 0 {
		return nil, errors.Join(errs...)
	}
	return refs, nil
}

// screenChat is an open session as the screen uses it (tui.Chat): the session, and the store for
// what is read.
type screenChat struct {
	*agent.Session
	a       *app
	store   *persist.Store
	hub     *monitor.Hub
	journal agent.Journal
	outputs string
	open    func(ref, provider string) (model.Model, error)
	program func(ctx context.Context) (*program.Program, error)
}

var (
	_ tui.Chat     = (*screenChat)(nil)
	_ tui.Windowed = (*screenChat)(nil)

	_ tui.ServerChat = (*screenChat)(nil)
	_ tui.Ruled      = (*screenChat)(nil)
	_ tui.Undoer     = (*screenChat)(nil)
	_ tui.ToolRunner = (*screenChat)(nil)
	_ tui.Customized = (*screenChat)(nil)
)

// Send runs a turn, and another one for what was handed over too late to enter it.
func (c *screenChat) Send(ctx context.Context, text string) error {
	_, err := c.Session.Send(ctx, text)
	return c.goOn(ctx, err)
}

// RunShell and RunTool run what the person asks for (tui.ToolRunner).
func (c *screenChat) RunShell(ctx context.Context, command string) error {
	_, err := c.Session.RunShell(ctx, command)
	return c.goOn(ctx, err)
}

func (c *screenChat) RunTool(ctx context.Context, tool, args string) error {
	_, err := c.Session.RunTool(ctx, tool, args)
	return c.goOn(ctx, err)
}

func (c *screenChat) Resume(ctx context.Context) error {
	_, err := c.Session.Resume(ctx)
	return c.goOn(ctx, err)
}

func (c *screenChat) Back(ctx context.Context, text string) error {
	_, err := c.Session.Back(ctx, text)
	return c.goOn(ctx, err)
}

func (c *screenChat) Compact(ctx context.Context, hint string) error {
	_, err := c.Session.Compact(ctx, hint)
	return c.goOn(ctx, err)
}

// goOn runs a further turn for what was handed over too late. After a turn that was not finished it
// stays with the session: the screen gives it back.
func (c *screenChat) goOn(ctx context.Context, err error) error {
	for err == nil && c.LastStatus() == record.TurnDone {
		left := c.LeftOver()
		if len(left) == 0 {
			break
		}
		_, err = c.Session.Send(ctx, strings.Join(left, "\n\n"))
	}
	return err
}

func (c *screenChat) Shown(ctx context.Context, before int64, limit int) ([]record.Message, []record.Call, error) {
	id := c.Row().ID
	messages, err := c.store.ShownMessages(ctx, id, before, limit)
	if err != nil || len(messages) == 0 {
		return nil, nil, err
	}
	from, to := messages[0].Turn, messages[0].Turn
	for _, m := range messages {
		from, to = min(from, m.Turn), max(to, m.Turn)
	}
	calls, err := c.store.TurnCalls(ctx, id, from, to)
	return messages, calls, err
}

func (c *screenChat) Calls(ctx context.Context, from, to int) ([]record.Call, error) {
	return c.store.TurnCalls(ctx, c.Row().ID, from, to)
}

func (c *screenChat) Inner(ctx context.Context, path string) ([]record.Message, error) {
	return c.store.ConversationMessages(ctx, c.Row().ID, path, 0, 1000)
}

// outputLines is how many lines of a saved output are shown.
const outputLines = 100_000

func (c *screenChat) Output(ctx context.Context, path string) (string, error) {
	call, err := c.store.Call(ctx, c.Row().ID, path)
	if err != nil {
		return "", err
	}
	if call.OutputID == "" {
		return call.Result, nil
	}
	out, err := toolrt.OpenOutput(c.outputs, call.OutputID)
	if err != nil {
		return call.Result, nil // the file was removed: what the model got is left
	}
	defer func() { _ = out.Close() }() // opened for reading
	lines, total, err := out.Lines(1, outputLines, 64<<20)
	if err != nil {
		return "", fmt.Errorf("read output of call %s: %w", path, err)
	}
	text := strings.Join(lines, "\n")
	if total > len(lines) {
		text += fmt.Sprintf("\n[%d more lines]", total-len(lines))
	}
	return text, nil
}

// Window is the context window of the session's model in tokens, zero when it is unknown.
func (c *screenChat) Window() int {
	m, err := c.open(c.Row().Model, "")
	if err != nil {
		return 0
	}
	return m.Info().ContextWindow
}

// Close releases the session. One in which nothing was ever said leaves no trace.
func (c *screenChat) Close() error {
	err := c.Session.Close()
	c.hub.Close()
	row := c.Row()
	if empty(row) {
		err = errors.Join(err, c.store.Purge(context.Background(), row.ID))
	}
	return err
}
