package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/ui/tui/text"
)

// plainChat is a chat in lines, without a screen that is drawn again: for screen readers, for dumb
// terminals and for pipes. Questions are asked as in a run at a terminal, by word or letter.
type plainChat struct {
	headless
	// piped has the lines where no terminal is on stdin; questions are then answered by nobody.
	piped *bufio.Reader
}

// chatInLines is the chat of --plain.
func chatInLines(ctx context.Context, io streams, f *flags, ref, message string) (err error) {
	a, err := openApp(ctx, io, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	p := &plainChat{headless: headless{a: a, hub: &monitor.Hub{}}}
	if err := p.open(ctx, ref, message); err != nil {
		return err
	}
	if p.console.asker() == nil {
		p.piped = bufio.NewReader(io.in)
	}
	err = errors.Join(p.talk(ctx, message), p.session.Close())
	p.hub.Close()
	return err
}

// talk shows where the chat stands and takes line after line until the person leaves.
func (p *plainChat) talk(ctx context.Context, message string) error {
	if err := p.greet(ctx); err != nil {
		return err
	}
	if p.session.Unfinished() {
		if err := p.doubts(ctx); err != nil {
			return err
		}
		p.turn(ctx, p.session.Resume)
	}
	if message != "" {
		p.say("you: " + message)
		p.send(ctx, message)
	}
	for {
		line, err := p.read(ctx, fmt.Sprintf("@%s > ", text.Line(firstSet(p.session.Row().Agent, "assistant"))))
		if err != nil {
			return nil // the end of the input, or Ctrl+C: the person leaves
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if leave := p.do(ctx, line); leave {
			return nil
		}
	}
}

// greet prints the end of a chat that goes on, or what parley is.
func (p *plainChat) greet(ctx context.Context) error {
	row := p.session.Row()
	if row.Turns == 0 {
		p.say("parley in lines: type a message and Enter; /help tells the commands, /quit leaves")
		return nil
	}
	messages, err := p.a.store.ShownMessages(ctx, row.ID, 0, 10)
	if err != nil {
		return fmt.Errorf("read the chat: %w", err)
	}
	p.say(firstSet(row.Title, row.ID) + ": its end; parley sessions show " + row.ID + " prints all of it")
	for _, m := range messages {
		printMessage(p.a, m, nil)
	}
	return nil
}

// do carries out a line; leave says that the person has done with the chat.
func (p *plainChat) do(ctx context.Context, line string) (leave bool) {
	name, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSpace(arg)
	switch name {
	case "/quit", "/exit":
		return true
	case "/help":
		p.say("/back [text] ends the inner chat · /compact [hint] sums up the chat · /mode ask, edits, plan or auto · /model PROVIDER/NAME · !COMMAND runs a command line · /quit")
	case "/back":
		p.turn(ctx, func(ctx context.Context) (agent.Response, error) { return p.session.Back(ctx, arg) })
	case "/compact":
		p.turn(ctx, func(ctx context.Context) (agent.Response, error) { return p.session.Compact(ctx, arg) })
	case "/mode":
		p.told(p.session.SetMode(arg), "mode "+arg)
	case "/model":
		p.told(p.session.SetModel(arg), "model "+arg+" from the next turn on")
	default:
		if strings.HasPrefix(line, "/") && !strings.Contains(name[1:], "/") {
			p.say("there is no command " + name + " in lines: /help tells which there are")
			return false
		}
		if command := strings.TrimSpace(strings.TrimPrefix(line, "!")); command != "" && command != line {
			p.turn(ctx, func(ctx context.Context) (agent.Response, error) { return p.session.RunShell(ctx, command) })
			return false
		}
		p.send(ctx, line)
	}
	return false
}

func (p *plainChat) told(err error, done string) {
	if err != nil {
		done = err.Error()
	}
	p.say(text.Clean(done))
}

func (p *plainChat) send(ctx context.Context, line string) {
	p.turn(ctx, func(ctx context.Context) (agent.Response, error) { return p.session.Send(ctx, line) })
}

// turn runs a turn; Ctrl+C interrupts it. An error is told and the chat goes on.
func (p *plainChat) turn(ctx context.Context, run func(ctx context.Context) (agent.Response, error)) {
	reader, shown := p.hub.Subscribe(), sync.WaitGroup{}
	told := &progress{w: p.console.writer(p.a.io.out), replies: true}
	shown.Go(func() { told.run(ctx, reader) })
	stop := onSignal(p.session.Interrupt, os.Interrupt, syscall.SIGTERM)
	_, err := run(ctx)
	stop()
	reader.Close()
	shown.Wait() // all of the turn is printed before the next line is asked for
	told.rest(nil)
	if err != nil && p.session.Unfinished() {
		p.say(text.Clean(p.headless.told(err, p.session.Row()).Error())) // a failed turn stands in the conversation
	}
}

// doubts asks what becomes of calls that were running when the last process ended.
func (p *plainChat) doubts(ctx context.Context) error {
	for _, open := range p.session.InDoubt() {
		p.say(fmt.Sprintf("%s was running when the process ended: %s", text.Line(open.Call.Tool), oneLine(model.PromptText(open.Call.Input))))
		if open.Printed != "" {
			p.say("it had printed: " + oneLine(open.Printed))
		}
		if open.Alive {
			p.say(fmt.Sprintf("process group %d still runs", open.Pgid))
		}
		for answered := false; !answered; {
			line, err := p.read(ctx, "R run it again, i tell the model that it was cut off, x end its process, or k RESULT > ")
			if err != nil {
				return err
			}
			answered = p.answer(ctx, open, strings.TrimSpace(line))
		}
	}
	return nil
}

// answer answers for one open call; it reports false for what is no answer.
func (p *plainChat) answer(ctx context.Context, open agent.OpenCall, line string) bool {
	letter, result, _ := strings.Cut(line, " ")
	how := map[string]agent.Resolution{"R": agent.ResolveRerun, "i": agent.ResolveInterrupted, "k": agent.ResolveResult}[letter]
	switch {
	case letter == "x":
		p.told(p.session.EndProcess(ctx, open.Key), "its process was ended")
		return false
	case how == "" || how == agent.ResolveResult && result == "":
		return false
	}
	if err := p.session.Resolve(ctx, open.Key, how, result); err != nil {
		p.say(text.Clean(err.Error()))
		return false
	}
	return true
}

// read reads a line after a label: from the terminal, or from what is piped in.
func (p *plainChat) read(ctx context.Context, label string) (string, error) {
	if p.piped != nil {
		line, err := p.piped.ReadString('\n')
		if line != "" {
			err = nil
		}
		return line, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer onSignal(cancel, os.Interrupt, syscall.SIGTERM)()
	return p.console.ask(ctx, label)
}

// say prints a line to the person.
func (p *plainChat) say(line string) { fmt.Fprintln(p.a.io.out, "· "+line) }
