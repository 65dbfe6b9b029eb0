package tui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"

	"parley/themes"
)

var update = flag.Bool("update", false, "rewrite the screens in testdata/screen")

// The clock of the highlighter's regular expressions stops by itself some time later. Bubble Tea
// does not wait for its reader of an input that is no file.
func TestMain(m *testing.M) {
	time.Local = time.UTC // screens show the time of day
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"),
		goleak.IgnoreAnyFunction("github.com/charmbracelet/ultraviolet.(*TerminalReader).StreamEvents"),
		goleak.IgnoreAnyFunction("github.com/charmbracelet/ultraviolet.(*TerminalReader).StreamEvents.func1"))
}

// terminal runs the screen in an emulated terminal: what is typed are bytes, what is seen are
// cells.
type terminal struct {
	t    *testing.T
	em   *vt.SafeEmulator
	in   *keyboard
	prog chan *tea.Program
	done chan error
	// cancel ends the context of the screen.
	cancel context.CancelFunc
	// drawn gets a token when something was written to the terminal.
	drawn chan struct{}

	mu    sync.Mutex // guards bytes and raw, and the cells while they are read or written
	bytes int
	raw   strings.Builder
}

// keyboard is an input without bound: typing never waits for the screen.
type keyboard struct {
	mu     sync.Mutex
	cond   *sync.Cond
	buf    []byte
	closed bool
}

func newKeyboard() *keyboard {
	k := &keyboard{}
	k.cond = sync.NewCond(&k.mu)
	return k
}

func (k *keyboard) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.buf) == 0 {
		if k.closed {
			return 0, io.EOF
		}
		k.cond.Wait()
	}
	n := copy(p, k.buf)
	k.buf = k.buf[n:]
	return n, nil
}

func (k *keyboard) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.buf = append(k.buf, p...)
	k.cond.Broadcast()
	return len(p), nil
}

func (k *keyboard) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.cond.Broadcast()
}

// Write is the terminal's output: line feeds move to the first column, as on a terminal that maps
// them.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.bytes += len(p)
	t.raw.Write(p)
	_, err := t.em.Write([]byte(strings.ReplaceAll(string(p), "\n", "\r\n")))
	t.mu.Unlock()
	select {
	case t.drawn <- struct{}{}:
	default:
	}
	return len(p), err
}

// start shows the screen in a terminal of w columns and h lines, typed at by a person.
func start(t *testing.T, w, h int, o Options) *terminal {
	t.Helper()
	return startWith(t, w, h, o, func(m *screen) {
		at := epoch
		m.typedAt = func() time.Time { at = at.Add(time.Second); return at }
		m.pasting = func() bool { return false }
	})
}

// startWith is start, with what is to be done to the screen before it runs.
func startWith(t *testing.T, w, h int, o Options, prepare func(*screen)) *terminal {
	t.Helper()
	term := &terminal{
		t: t, em: vt.NewSafeEmulator(w, h), in: newKeyboard(), done: make(chan error, 1), drawn: make(chan struct{}, 1),
		prog: make(chan *tea.Program, 1),
	}
	theme, err := themes.Load(themes.Default, "")
	if err != nil {
		t.Fatal(err)
	}
	o.Theme, o.Version = theme, "0.1"
	if o.Input == nil {
		o.Input, o.Output = term.in, term
	}
	o.ReducedMotion = true
	if o.Now == nil {
		o.Now = func() time.Time { return epoch.Add(9 * time.Second) }
	}
	o.Program = append(o.Program, tea.WithWindowSize(w, h), tea.WithColorProfile(colorprofile.TrueColor),
		tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	answers := make(chan struct{})
	go func() { // what the terminal itself answers to questions of the program
		defer close(answers)
		_, _ = io.Copy(term.in, term.em)
	}()
	ctx, cancel := context.WithCancel(context.Background())
	term.cancel = cancel
	go func() {
		term.done <- runWith(ctx, o, func(m *screen, p *tea.Program) {
			prepare(m)
			term.prog <- p
		})
	}()
	t.Cleanup(func() {
		cancel()
		term.in.close()
		select {
		case <-term.done:
		case <-time.After(patience):
			t.Error("the screen did not end")
		}
		_ = term.em.InputPipe().(io.Closer).Close() // the emulator's own Close races with its Read
		<-answers
	})
	return term
}

// end waits for the screen to end and returns Run's error.
func (t *terminal) end() error {
	t.t.Helper()
	select {
	case err := <-t.done:
		t.done <- err
		return err
	case <-time.After(patience):
		t.t.Fatalf("the screen did not end:\n%s", t.text())
		return nil
	}
}

// program is the running program, for messages that no key can cause.
func (t *terminal) program() *tea.Program {
	p := <-t.prog
	t.prog <- p
	return p
}

func (t *terminal) resize(w, h int) {
	t.mu.Lock()
	t.em.Resize(w, h)
	t.mu.Unlock()
	t.program().Send(tea.WindowSizeMsg{Width: w, Height: h})
}

// typed sends keys as a terminal does. Names in <> are special keys.
func (t *terminal) typed(script string) {
	t.t.Helper()
	special := strings.NewReplacer("<enter>", "\r", "<tab>", "\t", "<esc>", "\x1b[27u", "<up>", "\x1b[A", "<down>", "\x1b[B",
		"<left>", "\x1b[D", "<right>", "\x1b[C", "<backspace>", "\x7f", "<shift+tab>", "\x1b[Z", "<alt+up>", "\x1b[1;3A", "<alt+.>", "\x1b.", "<alt+,>", "\x1b,",
		"<pgup>", "\x1b[5~", "<pgdown>", "\x1b[6~", "<ctrl+c>", "\x03", "<ctrl+d>", "\x04", "<ctrl+t>", "\x14",
		"<ctrl+r>", "\x12", "<ctrl+x>", "\x18", "<ctrl+j>", "\n", "<alt+enter>", "\x1b\r", "<shift+enter>", "\x1b[13;2u", "<undo>", "\x1f",
		"<ctrl+g>", "\x07", "<ctrl+l>", "\x0c", "<ctrl+u>", "\x15").Replace(script)
	_, _ = t.in.Write([]byte(special))
}

func (t *terminal) paste(text string) {
	_, _ = t.in.Write([]byte("\x1b[200~" + text + "\x1b[201~"))
}

// text is what stands on the screen.
func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for y := range t.em.Height() {
		var line strings.Builder
		for x := 0; x < t.em.Width(); {
			c := t.em.CellAt(x, y)
			if c == nil || c.Content == "" {
				line.WriteByte(' ')
				x++
				continue
			}
			line.WriteString(c.Content)
			x += max(c.Width, 1)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// patience is long: it only matters where something fails, and CI may be very busy.
const patience = 60 * time.Second

// until waits until the condition holds, looking again after each drawing.
func (t *terminal) until(what string, ok func() bool) {
	t.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(20 * time.Millisecond) // for conditions that no drawing follows
	defer again.Stop()
	for !ok() {
		select {
		case <-t.drawn:
		case <-again.C:
		case <-deadline.C:
			t.t.Fatalf("%s did not come; the screen:\n%s", what, t.text())
		}
	}
}

// armed waits until the question takes keys by itself. A Tab would disarm it where the machine is so
// slow that half a second has passed.
func (t *terminal) armed() {
	t.t.Helper()
	t.shows("Tab text")
}

// shows waits until all texts are on the screen.
func (t *terminal) shows(texts ...string) {
	t.t.Helper()
	t.until(fmt.Sprintf("%q", texts), func() bool {
		s := t.text()
		for _, want := range texts {
			if !strings.Contains(s, want) {
				return false
			}
		}
		return true
	})
}

// hides waits until a text is not on the screen.
func (t *terminal) hides(text string) {
	t.t.Helper()
	t.until(fmt.Sprintf("the end of %q", text), func() bool { return !strings.Contains(t.text(), text) })
}

// golden compares the screen, its styles and the cursor with testdata/screen/name.golden.
func (t *terminal) golden(name string) {
	t.t.Helper()
	// The renderer may be within a frame: what it has drawn is right when a forced redraw changes
	// nothing.
	got := t.snapshot()
	for {
		before := t.count()
		t.typed("<ctrl+l>")
		t.until("a redraw", func() bool { return t.count() > before })
		again := t.snapshot()
		if again == got {
			break
		}
		got = again
	}
	file := filepath.Join("..", "..", "testdata", "screen", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.t.Fatal(err)
	}
	if string(want) != got {
		t.t.Errorf("%s differs (-update rewrites it); got:\n%s\nwant:\n%s", file, got, want)
	}
}

func (t *terminal) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// output is everything written to the terminal so far.
func (t *terminal) output() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.raw.String()
}

// snapshot is the screen as text, then its styles as a letter a cell with a legend, then the
// cursor.
func (t *terminal) snapshot() string {
	var b strings.Builder
	b.WriteString(t.text())
	letters := map[string]byte{}
	var legend []string
	b.WriteString("--- styles\n")
	t.mu.Lock()
	defer t.mu.Unlock()
	for y := range t.em.Height() {
		line := make([]byte, 0, t.em.Width())
		for x := range t.em.Width() {
			line = append(line, t.styleLetter(x, y, letters, &legend))
		}
		b.WriteString(strings.TrimRight(string(line), ".") + "\n")
	}
	b.WriteString("--- legend\n" + strings.Join(legend, "\n") + "\n--- cursor\n")
	if t.em.CursorHidden() {
		b.WriteString("hidden\n")
	} else {
		p := t.em.CursorPosition()
		fmt.Fprintf(&b, "%d,%d\n", p.X, p.Y)
	}
	return b.String()
}

func (t *terminal) styleLetter(x, y int, letters map[string]byte, legend *[]string) byte {
	c := t.em.CellAt(x, y)
	if c == nil || c.Style.IsZero() {
		return '.'
	}
	key := fmt.Sprintf("fg %v bg %v underline %d attributes %08b", c.Style.Fg, c.Style.Bg, c.Style.Underline, c.Style.Attrs)
	l, ok := letters[key]
	if !ok {
		l = byte('a' + len(letters))
		letters[key] = l
		*legend = append(*legend, string(l)+" "+key)
	}
	return l
}
