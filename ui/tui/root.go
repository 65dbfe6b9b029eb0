package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/themes"
	"parley/ui/tui/composer"
	"parley/ui/tui/keymap"
	"parley/ui/tui/panel"
	"parley/ui/tui/picker"
	"parley/ui/tui/style"
	"parley/ui/tui/transcript"
)

// Options say what the screen shows and how.
type Options struct {
	Backend Backend
	// Chat is the session to start with. When it is nil, Open opens it beside the first frame;
	// when that is nil too, Backend.New does, unless StartPicker is set.
	Chat Chat
	Open func(ctx context.Context) (Chat, error)
	// Questions is what the runner asks through; nil when nothing can be asked.
	Questions *Questions

	// Theme is what the screen is drawn with, ThemeDir where the person's own themes are. With
	// AutoTheme the light theme is taken when the terminal says that its background is light.
	Theme     themes.Theme
	ThemeDir  string
	AutoTheme bool
	// Keys is the key map; nil is the default one.
	Keys *keymap.Map

	NoColor       bool
	ASCII         bool
	ReducedMotion bool
	Version       string
	// StartPicker begins with the list of sessions.
	StartPicker bool
	// InitialMessage is sent when the first session is open. SendInitial sends it even if it is
	// empty: the first turn of a chat program that speaks first.
	InitialMessage string
	SendInitial    bool
	// Notify says when the person is told by bell or notification; "" is [NotifyUnfocused].
	Notify string
	// StatusNote stands in the first line, for example "not saved".
	StatusNote string
	// FPS is how often the screen is drawn at most; 0 is 120.
	FPS int

	// Input and Output are the terminal; nil is the process's own.
	Input  io.Reader
	Output io.Writer
	// Getenv reads the environment ($VISUAL, $EDITOR); nil is os.Getenv.
	Getenv func(string) string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Program holds further options for Bubble Tea.
	Program []tea.ProgramOption
}

// SignalError says that a signal ended the screen. The terminal was restored.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return fmt.Sprintf("ended by signal: %s", e.Signal) }

// Run shows the screen until the person leaves, ctx ends or a signal comes. It closes the chat
// that is open at the end, and waits for everything it started. The error is nil when the person
// left, a [*SignalError] after a signal, ctx's error when ctx ended, and a [*PanicError] after a
// panic; the terminal is restored in each case.
func Run(ctx context.Context, o Options) error {
	return runWith(ctx, o, func(*screen, *tea.Program) {})
}

// runWith is Run; running gets the screen and its program before they start.
func runWith(ctx context.Context, o Options, running func(*screen, *tea.Program)) error {
	o = o.withDefaults()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &tasks{ctx: ctx}
	m := newScreen(o, t)
	came := &arrivals{}
	m.pasting = came.pasting.Load
	program := tea.NewProgram(m, o.programOptions(came)...)
	m.abort = func() { t.goes(program.Quit) }
	m.clock = newFrameClock(program, o.FPS)
	running(m, program)

	ended := watch(ctx, program)
	_, err := program.Run()
	m.clock.close()
	m.finish()
	why := context.Cause(ctx)
	cancel()
	t.wait()
	switch sig := <-ended; {
	case m.failure != nil:
		return m.failure
	case sig != nil:
		return &SignalError{sig}
	case err != nil:
		restoreTerminal(o.Output)
		return fmt.Errorf("screen: %w", err)
	}
	return why
}

// watch ends the program when a signal comes or ctx ends. The channel gives the signal, nil when
// there was none, once ctx has ended.
func watch(ctx context.Context, program *tea.Program) <-chan os.Signal {
	sig, ended := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(sig, endSignals...)
	go func() {
		defer signal.Stop(sig)
		var got os.Signal
		select {
		case got = <-sig:
		case <-ctx.Done():
			select { // whoever made ctx may have heard the same signal
			case got = <-sig:
			default:
			}
		}
		program.Quit()
		ended <- got
	}()
	return ended
}

func (o Options) withDefaults() Options {
	if o.FPS == 0 {
		o.FPS = 120
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Keys == nil {
		o.Keys = keymap.Default()
	}
	if o.Questions == nil {
		o.Questions = NewQuestions()
	}
	return o
}

func (o Options) programOptions(came *arrivals) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithFPS(o.FPS), tea.WithoutSignalHandler()}
	if in := came.terminal(o); in != nil {
		opts = append(opts, tea.WithInput(in))
	}
	if o.Output != nil {
		opts = append(opts, tea.WithOutput(o.Output))
	}
	return append(opts, o.Program...)
}

// restoreTerminal switches off what a screen may have switched on, for errors after which Bubble
// Tea leaves something on: mouse, paste, focus, keyboard protocol, alternate screen.
func restoreTerminal(w io.Writer) {
	if w == nil {
		w = os.Stdout
	}
	// Nothing can be done about an error here: the program ends because of another one.
	_, _ = io.WriteString(w, "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[>4;0m\x1b[?1049l\x1b[?25h\x1b[0m")
}

// focus is the pane that gets the keys.
type focus int

const (
	onComposer focus = iota
	onChat
	onPanel
)

// page is what fills the screen.
type page int

const (
	pageChat page = iota
	pagePicker
	pageReader
	pageTimeline
)

// screen is the root: it owns size and focus, and gives each message to whom it concerns.
type screen struct {
	opts  Options
	tasks *tasks
	clock *frameClock // nil in tests that call Update by hand
	keys  *keymap.Map
	style *style.Set
	theme themes.Theme // that style was made of

	w, h  int
	sized bool
	page  page
	focus focus
	stale bool // the frame is to be drawn anew
	frame tea.View
	// drawnChat saves cutting the conversation into lines again when only other parts changed.
	drawnChat chatCache

	composer   *composer.Model
	transcript *transcript.Model
	panel      *panel.Model
	picker     *picker.Model
	reader     reader
	timeline   timeline
	// timelineAfter says that the timeline is what a session is being opened for.
	timelineAfter bool
	choice        *choice
	suggest       suggest
	leader        leader
	find          *composer.Model // the search line of the chat, nil when closed

	session   session
	asking    asking
	note      note
	panelOpen bool
	keep      keeper
	ticking   bool
	leaveAt   time.Time // a second Ctrl+C before this leaves
	rewindAt  time.Time // a second Esc before this opens the timeline
	endAt     time.Time // leaving before this ends the commands that run
	started   bool      // the first session was opened
	early     []string  // messages sent before it was
	failure   *PanicError
	abort     func() // ends the program from within View
	attention attention
	// showsProgress says that the terminal shows how a turn goes in its tab or in the task bar.
	showsProgress bool
	beat          int // picture of the spinner
	// typedAt is the clock of keys, which tells a burst from typing.
	typedAt func() time.Time
	// pasting says whether what was read last belongs to a paste that the terminal did not mark.
	pasting func() bool
}

func newScreen(o Options, t *tasks) *screen {
	s := style.New(o.Theme, style.Options{NoColor: o.NoColor, ASCII: o.ASCII, ReducedMotion: o.ReducedMotion})
	m := &screen{
		opts: o, tasks: t, keys: o.Keys, style: s, theme: o.Theme, stale: true, panelOpen: true, typedAt: time.Now, pasting: func() bool { return false },
		composer: composer.New(s, o.Keys), transcript: transcript.New(s),
		panel: panel.New(s, o.Keys), picker: picker.NewModel(s, o.Keys),
	}
	m.showsProgress = showsProgress(o.Getenv)
	m.panel.Tick(o.Now(), false)
	m.transcript.Tick(o.Now())
	return m
}

// Init opens the first session beside the first frame.
func (m *screen) Init() tea.Cmd {
	cmds := []tea.Cmd{m.loadHistory(), m.opts.Questions.wait(m.tasks)}
	if m.opts.AutoTheme {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	switch {
	case m.opts.Chat != nil:
		chat := m.opts.Chat
		cmds = append(cmds, m.open(func(context.Context) (Chat, error) { return chat, nil }))
	case m.opts.Open != nil:
		cmds = append(cmds, m.open(m.opts.Open))
	case m.opts.StartPicker:
		cmds = append(cmds, m.showPicker(""))
	default:
		cmds = append(cmds, m.open(m.opts.Backend.New))
	}
	return tea.Batch(cmds...)
}

// Update gives a message to whom it concerns; what it means is decided there.
func (m *screen) Update(msg tea.Msg) (self tea.Model, cmd tea.Cmd) {
	defer m.fault(func() { self, cmd = m, tea.Quit })
	m.stale = true
	_, alone := msg.(tick)
	m.clock.wake(alone)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h, m.sized = msg.Width, msg.Height, true
		return m, m.loadOlder()
	case tea.KeyPressMsg:
		return m, tea.Batch(m.key(msg), m.afterKey(), m.suggestNow())
	case tea.PasteMsg:
		return m, tea.Batch(m.paste(msg), m.afterKey(), m.suggestNow())
	case tea.BackgroundColorMsg:
		return m, m.background(msg)
	case tea.FocusMsg, tea.BlurMsg:
		_, has := msg.(tea.FocusMsg)
		m.focused(has)
		return m, nil
	case eventsCame:
		return m, m.events(msg)
	case questionsCame:
		return m, m.questionsCame(msg)
	case tick:
		return m, m.tick(msg)
	case sessionMsg:
		return m, m.sessionUpdate(msg)
	case dialogMsg:
		return m, msg.apply(m)
	case composer.Entered:
		return m, tea.Batch(m.enterHeld(), m.afterKey(), m.suggestNow())
	}
	return m, m.others(msg)
}

// others takes the messages of the parts, and those that only a part understands.
func (m *screen) others(msg tea.Msg) tea.Cmd {
	if cmd, ok := m.promptMessage(msg); ok {
		return cmd
	}
	if cmd, ok := m.panelMessage(msg); ok {
		return cmd
	}
	if cmd, ok := m.pickerMessage(msg); ok {
		return cmd
	}
	return tea.Batch(m.composer.Update(msg), m.picker.Update(msg), m.toPrompts(msg))
}

// dialogMsg is the answer to something that one file of the screen started and that file alone
// understands.
type dialogMsg interface {
	apply(m *screen) tea.Cmd
}

// setStyle draws everything with other colours.
func (m *screen) setStyle(t themes.Theme) {
	m.theme = t
	m.style = style.New(t, m.style.Options)
	m.composer.SetStyle(m.style)
	m.transcript.SetStyle(m.style)
	m.panel.SetStyle(m.style)
	m.picker.SetStyle(m.style)
	if m.find != nil {
		m.find.SetStyle(m.style)
	}
}
