// Package cli is parley's command line: its commands and flags, and the wiring of store, models,
// credentials, program and screen. [Main] is the whole program.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"parley/toolrt/command"
	"parley/ui/tui/text"
)

// version is set by the Makefile; a plain go build takes it from the build's own information.
var version = ""

// streams are the three streams of the process and what is known of its surroundings.
type streams struct {
	in io.Reader
	// source is the program that "-" means; nil: it is read from in.
	source []byte
	out    io.Writer
	err    io.Writer
	getenv func(string) string
}

// Main runs parley with the arguments after the program's name and returns the exit code.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	io := streams{in: in, out: out, err: errw, getenv: os.Getenv}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	root := newRoot(io)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errDenied) && !errors.Is(err, errSaid) {
		fmt.Fprintf(errw, "parley: %s\n", text.Clean(err.Error()))
	}
	return exitCode(err)
}

// errSaid says that the error was told already.
var errSaid = errors.New("told already")

func newRoot(io streams) *cobra.Command {
	var f flags
	root := &cobra.Command{
		Use:   "parley [FILE.gpt] [MESSAGE]",
		Short: "A terminal chat with agents that use tools",
		Long: "A terminal chat with agents that use tools.\n\n" +
			"Without a file the chat is with parley's own assistant. Every call that can change something\n" +
			"is asked for first; a chat that was left or cut off goes on where it stopped.",
		SilenceUsage: true, SilenceErrors: true, Args: cobra.ArbitraryArgs, Version: versionText(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.fromEnvironment(cmd.Flags(), io.getenv); err != nil {
				return err
			}
			if f.lists() {
				return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return a.list(ctx, args) })
			}
			misplaced(io, cmd.Flags(), args)
			return openChat(cmd.Context(), io, &f, args)
		},
	}
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetVersionTemplate("parley {{.Version}}\n")
	fs := root.Flags()
	fs.SetInterspersed(false) // words after the program are its input
	f.common(fs)
	f.approvals(fs)
	f.headless(fs)
	fs.BoolVarP(&f.goOn, "continue", "c", false, "go on with the last chat of this folder")
	fs.StringVarP(&f.resume, "resume", "r", "", "go on with the chat of that `ID` or name; without one, choose from a list")
	fs.Lookup("resume").NoOptDefVal = pickSession
	fs.StringVarP(&f.message, "prompt", "p", "", "one turn without a screen with parley's own assistant and this `MESSAGE`")
	fs.StringVar(&f.theme, "theme", "", "the theme's `NAME`")
	fs.BoolVar(&f.ascii, "ascii", false, "no box characters")
	fs.BoolVar(&f.plain, "plain", false, "a chat in lines, without a screen: for screen readers, dumb terminals and pipes")
	root.AddCommand(runCommand(io), sessionsCommand(io), historyCommand(io), toolsCommand(io), checkCommand(io), fmtCommand(io), parseCommand(io),
		credentialsCommand(io), modelsCommand(io), jobsCommand(io), themesCommand(io), configCommand(io), doctorCommand(io), versionCommand(io), getenvCommand(io), evalCommand(io), daemonCommand(io))
	root.AddCommand(recordCommands(io)...)
	for _, cmd := range root.Commands() {
		wrongUse(cmd)
	}
	return root
}

// wrongUse makes wrong arguments of a command and of those below it wrong use (exit code 2).
func wrongUse(cmd *cobra.Command) {
	if args := cmd.Args; args != nil {
		cmd.Args = func(cmd *cobra.Command, given []string) error {
			if err := args(cmd, given); err != nil {
				return usagef("%w; use: %s", err, cmd.UseLine())
			}
			return nil
		}
	}
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return cmd.Help()
			}
			return usagef("there is no command %q; %s --help lists them", cmd.CommandPath()+" "+given[0], cmd.CommandPath())
		}
	}
	for _, sub := range cmd.Commands() {
		wrongUse(sub)
	}
}

// openChat is parley without a command: the chat on the screen, or one turn where there is none.
func openChat(ctx context.Context, io streams, f *flags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.resume == pickSession && len(args) > 0 {
		f.resume, args = args[0], args[1:]
	}
	ref, message := "", ""
	if f.message == "" && len(args) > 0 && !f.goOn && f.resume == "" {
		ref, message = args[0], strings.Join(args[1:], " ")
	} else if len(args) > 0 {
		message = strings.Join(args, " ")
	}
	switch {
	case f.message != "":
		message, err := withPiped(io, strings.TrimSpace(f.message+" "+message), f.quiet)
		if err != nil {
			return err
		}
		return runTurn(ctx, io, f, "", message)
	case f.plain, isTerminal(io.out) && io.getenv("TERM") == "dumb":
		if f.resume == pickSession {
			return usagef("there is no list to choose from in lines: name the chat (parley --plain -r ID; parley sessions list shows them)")
		}
		return chatInLines(ctx, io, f, ref, message)
	case !isTerminal(io.out):
		if f.resume == pickSession {
			return usagef("there is no terminal to choose a chat on: name it (parley -r ID MESSAGE; parley sessions list shows them)")
		}
		if ref == "" && f.session == "" && !f.goOn && f.resume == "" {
			return usagef("there is no terminal on stdout: name a program (parley FILE.gpt MESSAGE) or use parley -p MESSAGE")
		}
		return runTurn(ctx, io, f, ref, message)
	}
	message, err := f.readInput(io, message)
	if err != nil {
		return err
	}
	return chat(ctx, io, f, ref, message)
}

func runCommand(io streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "run FILE.gpt|- [INPUT]",
		Short: "Run one turn without a screen: the reply on stdout, progress on stderr",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.fromEnvironment(cmd.Flags(), io.getenv); err != nil {
				return err
			}
			if err := f.check(); err != nil {
				return err
			}
			if f.lists() {
				return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return a.list(ctx, args) })
			}
			if f.message != "" {
				message, err := withPiped(io, f.message, f.quiet)
				if err != nil {
					return err
				}
				return runTurn(cmd.Context(), io, &f, "", message)
			}
			if len(args) == 0 && f.session != "" {
				return runTurn(cmd.Context(), io, &f, "", "") // finishes what was cut off
			}
			if len(args) == 0 {
				return usagef("parley run needs a program: parley run FILE.gpt INPUT, or parley run -p MESSAGE")
			}
			return runTurn(cmd.Context(), io, &f, args[0], strings.Join(args[1:], " "))
		},
	}
	f.common(cmd.Flags())
	f.approvals(cmd.Flags())
	f.headless(cmd.Flags())
	cmd.Flags().StringVarP(&f.message, "prompt", "p", "", "with parley's own assistant and this `MESSAGE`")
	return cmd
}

func versionCommand(io streams) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(io.out, "parley "+versionText())
			return err
		}}
}

// getenvCommand reads a variable as tools get it: large values come compressed (6.2).
func getenvCommand(io streams) *cobra.Command {
	return &cobra.Command{Use: "getenv NAME [DEFAULT]", Short: "Print a variable of the environment, for the scripts of tools", Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			value := io.getenv(args[0])
			if value == "" && len(args) > 1 {
				value = args[1]
			}
			value, err := command.Decompress(value)
			if err != nil {
				return fmt.Errorf("variable %s: %w", args[0], err)
			}
			_, err = fmt.Fprint(io.out, value)
			return err
		}}
}

// versionText is the version for people.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "development " + s.Value[:12]
		}
	}
	return "development"
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// killTime is how long what runs is given to end: the group of a command that ignores TERM gets KILL
// within it.
const killTime = 2 * time.Second

// onSignal calls f at the first of the signals, or when the terminal hangs up. At the second it ends
// the process, unless that ends by itself within killTime: no command is left behind. Under nohup a
// hang-up stays ignored.
func onSignal(f func(), signals ...os.Signal) (stop func()) {
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, signals...)
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-ch:
				if n == 0 {
					f()
					continue
				}
				select {
				case <-done:
					return
				case <-time.After(killTime):
					os.Exit(exitInterrupted)
				}
			}
		}
	}()
	return func() {
		signal.Stop(ch)
		close(done)
		<-finished
	}
}
