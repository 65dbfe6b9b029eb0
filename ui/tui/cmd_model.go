package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	llm "parley/agent/model"
	"parley/ui/tui/keymap"
)

func modelCommands() []command {
	return []command{
		{name: "model", group: "model", args: "[provider/name]", help: "the model, from the next turn on", looks: true, run: (*screen).commandModel},
		{name: "effort", group: "model", args: "[default|low|medium|high]", help: "how much the model thinks, from the next turn on", looks: true, run: (*screen).commandEffort, complete: effortItems},
		{name: "compact", group: "model", args: "[hint]", help: "sum up the older part of the chat for the model", run: (*screen).commandCompact},
		{name: "context", group: "model", help: "what fills the model's context", looks: true, run: (*screen).commandContext},
		{name: "cost", aliases: []string{"usage"}, group: "model", help: "tokens, cost and time by agent, model and tool", looks: true, run: (*screen).commandCost},
	}
}

func (m *screen) commandCompact(arg string) tea.Cmd {
	chat := m.session.chat
	return m.startTurn("", func(ctx context.Context) error { return chat.Compact(ctx, arg) })
}

// commandModel sets the model, or lists those there are with what they take and cost.
func (m *screen) commandModel(arg string) tea.Cmd {
	switch {
	case m.session.chat == nil:
		return nil
	case arg != "":
		m.setModel(arg)
		return nil
	}
	backend, g, now := m.opts.Backend, gen(m.session.gen), m.session.row.Model
	m.say("asking the providers for their models" + m.style.Glyphs.Ellipsis)
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		items, err := modelItems(ctx, backend, now)
		c := newChoice("Model from the next turn on", items, func(m *screen, ref string) tea.Cmd { m.setModel(ref); return nil })
		c.empty = "no provider named a model: /model PROVIDER/NAME takes any"
		return modelsLoaded{choiceLoaded{g, c, err}}
	})
}

// modelsLoaded opens the list of models in place of the line that said that it comes.
type modelsLoaded struct{ choiceLoaded }

func (l modelsLoaded) take(m *screen) tea.Cmd {
	m.note = note{}
	return l.choiceLoaded.take(m)
}

func modelItems(ctx context.Context, backend Backend, now string) ([]item, error) {
	var items []item
	if c, ok := backend.(Catalogue); ok {
		infos, err := c.ModelInfos(ctx)
		for _, i := range infos {
			items = append(items, item{value: i.Ref, detail: modelFacts(i, now)})
		}
		return items, err
	}
	names, err := backend.Models(ctx)
	return plainItems(names...), err
}

// modelFacts are what a model takes and costs, in columns.
func modelFacts(i llm.Info, now string) string {
	facts := ""
	if i.ContextWindow > 0 {
		facts = fmt.Sprintf("%6s context", kilo(i.ContextWindow))
	}
	if i.InputMicros > 0 || i.OutputMicros > 0 {
		facts += fmt.Sprintf("  $%.2f in  $%.2f out per million", i.InputMicros, i.OutputMicros)
	}
	if i.Ref == now {
		facts += "  now"
	}
	return strings.TrimLeft(facts, " ")
}

func (m *screen) setModel(ref string) {
	if err := m.session.chat.SetModel(ref); err != nil {
		m.trouble("the model cannot be changed", err)
		return
	}
	m.session.row = m.session.chat.Row()
	m.say("model " + ref + " from the next turn on")
}

func (m *screen) commandCost(string) tea.Cmd {
	m.panelOpen = true
	m.setFocus(onPanel)
	return m.panel.ShowUsage()
}

// commandContext shows what fills the context.
func (m *screen) commandContext(string) tea.Cmd {
	c, ok := m.session.chat.(Contextual)
	if !ok {
		return m.cannot("tell what fills the context")
	}
	g := gen(m.session.gen)
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		parts, err := c.ContextParts(ctx)
		return contextRead{g, parts, err}
	})
}

type contextRead struct {
	gen
	parts []ContextPart
	err   error
}

func (c contextRead) take(m *screen) tea.Cmd {
	switch {
	case c.err != nil:
		m.trouble("the context cannot be read", c.err)
	case len(c.parts) == 0:
		m.say("nothing was sent to the model yet")
	default:
		parts := c.parts
		m.read(reader{title: "Context of " + m.session.row.Model, lines: func(w int) []string { return m.contextText(parts, w) }})
	}
	return nil
}

// bytesPerToken is what a token takes on average.
const bytesPerToken = 3.8

// contextText draws the parts as bars of one scale: that of the window if it is known.
func (m *screen) contextText(parts []ContextPart, w int) []string {
	total, window := 0, 0
	for _, p := range parts {
		total += int(float64(p.Bytes) / bytesPerToken)
	}
	if win, ok := m.session.chat.(Windowed); ok {
		window = win.Window()
	}
	scale := max(window, total, 1)
	cells := min(max(w-48, 4), 50)
	lines := []string{}
	row := func(name string, n int, note string) {
		full := min((n*cells+scale/2)/scale, cells)
		if n > 0 {
			full = max(full, 1)
		}
		bar := m.style.Accent.Render(strings.Repeat(m.style.Glyphs.BarFull, full)) + m.style.Border.Render(strings.Repeat(m.style.Glyphs.BarEmpty, cells-full))
		lines = append(lines, fmt.Sprintf(" %-20s %6s %3d%%  %s  %s", name, kilo(n), n*100/scale, bar, m.style.Muted.Render(note)))
	}
	for _, p := range parts {
		note := ""
		if p.Count > 0 {
			note = fmt.Sprint(p.Count)
		}
		row(p.Name, int(float64(p.Bytes)/bytesPerToken), note)
	}
	lines = append(lines, "")
	row("in all", total, "")
	if window > 0 {
		row("free", max(window-total, 0), "of "+kilo(window))
	}
	lines = append(lines, "", " "+m.style.Muted.Render("Estimated from the length of the texts. The last request had "+kilo(m.session.row.Context)+" tokens."),
		" "+m.style.Muted.Render("/compact sums up the older part; the originals stay readable."))
	if key := m.keys.Key(keymap.Model); key != "" {
		lines = append(lines, " "+m.style.Muted.Render(key+" chooses a model with another window."))
	}
	return lines
}

func effortItems(*screen) []item {
	details := map[llm.Effort]string{"": "as the model does by itself", llm.EffortLow: "quick and cheap", llm.EffortHigh: "slow and thorough"}
	var items []item
	for _, e := range llm.Efforts() {
		items = append(items, item{value: e.String(), detail: details[e]})
	}
	return items
}

// commandEffort sets how much the model thinks, or asks which it shall be.
func (m *screen) commandEffort(arg string) tea.Cmd {
	if arg == "" {
		m.choice = newChoice("Thinking from the next turn on, now "+m.session.row.Effort.String(), effortItems(m), (*screen).commandEffort)
		return nil
	}
	e, err := llm.ParseEffort(arg)
	if err != nil {
		m.say(err.Error())
		return nil
	}
	m.setEffort(e)
	return nil
}

func (m *screen) setEffort(e llm.Effort) {
	chat, ok := m.session.chat.(Thoughtful)
	if !ok {
		m.cannot("say how much the model thinks")
		return
	}
	if err := chat.SetEffort(e); err != nil {
		m.trouble("the effort cannot be changed", err)
		return
	}
	m.session.row = m.session.chat.Row()
	m.say("effort " + e.String() + " from the next turn on")
}

// stepEffort goes to more thinking or less.
func (m *screen) stepEffort(by int) tea.Cmd {
	if m.session.chat == nil {
		return nil
	}
	all := llm.Efforts()
	at := slices.Index(all, m.session.row.Effort) + by
	if at < 0 || at >= len(all) {
		m.say("effort " + m.session.row.Effort.String() + " is the last one this way")
		return nil
	}
	m.setEffort(all[at])
	return nil
}
