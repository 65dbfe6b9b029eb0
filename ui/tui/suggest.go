package tui

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/files"
	"parley/ui/tui/keymap"
	"parley/ui/tui/text"
)

// suggest is what may complete the word before the cursor: a command, its argument, or after @ a
// file, an agent or a tool.
type suggest struct {
	items []item
	at    int
	token string // the word that is completed
	tag   int    // of the newest search
	// shut is the token for which the person closed the list; picked says that they moved in it.
	shut   string
	picked bool
	index  *files.Index
	walked time.Time // when the walk that fills index began
	busy   bool      // it goes on
	names  []item    // agents and tools of the program
	asked  bool      // names were asked for
}

const (
	suggestRows  = 8
	suggestLimit = 50
	// walkAgain is how old a list of files may be before they are listed anew.
	walkAgain = 10 * time.Second
	// lookDelay is how often a list that still grows is searched again.
	growDelay = 150 * time.Millisecond
)

// open reports whether the list is shown.
func (s *suggest) open() bool { return len(s.items) > 0 }

// suggestNow looks for what completes the word before the cursor.
func (m *screen) suggestNow() tea.Cmd {
	s := &m.suggest
	token, ok := m.suggestToken()
	if !ok {
		s.items, s.token, s.shut, s.picked = nil, "", "", false
		return nil
	}
	if token == s.token {
		return nil
	}
	s.token, s.at, s.picked = token, 0, false
	s.tag++
	if s.shut != "" && !strings.HasPrefix(token, s.shut) {
		s.shut = ""
	}
	switch {
	case s.shut != "":
		s.items = nil
	case strings.HasPrefix(token, "/"):
		s.items = m.commandItems(token)
		return m.loadCustoms()
	default:
		return tea.Batch(m.walkFiles(), m.loadNames(), m.findFiles(token))
	}
	return nil
}

// suggestToken is what is being completed: a whole command line, or a word that begins with @.
func (m *screen) suggestToken() (string, bool) {
	if m.focus != onComposer || m.composer.Searching() || m.page != pageChat {
		return "", false
	}
	before, atEnd := m.composer.Before()
	if strings.HasPrefix(before, "/") && atEnd && !strings.Contains(before, "\n") {
		return before, true
	}
	token := mention(before)
	return token, token != ""
}

// mention is the @ word at the end of a text, "" when there is none. After @" it may hold spaces.
func mention(s string) string {
	s = s[strings.LastIndexByte(s, '\n')+1:]
	i := strings.LastIndex(s, "@")
	if i < 0 || i > 0 && !strings.ContainsRune(" \t([", rune(s[i-1])) {
		return ""
	}
	word := s[i:]
	if rest, quoted := strings.CutPrefix(word, `@"`); quoted {
		if strings.Contains(rest, `"`) {
			return ""
		}
		return word
	}
	if strings.ContainsAny(word, " \t") {
		return ""
	}
	return word
}

// commandItems are the commands, or the arguments of one, that a line may become.
func (m *screen) commandItems(line string) []item {
	name, arg, hasArg := strings.Cut(line[1:], " ")
	if strings.Contains(name, "/") {
		return nil
	}
	if !hasArg {
		var out []item
		for _, c := range m.allCommands() {
			if strings.HasPrefix(c.name, name) || slices.ContainsFunc(c.aliases, func(a string) bool { return name != "" && strings.HasPrefix(a, name) }) {
				label := strings.TrimSpace("/" + c.name + " " + c.args)
				out = append(out, item{value: "/" + c.name + suffix(c), label: label, detail: c.help})
			}
		}
		return out
	}
	c, ok := m.findCommand(name)
	if !ok || c.complete == nil || m.session.chat == nil {
		return nil
	}
	var out []item
	for _, it := range c.complete(m) {
		if strings.HasPrefix(strings.ToLower(it.value), strings.ToLower(arg)) && it.value != arg {
			it.label = it.name()
			it.value = "/" + name + " " + it.value
			out = append(out, it)
		}
	}
	return out[:min(len(out), suggestLimit)]
}

// suffix is a space where a command takes an argument.
func suffix(c command) string {
	if c.args == "" {
		return ""
	}
	return " "
}

// walkFiles lists the files of the working folder beside everything else, unless that was done a
// moment ago. The list can be searched while it grows.
func (m *screen) walkFiles() tea.Cmd {
	s := &m.suggest
	lister, ok := m.opts.Backend.(FileLister)
	if !ok || s.busy || s.index != nil && m.opts.Now().Sub(s.walked) < walkAgain {
		return nil
	}
	fresh := &files.Index{}
	if s.index == nil {
		s.index = fresh
	}
	s.busy, s.walked = true, m.opts.Now()
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		err := lister.Files(ctx, func(rel string) error {
			if !fresh.Add(rel) {
				return errEnough
			}
			return nil
		})
		return filesWalked{fresh, err}
	})
}

var errEnough = fmt.Errorf("more than %d files", files.Max)

// filesWalked is the end of a walk.
type filesWalked struct {
	index *files.Index
	err   error
}

func (f filesWalked) apply(m *screen) tea.Cmd {
	m.suggest.busy, m.suggest.index = false, f.index
	if m.suggest.token == "" || strings.HasPrefix(m.suggest.token, "/") {
		return nil
	}
	return m.findFiles(m.suggest.token)
}

// findFiles searches what an @ word may mean.
func (m *screen) findFiles(token string) tea.Cmd {
	s := &m.suggest
	query := strings.TrimPrefix(strings.TrimPrefix(token, "@"), `"`)
	index, names, tag, dir := s.index, s.names, s.tag, m.session.row.Dir
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		if listsFolder(query) {
			return filesFound{tag, folderItems(dir, query)}
		}
		var out []item
		for _, n := range names {
			if _, ok := files.Score(n.value, strings.ToLower(query)); ok {
				out = append(out, n)
			}
		}
		if index != nil {
			for _, p := range index.Match(ctx, query, suggestLimit) {
				out = append(out, item{value: p})
			}
		}
		return filesFound{tag, out[:min(len(out), suggestLimit)]}
	})
}

// listsFolder reports whether a query names a folder outright, and is no part of a name.
func listsFolder(query string) bool {
	for _, p := range []string{"./", "../", "/", "~/"} {
		if strings.HasPrefix(query, p) {
			return true
		}
	}
	return false
}

// folderItems lists a folder as it is, ignored and hidden files too.
func folderItems(dir, query string) []item {
	shown, part := path.Split(query)
	folder := shown
	if rest, ok := strings.CutPrefix(shown, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		folder = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(dir, folder)
	}
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // opened for reading
	entries, _ := f.ReadDir(20_000)
	var out []item
	for _, e := range entries {
		if !strings.HasPrefix(strings.ToLower(e.Name()), strings.ToLower(part)) {
			continue
		}
		it := item{value: shown + e.Name()}
		if e.IsDir() {
			it.value += "/"
		}
		out = append(out, it)
	}
	slices.SortFunc(out, func(a, b item) int { return strings.Compare(a.value, b.value) })
	return out[:min(len(out), suggestLimit)]
}

// filesFound is the answer to findFiles.
type filesFound struct {
	tag   int
	items []item
}

func (f filesFound) apply(m *screen) tea.Cmd {
	s := &m.suggest
	if f.tag != s.tag || s.shut != "" {
		return nil
	}
	s.items = f.items
	s.at = min(s.at, max(len(f.items)-1, 0))
	if s.busy {
		return m.tasks.after(growDelay, filesGrew{s.tag})
	}
	return nil
}

// filesGrew says that the list of files has grown since the search.
type filesGrew struct{ tag int }

func (f filesGrew) apply(m *screen) tea.Cmd {
	if f.tag != m.suggest.tag || !m.suggest.busy {
		return nil
	}
	return m.findFiles(m.suggest.token)
}

// loadNames asks once for the agents and tools of the program.
func (m *screen) loadNames() tea.Cmd {
	p, ok := m.session.chat.(Programmed)
	if !ok || m.suggest.asked {
		return nil
	}
	m.suggest.asked = true
	g := gen(m.session.gen)
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		parts, err := p.ProgramParts(ctx)
		return namesLoaded{g, parts, err}
	})
}

type namesLoaded struct {
	gen
	parts []ProgramPart
	err   error
}

func (n namesLoaded) take(m *screen) tea.Cmd {
	if n.err != nil {
		return nil // the files are there; the program's own faults are told when it runs
	}
	m.suggest.names = nil
	for _, p := range n.parts {
		kind := "tool"
		if p.Agent {
			kind = "agent"
		}
		m.suggest.names = append(m.suggest.names, item{value: p.Name, label: "@" + p.Name, detail: kind + "   " + p.Description})
	}
	if strings.HasPrefix(m.suggest.token, "@") {
		return m.findFiles(m.suggest.token)
	}
	return nil
}

// suggestKey takes the keys of the open list. It reports whether a key was one of them.
func (m *screen) suggestKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	s := &m.suggest
	if !s.open() {
		return nil, false
	}
	switch {
	case m.keys.Find(keymap.Composer, msg) == keymap.Next:
		return m.acceptSuggestion(), true
	case m.keys.Find(keymap.Composer, msg) == keymap.Send && s.picked:
		return m.acceptSuggestion(), true
	}
	switch m.keys.Find(keymap.Edit, msg) {
	case keymap.EditUp:
		s.at, s.picked = (s.at+len(s.items)-1)%len(s.items), true
	case keymap.EditDown:
		s.at, s.picked = (s.at+1)%len(s.items), true
	default:
		return nil, false
	}
	return nil, true
}

// acceptSuggestion puts the chosen line in place of the word.
func (m *screen) acceptSuggestion() tea.Cmd {
	s := &m.suggest
	it := s.items[s.at]
	token := s.token
	if strings.HasPrefix(token, "/") {
		m.composer.SetValue(it.value)
		s.items = nil
		return m.suggestNow()
	}
	if strings.HasSuffix(it.value, "/") { // a folder: what is in it comes next
		m.composer.Complete(token, "@"+it.value)
		return m.suggestNow()
	}
	isName := slices.ContainsFunc(s.names, func(n item) bool { return n.value == it.value })
	s.items, s.shut = nil, ""
	if isName {
		m.composer.Complete(token, "@"+it.value+" ")
		return nil
	}
	dir := m.session.row.Dir
	return m.tasks.cmd(func(context.Context) tea.Msg {
		return fileChosen{token, it.value, fileSize(dir, it.value)}
	})
}

// fileSize is the size of a file named below the working folder, -1 when it cannot be told.
func fileSize(dir, name string) int64 {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			name = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, filepath.FromSlash(name))
	}
	info, err := os.Stat(name)
	if err != nil {
		return -1
	}
	return info.Size()
}

// maxMention is the size up to which a file can be named: no model reads more than this.
const maxMention = 10 << 20

// fileChosen is a file that was taken from the list.
type fileChosen struct {
	token, path string
	size        int64
}

func (f fileChosen) apply(m *screen) tea.Cmd {
	if f.size > maxMention {
		m.say(fmt.Sprintf("%s has %s: too large for a model, it is not put in", f.path, bytesText(f.size)))
		return nil
	}
	name := f.path
	if strings.ContainsAny(name, " \t\"'()") {
		name = `"` + name + `"`
	}
	m.composer.Complete(f.token, "@"+name+" ")
	return m.keepSoon()
}

// bytesText is a size for people.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// shutSuggest closes the list until another word is written. It reports whether it was open.
func (m *screen) shutSuggest() bool {
	s := &m.suggest
	if !s.open() {
		return false
	}
	s.items, s.shut = nil, s.token
	return true
}

// suggestLines draws the list in w columns and at most h lines.
func (m *screen) suggestLines(w, h int) []string {
	s := &m.suggest
	if !s.open() || h <= 0 {
		return nil
	}
	rows := min(len(s.items), suggestRows, h)
	top := max(min(s.at-rows/2, len(s.items)-rows), 0)
	lines := make([]string, 0, rows)
	for i := top; i < top+rows; i++ {
		line := m.choiceRow(s.items[i], i == s.at, max(w-2, 0))
		if i == top+rows-1 && len(s.items) > rows {
			note := m.style.Muted.Render(" " + place(s.at+1, len(s.items)) + " ")
			line = text.Spread(text.Cut(line, max(w-2-text.Width(note), 0), ""), note, max(w-2, 0), "")
		}
		lines = append(lines, text.Fit(" "+line, w, ""))
	}
	return lines
}

// place says where one is in a list.
func place(n, of int) string { return fmt.Sprintf("%d of %d", n, of) }
