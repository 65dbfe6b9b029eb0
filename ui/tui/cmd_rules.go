package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
	rules "parley/toolrt/approval"
	"parley/ui/tui/panel"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

func ruleCommands() []command {
	return []command{
		{name: "mode", group: "permissions", args: "[ask|edits|plan|auto]", help: "what is asked before it runs", looks: true, run: (*screen).commandMode, complete: modeItems},
		{name: "permissions", group: "permissions", args: "[allow|ask|deny RULE]", help: "the rules in force: look, try, revoke, add", looks: true, run: (*screen).commandPermissions,
			complete: words("allow ", "ask ", "deny ")},
		{name: "approvals", group: "permissions", args: "[filter]", help: "what was decided about calls, and by whom", looks: true, run: (*screen).commandApprovals},
		{name: "trust", group: "permissions", help: "trust this project's settings, or not any more", looks: true, run: (*screen).commandTrust},
		{name: "sandbox", group: "permissions", help: "how commands are confined here", looks: true, run: (*screen).commandSandbox},
	}
}

// modes are what Shift+Tab goes through; auto is reached by /mode alone.
var modes = [...]string{"ask", "edits", "plan"}

func (m *screen) cycleMode() tea.Cmd {
	if m.session.chat == nil {
		return nil
	}
	i := slices.Index(modes[:], m.session.row.Mode)
	m.setMode(modes[(i+1)%len(modes)])
	return nil
}

func (m *screen) setMode(mode string) {
	if err := m.session.chat.SetMode(mode); err != nil {
		m.trouble("the mode cannot be changed", err)
		return
	}
	m.session.row = m.session.chat.Row()
	m.session.row.Mode = mode // auto is not kept in the row
	m.say("mode " + mode + ": " + modeHelp(mode))
}

func modeHelp(mode string) string {
	switch mode {
	case "ask":
		return "what only reads in the working folder runs, all else asks"
	case "edits":
		return "changes of files in the working folder run too"
	case "plan":
		return "nothing that changes anything runs"
	case "auto":
		return "everything runs unless a rule denies it or asks"
	}
	return ""
}

func modeItems(*screen) []item {
	var out []item
	for _, mode := range []string{"ask", "edits", "plan", "auto"} {
		out = append(out, item{value: mode, detail: modeHelp(mode)})
	}
	return out
}

func (m *screen) commandMode(arg string) tea.Cmd {
	switch {
	case arg == "":
		m.choice = newChoice("Mode, now "+m.session.row.Mode, modeItems(m), (*screen).commandMode)
	case arg == "auto":
		m.choice = newChoice("Run everything without asking, for this process? Deny rules still hold.",
			plainItems("no, keep asking", "yes, run everything"), func(m *screen, answer string) tea.Cmd {
				if strings.HasPrefix(answer, "yes") {
					m.setMode("auto")
				}
				return nil
			})
	case modeHelp(arg) == "":
		m.say(fmt.Sprintf("no mode %q: ask, edits, plan or auto", arg))
	default:
		m.setMode(arg)
	}
	return nil
}

// commandPermissions lists the rules in force, or adds one for this session.
func (m *screen) commandPermissions(arg string) tea.Cmd {
	r, ok := m.session.chat.(Ruled)
	if !ok {
		return m.cannot("tell its rules")
	}
	if arg != "" {
		return m.addRule(r, arg)
	}
	var items []item
	for _, rule := range r.Rules() {
		if rule.Scope != rules.Builtin {
			items = append(items, item{value: rule.ID, label: fmt.Sprintf("%-5s %s", rule.Effect, rule.String()), detail: rule.Scope.String()})
		}
	}
	if len(items) == 0 {
		m.say("no rules but parley's own: a in a question makes one, /permissions allow RULE too")
		return nil
	}
	m.choice = newChoice("Rules in force", items, func(m *screen, id string) tea.Cmd { return m.ruleChosen(r, id) })
	return nil
}

// commandSandbox shows what confines commands.
func (m *screen) commandSandbox(string) tea.Cmd {
	c, ok := m.opts.Backend.(Confiner)
	if !ok {
		return m.cannot("tell how commands are confined")
	}
	m.read(reader{title: "Sandbox", body: m.clean(strings.Join(c.SandboxFacts(), "\n"))})
	return nil
}

// addRule puts a rule in force for this session: "allow sys.exec(go test *)".
func (m *screen) addRule(r Ruled, arg string) tea.Cmd {
	word, rule, _ := strings.Cut(arg, " ")
	var effect rules.Effect
	if err := effect.UnmarshalText([]byte(word)); err != nil || strings.TrimSpace(rule) == "" {
		m.say("/permissions allow RULE, ask RULE or deny RULE adds a rule for this session, such as sys.exec(go test *)")
		return nil
	}
	return m.withRules(strings.TrimSpace(rule)+" holds in this session: "+word, func(ctx context.Context) error {
		return r.AddRule(ctx, effect, strings.TrimSpace(rule), rules.Session)
	})
}

// withRules changes the rules in a command, and says so.
func (m *screen) withRules(said string, do func(context.Context) error) tea.Cmd {
	g := gen(m.session.gen)
	return m.tasks.cmd(func(ctx context.Context) tea.Msg { return rulesChanged{g, said, do(ctx)} })
}

type rulesChanged struct {
	gen
	said string
	err  error
}

func (r rulesChanged) take(m *screen) tea.Cmd {
	m.setBatch()
	if r.err != nil {
		m.trouble("the rules are as they were", r.err)
		return nil
	}
	m.say(r.said)
	return nil
}

func (m *screen) ruleChosen(r Ruled, id string) tea.Cmd {
	all := r.Rules()
	i := slices.IndexFunc(all, func(rule rules.Rule) bool { return rule.ID == id })
	if i < 0 {
		m.say("this rule is gone")
		return nil
	}
	rule := all[i]
	m.choice = newChoice(rule.Effect.String()+" "+text.Line(rule.String()), []item{
		{value: "try", label: "try it on past calls", detail: "of this session"},
		{value: "revoke", label: "revoke it", detail: "at once, and where it is kept: " + rule.Scope.String()},
	}, func(m *screen, what string) tea.Cmd {
		if what == "revoke" {
			return m.withRules("revoked: "+rule.String(), func(ctx context.Context) error { return r.RevokeRule(ctx, id) })
		}
		g := gen(m.session.gen)
		return m.tasks.cmd(func(ctx context.Context) tea.Msg {
			calls, err := r.TryRule(ctx, rule.Effect, rule.String())
			return ruleTried{g, rule.String(), calls, err}
		})
	})
	return nil
}

type ruleTried struct {
	gen
	rule  string
	calls []record.Call
	err   error
}

func (r ruleTried) take(m *screen) tea.Cmd {
	if r.err != nil {
		m.trouble("the rule cannot be tried", r.err)
		return nil
	}
	lines := []string{fmt.Sprintf("%s would have decided about %s of this session.", text.Line(r.rule), count(len(r.calls), "call")), ""}
	for _, c := range r.calls {
		lines = append(lines, fmt.Sprintf("%-4s turn %d  %-5s %s", transcript.Word(c), c.Turn, text.Line(c.Label), transcript.Title(c)))
	}
	m.read(reader{title: "Try a rule", body: strings.Join(lines, "\n")})
	return nil
}

// maxDecisions is how many decisions /approvals lists.
const maxDecisions = 500

func (m *screen) commandApprovals(arg string) tea.Cmd {
	r, ok := m.session.chat.(Ruled)
	if !ok {
		return m.cannot("tell what was decided")
	}
	g := gen(m.session.gen)
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		list, err := r.Decisions(ctx, 0, maxDecisions)
		return decisionsRead{g, strings.ToLower(arg), list, err}
	})
}

type decisionsRead struct {
	gen
	filter string
	list   []record.Approval
	err    error
}

func (d decisionsRead) take(m *screen) tea.Cmd {
	if d.err != nil {
		m.trouble("the decisions cannot be read", d.err)
		return nil
	}
	var lines []string
	for _, a := range d.list {
		word := "ok"
		if !a.Decision.Allow {
			word = "no"
		}
		line := fmt.Sprintf("%s  %-3s turn %d  %s %s", a.Decision.At.Local().Format("01-02 15:04:05"), word, a.Turn, text.Line(a.Tool), transcript.Arguments(a.Args))
		line += "\n" + text.Spaces(20) + text.Line(panel.Decided(a.Decision))
		if strings.Contains(strings.ToLower(line), d.filter) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		m.say("nothing was decided here yet")
		return nil
	}
	m.read(reader{title: fmt.Sprintf("Decisions, newest first: %d", len(lines)), body: strings.Join(lines, "\n")})
	return nil
}

func (m *screen) commandTrust(string) tea.Cmd {
	m.choice = newChoice("This project's own settings (.parley/config.json)", []item{
		{value: "", label: "show what they would change"}, {value: "trust", label: "trust them as they are now"}, {value: "distrust", label: "do not trust them any more"},
	}, func(m *screen, what string) tea.Cmd {
		if what == "" {
			return m.report("settings", "config", "show")
		}
		return m.report("trust", "config", what)
	})
	return nil
}
