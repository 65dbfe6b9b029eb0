package cli

import (
	"context"
	"strings"
	"time"

	"parley/toolrt"
	"parley/toolrt/command"
)

// processes finds what executions of a dead process have left running (agent.Processes).
type processes struct{ dir string }

func (p processes) Find(outputID string) (pgid int, started time.Time, ok bool) {
	groups, err := toolrt.Processes(p.dir, outputID)
	if err != nil || len(groups) == 0 {
		return 0, time.Time{}, false
	}
	last := groups[len(groups)-1]
	return last.PGID, last.Started, true
}

func (processes) Alive(pgid int, started time.Time) bool { return command.Alive(pgid, started) }

func (processes) End(ctx context.Context, pgid int, started time.Time) error {
	return command.End(ctx, pgid, started)
}

// printedTail is how many lines of what was printed are shown.
const printedTail = 200

// Printed returns the last lines of an output.
func (p processes) Printed(outputID string) string {
	lines, err := lastLines(p.dir, outputID, printedTail)
	if err != nil {
		return ""
	}
	return strings.Join(lines, "\n")
}

// lastLines reads the last n lines of a saved output.
func lastLines(dir, outputID string, n int) ([]string, error) {
	out, err := toolrt.OpenOutput(dir, outputID)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }() // opened for reading
	const whole = 32 << 20
	_, total, err := out.Lines(1, 1, whole)
	if err != nil || total == 0 {
		return nil, err
	}
	lines, _, err := out.Lines(max(1, total-n+1), n, whole)
	return lines, err
}
