package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"parley/agent"
	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt/approval"
	"parley/ui/tui/text"
)

func replayCommand(io streams) *cobra.Command {
	var f flags
	var o agent.ReplayOptions
	var from int
	cmd := &cobra.Command{Use: "replay ID|NAME", Short: "Play a chat from its record: no model is asked, no tool runs, nothing is written",
		Long: "Play a chat from its record: no model is asked, no tool runs, nothing is written.\n\n" +
			"Replies go to stdout and progress to stderr, as with parley run. With --verify the turns are\n" +
			"walked again and each request is compared with the recorded one; the first that differs ends\n" +
			"it with exit code 1. --current takes the program as it is now, to see what a change of it does\n" +
			"to the requests.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if from < 1 {
				return usagef("--from %d: turns are counted from 1", from)
			}
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return replay(ctx, a, args[0], from, o) })
		}}
	f.common(cmd.Flags())
	cmd.Flags().BoolVar(&o.Verify, "verify", false, "compare each request with the recorded one; stop at the first that differs")
	cmd.Flags().BoolVar(&o.Current, "current", false, "with the program as it is now, not as each turn had it")
	cmd.Flags().IntVar(&from, "from", 1, "begin with that `TURN`")
	cmd.Flags().StringVar(&f.output, "output", "text", "`FORM` of stdout: text, json (one object a turn) or events (one JSON a line)")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress on stderr")
	return cmd
}

// replay plays the turns of a session to the streams.
func replay(ctx context.Context, a *app, idOrName string, from int, o agent.ReplayOptions) (err error) {
	row, err := a.findSession(ctx, idOrName)
	if err != nil {
		return sessionError(idOrName, err)
	}
	if row.Turns > 0 && from > row.Turns {
		return usagef("--from %d: the chat has %d turns", from, row.Turns)
	}
	rec, err := a.store.Record(ctx, row.ID)
	if err != nil {
		return err
	}
	h := &headless{a: a, hub: &monitor.Hub{}, console: newConsole(a.io)}
	r, err := agent.NewReplay(ctx, a.replayOptions(row, h.hub), rec, o)
	if err != nil {
		return err
	}
	watched, err := h.watch(ctx)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	stop := onSignal(r.Interrupt, os.Interrupt, syscall.SIGTERM)
	last := from - 1
	for n := from; n <= row.Turns && err == nil; n++ {
		if err = h.replayTurn(ctx, r, row, n); err == nil {
			last = n
		}
	}
	stop()
	err = errors.Join(err, r.Close())
	h.hub.Close()
	watched()
	h.progress.rest(nil)
	if o.Verify && err == nil {
		h.say(fmt.Sprintf("turns %d to %d: every request is the recorded one", from, last))
	}
	return err
}

// replayTurn plays one turn and prints its reply.
func (h *headless) replayTurn(ctx context.Context, r *agent.Replay, row record.Session, number int) error {
	resp, turn, err := r.Turn(ctx, number)
	if diff := (*agent.Difference)(nil); errors.As(err, &diff) {
		return &toldError{text.Clean(diff.Error()), err}
	}
	if err != nil {
		return err
	}
	out := h.a.io.out
	switch h.a.f.output {
	case "events":
		return nil
	case "json":
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		res := result{Session: row.ID, Turn: turn.Number, Status: string(turn.Status), Done: resp.Done, Reply: resp.Content,
			Agent: resp.Agent, Model: turn.Model, Denied: resp.Denied}
		if turn.Error != "" {
			res.Error = &resultError{Message: turn.Error, Exit: exitFailed}
		}
		return enc.Encode(res)
	}
	reply := resp.Content
	if reply == "" {
		return nil
	}
	if isTerminal(out) {
		reply = text.Clean(reply)
	}
	if !strings.HasSuffix(reply, "\n") {
		reply += "\n"
	}
	_, err = fmt.Fprint(out, reply)
	return err
}

// replayOptions is what a replay needs of its surroundings: no more than what decides how requests
// are built.
func (a *app) replayOptions(row record.Session, hub *monitor.Hub) agent.Options {
	limits := a.cfg.policy()
	limits.Sequential = a.f.sequential
	return agent.Options{
		Hub: hub, OpenModel: a.opener(row), OpenVia: a.openVia, Builtins: a.builtins, Policy: approval.New(row.Dir, row.Workspace, approval.ModeAsk),
		Program: func(ctx context.Context) (*program.Program, error) {
			prg, _, err := a.loadProgram(ctx, row.Program, row.SubTool)
			return prg, err
		},
		Redactor: a.redactor, Runtime: limits, Dir: row.Dir, Workspace: row.Workspace, MaxToolRounds: a.toolRounds(), Loop: a.cfg.loop(),
	}
}
