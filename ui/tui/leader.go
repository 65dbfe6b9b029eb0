package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/keymap"
	"parley/ui/tui/text"
)

// leaderWait is how long after the leader key its menu is shown.
const leaderWait = 400 * time.Millisecond

// leader is the state of the leader key.
type leader struct {
	on, menu bool
	tag      int
}

// leaderDue says that no key came since the leader key.
type leaderDue struct{ tag int }

func (l leaderDue) apply(m *screen) tea.Cmd {
	if m.leader.on && m.leader.tag == l.tag {
		m.leader.menu = true
	}
	return nil
}

// startLeader waits for the key after the leader key.
func (m *screen) startLeader() tea.Cmd {
	m.leader = leader{on: true, tag: m.leader.tag + 1}
	return m.tasks.after(leaderWait, leaderDue{m.leader.tag})
}

// leaderCommands are the commands behind the leader key.
var leaderCommands = map[keymap.Action]string{
	keymap.LeaderSessions: "resume", keymap.LeaderNew: "new", keymap.LeaderFork: "fork", keymap.LeaderRename: "rename",
	keymap.LeaderTimeline: "timeline", keymap.LeaderAgents: "agents", keymap.LeaderHandOver: "handoff",
	keymap.LeaderPermissions: "permissions", keymap.LeaderCredentials: "creds", keymap.LeaderModel: "model",
	keymap.LeaderUndo: "undo", keymap.LeaderQueue: "queue", keymap.LeaderExport: "export", keymap.LeaderUsage: "cost",
	keymap.LeaderBackground: "bg", keymap.LeaderSearch: "search",
}

// leaderKey takes the key after the leader key.
func (m *screen) leaderKey(msg tea.KeyPressMsg) tea.Cmd {
	m.leader.on, m.leader.menu = false, false
	a := m.keys.Find(keymap.Leader, msg)
	name, ok := leaderCommands[a]
	if !ok {
		return nil
	}
	if a == keymap.LeaderBackground && m.newestToBackground() {
		return nil
	}
	c, ok := findCommand(name)
	if !ok {
		return nil
	}
	return m.invoke(c)
}

// invoke carries out a command that was chosen by name. One that needs a word more is written into
// the composer.
func (m *screen) invoke(c command) tea.Cmd {
	if m.session.chat == nil {
		m.say("no session is open yet")
		return nil
	}
	if !c.needs {
		return tea.Batch(m.runCommand(c, ""), m.keepSoon())
	}
	m.setFocus(onComposer)
	if !m.composer.Empty() {
		m.composer.AddHistory(m.composer.Value())
	}
	m.composer.SetValue("/" + c.name + " ")
	return m.suggestNow()
}

// leaderLines draws the menu in w columns and at most h lines.
func (m *screen) leaderLines(w, h int) []string {
	rows := m.keys.Bindings(keymap.Leader)
	const column = 26
	columns := max((w-4)/column, 1)
	perColumn := (len(rows) + columns - 1) / columns
	lines := []string{" " + m.style.Title.Render(m.keys.Key(keymap.LeaderKey)+" then") + m.style.Muted.Render("   Esc closes")}
	for i := range perColumn {
		line := " "
		for c := range columns {
			if n := c*perColumn + i; n < len(rows) && len(rows[n].Keys()) > 0 {
				b := rows[n]
				line += " " + m.style.Key.Render(b.AllKeys()) + text.Fit(" "+b.Hint, column-2, m.style.Glyphs.Ellipsis)
			}
		}
		lines = append(lines, line)
	}
	lines = append([]string{m.rule(w)}, lines...)
	return pad(lines, w, min(len(lines), max(h, 0)))
}

// palette opens the list of all commands.
func (m *screen) palette() tea.Cmd {
	items := make([]item, 0, 64)
	for _, c := range m.allCommands() {
		items = append(items, item{value: c.name, label: "/" + c.name, detail: c.help})
	}
	m.choice = newChoice("Commands", items, func(m *screen, name string) tea.Cmd {
		if c, ok := m.findCommand(name); ok {
			return m.invoke(c)
		}
		return nil
	})
	return m.loadCustoms()
}
