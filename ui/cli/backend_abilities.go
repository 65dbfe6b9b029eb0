package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"parley/agent/model"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt/sys"
	"parley/ui/tui"
	"parley/ui/tui/text"
)

var (
	_ tui.Journaled    = (*screenChat)(nil)
	_ tui.Spender      = (*screenChat)(nil)
	_ tui.Backgrounder = (*screenChat)(nil)
	_ tui.Programmed   = (*screenChat)(nil)
	_ tui.Contextual   = (*screenChat)(nil)

	_ tui.FileLister = (*backend)(nil)
	_ tui.Forker     = (*backend)(nil)
	_ tui.Starter    = (*backend)(nil)
	_ tui.Exporter   = (*backend)(nil)
	_ tui.Reporter   = (*backend)(nil)
	_ tui.Catalogue  = (*backend)(nil)
	_ tui.Previewer  = (*backend)(nil)
	_ tui.RuleKeeper = (*screenChat)(nil)
	_ tui.Thoughtful = (*screenChat)(nil)
	_ tui.Hooked     = (*screenChat)(nil)
	_ tui.Changer    = (*screenChat)(nil)
	_ tui.Confiner   = (*backend)(nil)
)

// Entries reads the effects of a turn (tui.Journaled).
func (c *screenChat) Entries(ctx context.Context, turn int) ([]record.Entry, error) {
	return c.journal.Entries(ctx, turn)
}

// Spent says what the session has used (tui.Spender).
func (c *screenChat) Spent(ctx context.Context) ([]record.Spent, error) {
	return c.store.Spent(ctx, c.Row().ID)
}

// ProgramParts lists the agents and tools of the program as it is now (tui.Programmed).
func (c *screenChat) ProgramParts(ctx context.Context) ([]tui.ProgramPart, error) {
	prg, err := c.program(ctx)
	if err != nil {
		return nil, err
	}
	entry := prg.EntryAgent()
	seen := map[string]bool{}
	var parts []tui.ProgramPart
	add := func(name string, t *program.Tool, isEntry bool) {
		if name != "" && !seen[name] && t != nil {
			seen[name] = true
			parts = append(parts, tui.ProgramPart{Name: name, Description: oneLine(t.Description), Agent: t.IsPrompt(), Entry: isEntry})
		}
	}
	if entry != nil {
		add(firstSet(entry.Name, c.Row().Agent), entry, true)
		for _, o := range prg.Offered(entry, prg.Agents(prg.Entry())) {
			add(strings.TrimPrefix(o.Name, "@"), o.Tool, false)
		}
	}
	return parts, nil
}

// sent is what a completion's record tells of its request.
type sent struct {
	System       string `json:"system"`
	Tools        string `json:"tools"`
	Conversation string `json:"conversation"`
	From         int    `json:"from"`
	To           int    `json:"to"`
}

// ContextParts measures what the model was sent last (tui.Contextual).
func (c *screenChat) ContextParts(ctx context.Context) ([]tui.ContextPart, error) {
	row := c.Row()
	var last sent
	for turn := row.Turns; turn > 0 && last.Conversation == ""; turn-- {
		entries, err := c.journal.Entries(ctx, turn)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			var one sent
			if e.Kind == record.EntryCompletion && json.Unmarshal(e.Request, &one) == nil && one.Conversation != "" {
				last = one
			}
		}
	}
	if last.Conversation == "" {
		return nil, nil
	}
	parts := []tui.ContextPart{{Name: "system and contexts"}, {Name: "tools"}, {Name: "you"}, {Name: "replies"}, {Name: "reasoning"}, {Name: "tool calls"}, {Name: "tool results"}}
	for i, hash := range []string{last.System, last.Tools} {
		if hash == "" {
			continue
		}
		body, err := c.journal.Text(ctx, hash)
		if err != nil {
			return nil, err
		}
		parts[i].Bytes = len(body)
	}
	messages, err := c.journal.Messages(ctx, last.Conversation, last.To)
	if err != nil {
		return nil, err
	}
	for _, m := range messages[min(last.From, len(messages)):] {
		measure(parts, m.Message)
	}
	return parts, nil
}

// measure adds the length of a message to the parts that ContextParts lists.
func measure(parts []tui.ContextPart, m model.Message) {
	const you, replies, reasoning, calls, results = 2, 3, 4, 5, 6
	add := func(part, bytes int) {
		if bytes > 0 {
			parts[part].Bytes += bytes
			parts[part].Count++
		}
	}
	switch m.Role {
	case model.User:
		add(you, len(m.Text()))
	case model.ToolRole:
		add(results, len(m.Text()))
	case model.Assistant:
		add(replies, len(m.Text()))
		for _, r := range m.Reasoning {
			add(reasoning, len(r.Text))
		}
		for _, c := range m.Calls() {
			add(calls, len(c.Function.Name)+len(c.Function.Arguments))
		}
	}
}

// Files lists the files of the working folder (tui.FileLister).
func (b *backend) Files(ctx context.Context, visit func(rel string) error) error {
	dir, err := filepath.EvalSymlinks(b.a.paths.dir)
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	return sys.Files(ctx, dir, visit)
}

// Fork opens a copy of a session (tui.Forker).
func (b *backend) Fork(ctx context.Context, id string, seq int64) (tui.Chat, error) {
	row := b.a.newRow("", "")
	row.Mode = ""
	journal, err := b.a.store.Fork(ctx, id, seq, row)
	if err != nil {
		return nil, err
	}
	return b.chat(ctx, journal)
}

// NewWith starts a session that begins with another agent of the program (tui.Starter).
func (b *backend) NewWith(ctx context.Context, agent string) (tui.Chat, error) {
	prg, _, err := b.a.loadProgram(ctx, b.ref, agent)
	if err != nil {
		return nil, b.a.loadError(b.ref, err)
	}
	if entry := prg.EntryAgent(); entry == nil || !entry.IsPrompt() {
		return nil, fmt.Errorf("%s is no agent of the program", text.Line(agent))
	}
	ref, _ := b.a.chooseModel(ctx)
	row := b.a.newRow(b.ref, ref)
	row.SubTool = agent
	return b.create(ctx, row)
}

// NewProgram starts a session of another program (tui.Starter).
func (b *backend) NewProgram(ctx context.Context, name string) (tui.Chat, error) {
	program := b.a.programRef(name)
	if _, _, err := b.a.loadProgram(ctx, program, ""); err != nil {
		return nil, b.a.loadError(program, err)
	}
	ref, _ := b.a.chooseModel(ctx)
	return b.create(ctx, b.a.newRow(program, ref))
}

func (b *backend) create(ctx context.Context, row record.Session) (tui.Chat, error) {
	journal, err := b.a.store.Create(ctx, row)
	if err != nil {
		return nil, err
	}
	return b.chat(ctx, journal)
}

// exportFormats are the formats of a session in a file, with the ends of their names.
var exportFormats = map[string]string{"markdown": ".md", "json": ".json", "html": ".html", "events": ".jsonl"}

// ExportFormats lists the formats of Export (tui.Exporter).
func (b *backend) ExportFormats() []string { return []string{"markdown", "json", "html", "events"} }

// Export writes a session to a new file of the working folder (tui.Exporter).
func (b *backend) Export(ctx context.Context, id, format string) (path string, err error) {
	if format == "md" {
		format = "markdown"
	}
	end, ok := exportFormats[format]
	if !ok {
		return "", fmt.Errorf("there is no format %q: %s", format, strings.Join(b.ExportFormats(), " or "))
	}
	args := []string{"sessions", "export", id, "--format", format}
	if format == "events" {
		args = []string{"replay", id, "--output", "events", "--quiet"}
	}
	out, err := b.Report(ctx, args...)
	if err != nil {
		return "", err
	}
	for n := 1; n < 1000; n++ {
		name := "parley-" + id[:min(len(id), 8)]
		if n > 1 {
			name += fmt.Sprintf("-%d", n)
		}
		path = filepath.Join(b.a.paths.dir, name+end)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("write the session: %w", err)
		}
		_, err = f.WriteString(out)
		return path, errors.Join(err, f.Close())
	}
	return "", fmt.Errorf("there are too many exports in %s", b.a.paths.dir)
}

// Report carries out a command of the command line in this process, with the same database, folder
// and settings (tui.Reporter).
func (b *backend) Report(ctx context.Context, args ...string) (string, error) {
	f := b.a.f
	args = append(args, "--chdir", b.a.paths.dir)
	for _, set := range [][2]string{{"--db", f.db}, {"--config", f.config}, {"--model", f.model}, {"--base-url", f.baseURL}} {
		if set[1] != "" {
			args = append(args, set[0], set[1])
		}
	}
	var out bytes.Buffer
	root := newRoot(streams{in: strings.NewReader(""), out: &out, err: &out, getenv: b.a.io.getenv})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if errors.Is(err, errSaid) {
		err = nil
	}
	return out.String(), err
}

// ModelInfos describes the models that can be chosen (tui.Catalogue).
func (b *backend) ModelInfos(ctx context.Context) ([]model.Info, error) {
	refs, err := b.Models(ctx)
	infos := make([]model.Info, 0, len(refs))
	open := b.a.opener(record.Session{})
	for _, ref := range refs {
		info := model.Info{Ref: ref}
		if m, err := open(ref, ""); err == nil {
			info = m.Info()
			info.Ref = ref
		}
		infos = append(infos, info)
	}
	return infos, err
}

// Preview returns the end of a session's conversation (tui.Previewer).
func (b *backend) Preview(ctx context.Context, id string, limit int) ([]record.Message, error) {
	return b.a.store.ShownMessages(ctx, id, 0, limit)
}
