package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"parley/agent"
	"parley/ui/tui/text"
)

// console asks a person line by line, where a run without a screen has a terminal on stdin and
// stderr. One question is open at a time, and progress waits meanwhile.
type console struct {
	in    *os.File
	out   io.Writer
	lines *bufio.Reader
	turn  chan struct{} // held while a question is open; guards reading
	mu    sync.Mutex    // guards writes to out

	reading chan lineRead // a read that is under way
}

// newConsole returns the console of a process, or one without a person.
func newConsole(s streams) *console {
	c := &console{out: s.err, turn: make(chan struct{}, 1)}
	if isTerminal(s.in) && isTerminal(s.err) {
		c.in, _ = s.in.(*os.File)
		c.lines = bufio.NewReader(c.in)
	}
	return c
}

// asker returns who answers questions, nil when nobody is there.
func (c *console) asker() asker {
	if c.in == nil {
		return nil
	}
	return c
}

// writer returns a writer that waits while a question is open.
func (c *console) writer(w io.Writer) io.Writer { return consoleWriter{c, w} }

type consoleWriter struct {
	c *console
	w io.Writer
}

func (w consoleWriter) Write(p []byte) (int, error) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	return w.w.Write(p)
}

// take waits for the console's turn.
func (c *console) take(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		c.mu.Lock()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *console) give() {
	c.mu.Unlock()
	<-c.turn
}

// ask reads a line after a label.
func (c *console) ask(ctx context.Context, label string) (string, error) {
	if err := c.take(ctx); err != nil {
		return "", err
	}
	defer c.give()
	fmt.Fprint(c.out, label)
	return c.line(ctx)
}

// Authorize asks about one call.
func (c *console) Authorize(ctx context.Context, q agent.ApprovalQuestion) (agent.ApprovalAnswer, error) {
	q.Placed()
	if err := c.take(ctx); err != nil {
		return agent.ApprovalAnswer{}, err
	}
	defer c.give()
	shown := firstSet(q.Preview.Command, q.Preview.Diff, q.Arguments)
	fmt.Fprintf(c.out, "\n%s asks to run %s in %s\n", text.Strict(strings.Join(q.Agents, " > ")), text.Strict(q.Tool), text.Strict(q.Dir))
	for line := range strings.Lines(shown) {
		fmt.Fprintf(c.out, "    %s\n", text.Strict(strings.TrimRight(line, "\r\n")))
	}
	fmt.Fprintf(c.out, "%s\n", text.Strict(q.Reason))
	for {
		fmt.Fprint(c.out, "y once, s this session, n deny, or a reason to deny it > ")
		line, err := c.line(ctx)
		if err != nil {
			return agent.ApprovalAnswer{}, err
		}
		switch answer := strings.TrimSpace(line); strings.ToLower(answer) {
		case "":
			continue
		case "y", "yes":
			return agent.ApprovalAnswer{Allow: true, Scope: "once"}, nil
		case "s":
			if len(q.Rules) > 0 {
				return agent.ApprovalAnswer{Allow: true, Scope: "session", Rule: q.Rules[0].Text}, nil
			}
			fmt.Fprintln(c.out, "no rule can allow this call: answer y or n")
		case "n", "no":
			return agent.ApprovalAnswer{}, nil
		default:
			return agent.ApprovalAnswer{Note: answer}, nil
		}
	}
}

// Prompt asks for values, one line each.
func (c *console) Prompt(ctx context.Context, q agent.InputQuestion) (agent.InputAnswer, error) {
	if err := c.take(ctx); err != nil {
		return agent.InputAnswer{}, err
	}
	defer c.give()
	if q.Credential != "" {
		fmt.Fprintf(c.out, "\n%s needs the credential %s\n", text.Strict(q.Tool), text.Strict(q.Credential))
	}
	fmt.Fprintf(c.out, "%s\n", text.Strict(q.Question.Message))
	values := map[string]string{}
	for _, f := range q.Question.Fields {
		sensitive := q.Question.Sensitive
		if f.Sensitive != nil {
			sensitive = *f.Sensitive
		}
		label := f.Name
		if len(f.Options) > 0 {
			label += " (" + strings.Join(f.Options, ", ") + ")"
		}
		value, err := c.value(ctx, text.Strict(label), sensitive)
		if err != nil {
			return agent.InputAnswer{}, err
		}
		values[f.Name] = value
	}
	if len(q.Question.Fields) == 0 {
		if _, err := c.line(ctx); err != nil {
			return agent.InputAnswer{}, err
		}
	}
	keep := ""
	if len(q.Keep) > 0 {
		keep = q.Keep[0]
	}
	return agent.InputAnswer{Values: values, Keep: keep}, nil
}

// value reads one value after its label. What is typed is hidden before the label invites to type.
func (c *console) value(ctx context.Context, label string, sensitive bool) (string, error) {
	if sensitive {
		restore, err := hideTyping(c.in)
		if err != nil {
			return "", fmt.Errorf("%s cannot be asked for: what is typed would be shown: %w", label, err)
		}
		defer fmt.Fprintln(c.out)
		defer restore()
	}
	fmt.Fprintf(c.out, "%s > ", label)
	return c.line(ctx)
}

// line reads a line, or returns when ctx ends. A read of the terminal cannot be taken back: what it
// brings then answers the next question's read.
func (c *console) line(ctx context.Context) (string, error) {
	if c.reading == nil {
		c.reading = make(chan lineRead, 1)
		go func(to chan<- lineRead) {
			text, err := c.lines.ReadString('\n')
			to <- lineRead{text, err}
		}(c.reading)
	}
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case read := <-c.reading:
		c.reading = nil
		if read.err != nil && read.text == "" {
			return "", agent.ErrNobody
		}
		return strings.TrimRight(read.text, "\r\n"), nil
	}
}

type lineRead struct {
	text string
	err  error
}
