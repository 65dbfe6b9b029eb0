package cli

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"parley/toolrt/command"
	"parley/ui/tui/text"
)

// daemonCommandName is how parley starts itself as the supervisor of a daemon (6.7).
const daemonCommandName = "sys.daemon"

// daemonCommand runs a command until it ends, or until the parley that started it is gone.
func daemonCommand(io streams) *cobra.Command {
	return &cobra.Command{Use: daemonCommandName + " COMMAND…", Hidden: true, DisableFlagParsing: true,
		Short: "Run a command for as long as standard input is open; parley runs the daemons of programs below it",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s runs the command that follows it", daemonCommandName)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			code, err := command.Supervise(ctx, args, io.in, io.out, io.err, os.Environ())
			if err != nil {
				return fmt.Errorf("run %s: %w", args[0], err)
			}
			if code != 0 {
				return codeError(code)
			}
			return nil
		}}
}

// codeError is the exit code of a command that was run on its behalf.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Unwrap says that the command has told what went wrong.
func (codeError) Unwrap() error { return errSaid }

// daemons says how the daemons of programs are run.
func (a *app) daemons() (command.DaemonOptions, error) {
	o := command.DaemonOptions{}
	if a.printed != nil {
		o.Output = cleanWriter{a.printed}
	}
	if bin, err := os.Executable(); err == nil {
		o.Supervisor = []string{bin, daemonCommandName}
	}
	var err error
	if ports := firstSet(a.f.ports, a.io.getenv("GPTSCRIPT_PORTS")); ports != "" {
		if o.Ports, err = command.ParsePorts(ports); err != nil {
			err = usagef("--ports: %w", err)
		}
	}
	return o, err
}

// cleanWriter shows text from elsewhere without what steers a terminal.
type cleanWriter struct{ w io.Writer }

func (c cleanWriter) Write(b []byte) (int, error) {
	_, err := io.WriteString(c.w, text.Clean(string(b)))
	return len(b), err
}
