package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"parley/agent"
	"parley/persist"
	"parley/themes"
	"parley/ui/tui"
	"parley/ui/tui/keymap"
)

// chat shows the screen. The database is opened before the first frame, the session beside it.
func chat(ctx context.Context, io streams, f *flags, ref, message string) (err error) {
	a, err := openApp(ctx, io, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	if io.source == nil && isTerminal(io.in) {
		a.stdin = nil
	}
	name := firstSet(f.theme, a.cfg.Theme)
	theme, err := themes.Load(firstSet(name, "dark"), a.paths.themes())
	if err != nil {
		return usageError{err}
	}
	keys, err := a.keyMap()
	if err != nil {
		return usageError{err}
	}
	questions := tui.NewQuestions()
	b := &backend{a: a, ref: a.programRef(ref), questions: questions}
	o := tui.Options{Backend: b, Questions: questions, Theme: theme, ThemeDir: a.paths.themes(), AutoTheme: name == "",
		NoColor: io.getenv("NO_COLOR") != "", ASCII: f.ascii || a.cfg.ASCII || plainLocale(io.getenv), ReducedMotion: a.cfg.ReducedMotion, Notify: a.cfg.Notify,
		Keys: keys, Version: versionText(), InitialMessage: message, StatusNote: a.statusNote(), Getenv: io.getenv}
	switch {
	case f.goOn:
		o.Open = b.last
	case f.resume == pickSession:
		o.StartPicker = true
	case f.resume != "":
		o.Open = func(ctx context.Context) (tui.Chat, error) { return b.Open(ctx, f.resume) }
	case ref != "":
		// Bad programs are told on the terminal, not on a screen that hides them.
		prg, _, err := a.loadProgram(ctx, b.ref, f.subTool)
		if err != nil {
			return a.loadError(b.ref, err)
		}
		entry := prg.EntryAgent()
		o.SendInitial = message == "" && entry.Chat && len(entry.Arguments) == 0 && entry.Instructions != ""
	}
	defer a.tidy(ctx)
	var ended *tui.SignalError
	if err := tui.Run(ctx, o); errors.As(err, &ended) {
		return errInterrupted
	} else if err != nil {
		return err
	}
	return nil
}

// plainLocale reports whether the environment names a locale that has no UTF-8. With none named the
// terminal is taken to be of today.
func plainLocale(getenv func(string) string) bool {
	locale := firstSet(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	name := strings.ReplaceAll(strings.ToLower(locale), "-", "")
	return locale != "" && !strings.Contains(name, "utf8")
}

// binTerm is how long a deleted chat stays in the bin.
const binTerm = 7 * 24 * time.Hour

// tidy removes what has been in the bin for its term, and outputs beyond their limits (R65). It waits
// until the person has left: a start does no work that can wait.
func (a *app) tidy(ctx context.Context) {
	if _, err := a.store.PurgeExpired(ctx, binTerm); err != nil {
		a.log.Warn("the bin could not be emptied", "err", err)
	}
	a.pruneOutputs(ctx)
}

func (a *app) pruneOutputs(ctx context.Context) {
	if _, err := a.store.PruneOutputs(ctx, persist.OutputLimits{}); err != nil {
		a.log.Warn("old outputs could not be removed", "err", err)
	}
}

// keyMap is the person's key map: keys.json beside the config file over the default keys.
func (a *app) keyMap() (*keymap.Map, error) {
	if a.paths.config == "" {
		return keymap.Default(), nil
	}
	path := filepath.Join(filepath.Dir(a.paths.config), "keys.json")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return keymap.Default(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return keymap.Load(path, data)
}

// statusNote is what the first line must say about this process.
func (a *app) statusNote() string {
	if a.notSaved != "" {
		return "not saved"
	}
	return ""
}

// last opens the chat this folder was last worked in; without one, a new chat begins.
func (b *backend) last(ctx context.Context) (tui.Chat, error) {
	row, err := b.a.store.Last(ctx, b.a.paths.dir)
	if errors.Is(err, agent.ErrNotFound) {
		return b.New(ctx)
	}
	if err != nil {
		return nil, err
	}
	return b.Open(ctx, row.ID)
}
