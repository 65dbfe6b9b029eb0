package sys

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/toolrt"
)

const (
	// settleTime is how long a command that is to run in the background is watched first: one that
	// fails at once is answered as such.
	settleTime = 400 * time.Millisecond
	// maxShellSeconds bounds the limit that a call may name.
	maxShellSeconds = 24 * 60 * 60
	// maxJobWait bounds how long sys.jobs waits for an end, in seconds.
	maxJobWait = 500
)

// shellLimit is the time limit that a call of sys.shell names.
func shellLimit(a args) time.Duration {
	return time.Duration(a.number("timeout", 0)) * time.Second
}

// runLimited is sys.shell: sys.exec with a time limit of the call's own, or in the background.
func runLimited(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	if !a.flag("background") {
		return runShell(ctx, inv, a, inv.Background)
	}
	if inv.Background == nil {
		return failed("ERROR: the output of this call is passed on whole, so it cannot run in the background"), nil
	}
	soon := make(chan struct{})
	timer := time.AfterFunc(settleTime, func() { close(soon) })
	defer timer.Stop()
	return runShell(ctx, inv, a, soon)
}

// listJobs is sys.jobs.
func listJobs(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	if inv.Jobs == nil {
		return text("There are no commands in the background."), nil
	}
	if id := a["id"]; id != "" {
		return showJob(ctx, inv, id, a.number("wait", 0))
	}
	jobs := inv.Jobs.Jobs()
	if len(jobs) == 0 {
		return text("There are no commands in the background."), nil
	}
	var b strings.Builder
	for _, j := range jobs {
		b.WriteString(describeJob(j) + "\n")
	}
	return toolrt.Output{Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

// showJob tells how one job stands and what it has printed last, after waiting for its end if asked
// to.
func showJob(ctx context.Context, inv *toolrt.Invocation, id string, seconds int) (toolrt.Output, error) {
	wait, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	j, err := inv.Jobs.WaitJob(wait, id)
	if err != nil {
		return failed("ERROR: %v", err), nil
	}
	if ctx.Err() != nil {
		return toolrt.Output{}, ctx.Err()
	}
	printed, err := inv.Jobs.JobOutput(id)
	if err != nil {
		return failed("ERROR: %v", err), nil
	}
	out := describeJob(j)
	if j.OutputID != "" && j.Bytes > int64(len(printed)) {
		out += fmt.Sprintf("\nThe last part of what it printed (all of it: %s of %s):", ReadOutput, j.OutputID)
	}
	return toolrt.Output{Text: strings.TrimSuffix(out+"\n"+printed, "\n")}, nil
}

// describeJob is a job in one line.
func describeJob(j toolrt.Job) string {
	end, state := time.Now(), "running for"
	if !j.Running() {
		end, state = j.Ended, j.State+" after"
	}
	line := fmt.Sprintf("job %s: %s %v, %d bytes printed: %s", j.ID, state, end.Sub(j.Started).Round(time.Second), j.Bytes, j.Command)
	if len(j.Agents) > 0 {
		line += " (asked for by " + strings.Join(j.Agents, " > ") + ")"
	}
	return line
}

// endJob is sys.jobs.end.
func endJob(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	if inv.Jobs == nil {
		return failed("ERROR: there is no command %q in the background", a["id"]), nil
	}
	if err := inv.Jobs.EndJob(ctx, a["id"]); err != nil {
		if ctx.Err() != nil {
			return toolrt.Output{}, ctx.Err()
		}
		return failed("ERROR: %v", err), nil
	}
	return text("Job %s has ended.", a["id"]), nil
}

// Limit returns the time limit that a call's arguments name (toolrt.Limiter), zero for none.
func (b *builtin) Limit(arguments string) time.Duration {
	if b.limit == nil {
		return 0
	}
	a, err := b.decode(arguments)
	if err != nil {
		return 0
	}
	return b.limit(a)
}
