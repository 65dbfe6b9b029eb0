package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"parley/toolrt"
)

// Detached is a program that goes on in the background after its [Run] has returned
// (toolrt.Detached).
type Detached struct {
	r *running
	// after, if not nil, runs when the program has ended or was left to itself.
	after func()
}

var _ toolrt.Detached = (*Detached)(nil)

// Wait waits for the program's end. When ctx ends first, its tree is ended.
func (d *Detached) Wait(ctx context.Context) toolrt.Ended {
	if d.after != nil {
		defer d.after()
	}
	res, err := d.r.finish(ctx)
	switch {
	case closed(d.r.left):
		return toolrt.Ended{State: "left running", Code: -1}
	case err != nil:
		return toolrt.Ended{State: "ended on request", Code: -1, Left: LeftMeta(res.Left)}
	}
	return toolrt.Ended{State: res.State, Code: res.Code}
}

// Leave lets the program go on without parley: what it prints from now on is read and dropped by a
// small process of its own, since a program whose output nobody reads is ended by the system. Wait
// returns. It fails where pipes cannot be handed over, or there is no cat to read them. It is
// called once, while Wait waits.
func (d *Detached) Leave() error {
	cat, err := exec.LookPath("cat")
	if err != nil {
		return fmt.Errorf("leave process group %d running: %w", d.r.pgid, err)
	}
	pipes, err := d.r.pump.handOver()
	if err != nil {
		return fmt.Errorf("leave process group %d running: %w", d.r.pgid, err)
	}
	defer closeAll(pipes)
	for _, pipe := range pipes {
		drain := &exec.Cmd{Path: cat, Args: []string{"cat"}, Stdin: pipe, Dir: string(os.PathSeparator)}
		newSession(drain)
		if err := drain.Start(); err != nil {
			return fmt.Errorf("leave process group %d running: %w", d.r.pgid, err)
		}
		go func() { _ = drain.Wait() }() // it ends with the program, or outlives this process
	}
	close(d.r.left)
	return nil
}
