package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
)

func secretCommands() []command {
	return []command{
		{name: "creds", aliases: []string{"credentials"}, group: "permissions", args: "[list|set|delete|context]", help: "stored credentials: look, set, delete", looks: true, run: (*screen).commandSecrets,
			complete: words("list", "set ", "delete ", "context")},
		{name: "login", group: "permissions", args: "[provider]", help: "store the key of a model provider", looks: true, run: (*screen).commandLogin},
		{name: "logout", group: "permissions", args: "[provider]", help: "delete the stored key of a model provider", looks: true, run: (*screen).commandLogout},
	}
}

// keeper is the backend that keeps credentials; without one it says so.
func (m *screen) keeper() (SecretKeeper, bool) {
	k, ok := m.opts.Backend.(SecretKeeper)
	if !ok {
		m.cannot("keep credentials")
	}
	return k, ok
}

// commandSecrets lists the stored credentials, or changes one.
func (m *screen) commandSecrets(arg string) tea.Cmd {
	k, ok := m.keeper()
	if !ok {
		return nil
	}
	words := strings.Fields(arg)
	switch {
	case len(words) == 0 || words[0] == "list":
		return m.chooseSecret(k, "Stored credentials; Enter deletes one, after a question", "", (*screen).deleteSecret)
	case words[0] == "set" && len(words) > 1:
		return m.storeSecret(k, words[1], words[2:]...)
	case words[0] == "delete" && len(words) == 1:
		return m.chooseSecret(k, "Delete which credential?", "", (*screen).deleteSecret)
	case words[0] == "delete":
		return m.deleteSecret(k, Secret{Name: words[1]})
	case words[0] == "context":
		return m.report("credential contexts", "credentials", "list", "--all-contexts")
	default:
		m.say("/creds lists; /creds set NAME VARIABLE… asks for values; /creds delete NAME; /creds context shows every context")
	}
	return nil
}

// chooseSecret lists the credentials whose names begin with a prefix.
func (m *screen) chooseSecret(k SecretKeeper, title, prefix string, done func(*screen, SecretKeeper, Secret) tea.Cmd) tea.Cmd {
	g := gen(m.session.gen)
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		all, err := k.Secrets(ctx)
		var items []item
		byValue := map[string]Secret{}
		for _, s := range all {
			if strings.HasPrefix(s.Name, prefix) {
				value := s.Name + "\x00" + s.Context
				byValue[value] = s
				items = append(items, item{value: value, label: s.Name, detail: s.Detail})
			}
		}
		c := newChoice(title, items, func(m *screen, value string) tea.Cmd { return done(m, k, byValue[value]) })
		c.empty = "no credentials are stored here"
		return choiceLoaded{g, c, err}
	})
}

// deleteSecret asks before it deletes.
func (m *screen) deleteSecret(k SecretKeeper, s Secret) tea.Cmd {
	m.choice = newChoice("Delete the credential "+m.clean(s.Name)+"?", []item{
		{value: "no", label: "no, keep it"}, {value: "yes", label: "yes, delete it"},
	}, func(m *screen, answer string) tea.Cmd {
		if answer == "yes" {
			return m.withSecret("deleted "+s.Name, func(ctx context.Context) error { return k.DeleteSecret(ctx, s) })
		}
		return nil
	})
	return nil
}

// storeSecret asks for values and stores them. They go from the question to the store, through no
// text of the screen.
func (m *screen) storeSecret(k SecretKeeper, name string, variables ...string) tea.Cmd {
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		done, err := k.StoreSecret(ctx, name, variables...)
		return secretDone{done, err}
	})
}

func (m *screen) withSecret(said string, do func(context.Context) error) tea.Cmd {
	return m.tasks.cmd(func(ctx context.Context) tea.Msg { return secretDone{said, do(ctx)} })
}

// secretDone is the end of a change of credentials.
type secretDone struct {
	said string
	err  error
}

func (d secretDone) apply(m *screen) tea.Cmd {
	if d.err != nil {
		m.trouble("the credentials stay as they are", d.err)
		return nil
	}
	m.say(m.clean(d.said))
	return nil
}

// commandLogin stores the key of a provider, which is asked for.
func (m *screen) commandLogin(arg string) tea.Cmd {
	k, ok := m.keeper()
	switch {
	case !ok:
		return nil
	case arg != "":
		return m.storeSecret(k, "sys."+strings.ToLower(arg))
	}
	g := gen(m.session.gen)
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		all, err := k.Providers(ctx)
		var items []item
		for _, p := range all {
			items = append(items, item{value: p.Name, detail: p.Key})
		}
		c := newChoice("Store the key of which provider?", items, (*screen).commandLogin)
		c.empty = "no provider here wants a key"
		return choiceLoaded{g, c, err}
	})
}

// commandLogout deletes the stored key of a provider. A key of the environment stays.
func (m *screen) commandLogout(arg string) tea.Cmd {
	k, ok := m.keeper()
	switch {
	case !ok:
		return nil
	case arg != "":
		return m.deleteSecret(k, Secret{Name: "sys." + strings.ToLower(arg)})
	}
	return m.chooseSecret(k, "Delete which key?", "sys.", (*screen).deleteSecret)
}
