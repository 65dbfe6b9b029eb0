package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parley/agent"
	"parley/persist"
	"parley/toolrt"
	"parley/toolrt/approval"
	"parley/ui/tui/text"
)

// recordCommands are those that look at, and go on with, what is on record.
func recordCommands(io streams) []*cobra.Command {
	return []*cobra.Command{approvalsCommand(io), undoCommand(io, "undo"), undoCommand(io, "redo"), replayCommand(io),
		statsCommand(io), sqlCommand(io)}
}

func approvalsCommand(io streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "approvals", Short: "The log of decisions about calls, and the rules that decide",
		Long: "The log of decisions about calls, and the rules that decide.\n\n" +
			"Every decision is kept, automatic ones too, and never changed: who or what decided, by which\n" +
			"rule, and the arguments that were decided about. Rules stand in the settings of the project\n" +
			"(.parley/config.json) and in your own."}
	f.stored(cmd.PersistentFlags())
	cmd.AddCommand(decisionsCommand(io, &f, "list [ID|NAME]", "List decisions, newest first, of one chat or of all", printDecisions),
		rulesCommand(io, &f), testRuleCommand(io, &f), revokeCommand(io, &f),
		decisionsCommand(io, &f, "audit [ID|NAME]", "Decisions with what became of their calls; fails if a call ran without one", audit))
	return cmd
}

// decisionsCommand is a command that reads the log.
func decisionsCommand(io streams, f *flags, use, short string, print func(ctx context.Context, a *app, q persist.DecisionQuery, list []persist.Decision) error) *cobra.Command {
	var q persist.DecisionQuery
	var since string
	var asJSON bool
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, f, func(ctx context.Context, a *app) error {
				err := a.chosen(ctx, args, since, &q.Session, &q.Since)
				if err != nil {
					return err
				}
				list, err := a.store.Decisions(ctx, q)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSONLines(a, list, func(d persist.Decision) any { return d })
				}
				return print(ctx, a, q, list)
			})
		}}
	cmd.Flags().StringVar(&q.Tool, "tool", "", "about that tool only, e.g. sys.exec")
	cmd.Flags().StringVar(&q.By, "by", "", "made by: user, rule, mode, safe, flag, hook, nobody")
	cmd.Flags().StringVar(&q.Rule, "rule", "", "by that rule, or that made it")
	cmd.Flags().BoolVar(&q.Denied, "denied", false, "denials only")
	cmd.Flags().StringVar(&since, "since", "", "since a time ago (90m, 24h, 7d) or a date (2026-01-31)")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "at most so many; -1 means all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// chosen fills in which session and what time a query is about.
func (a *app) chosen(ctx context.Context, args []string, since string, session *string, from *time.Time) error {
	if len(args) > 0 {
		row, err := a.findSession(ctx, args[0])
		if err != nil {
			return sessionError(args[0], err)
		}
		*session = row.ID
	}
	var err error
	*from, err = parseSince(since, time.Now())
	return err
}

// parseSince reads a point in time: a duration before now, with d for days, or a date, with a time
// perhaps. "" is the zero time.
func parseSince(value string, now time.Time) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, value, time.Local); err == nil {
			return t, nil
		}
	}
	text, unit := value, time.Duration(0)
	if days, ok := strings.CutSuffix(value, "d"); ok {
		text, unit = days+"h", 24*time.Hour
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return time.Time{}, usagef("--since %q: it must be a time ago such as 90m, 24h or 7d, or a date such as 2026-01-31", value)
	}
	if unit > 0 {
		d *= 24
	}
	return now.Add(-d), nil
}

// verdict is a decision in a word.
func verdict(d toolrt.Decision) string {
	if d.Allow {
		return "allow"
	}
	return "deny"
}

// decider says who or what decided, and by which rule.
func decider(d toolrt.Decision) string {
	by := d.By
	if d.Scope != "" && d.Scope != "once" {
		by += " (" + d.Scope + ")"
	}
	if d.Rule != "" {
		by += " " + d.Rule
	}
	return oneLine(by)
}

// decided is when a decision was made, "" when that is not known.
func decided(d toolrt.Decision) string {
	if d.At.IsZero() {
		return ""
	}
	return d.At.Local().Format("2006-01-02 15:04:05")
}

func printDecisions(_ context.Context, a *app, _ persist.DecisionQuery, list []persist.Decision) error {
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	for _, d := range list {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", d.ID, decided(d.Decision), verdict(d.Decision), text.Line(d.Tool), decider(d.Decision), oneLine(d.Args))
	}
	return w.Flush()
}

// errUndecided says that the audit found calls that ran without a decision.
var errUndecided = errors.New("calls ran without a decision on record")

// audit prints each decision with what became of its call, and looks for calls without one.
func audit(ctx context.Context, a *app, q persist.DecisionQuery, list []persist.Decision) error {
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	count := map[string]int{}
	for _, d := range list {
		count[d.Decision.By]++
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.ID, decided(d.Decision), verdict(d.Decision), became(d), text.Line(d.Tool),
			decider(d.Decision), oneLine(strings.TrimSpace(d.Decision.Reason+" "+quotedNote(d.Decision))), oneLine(d.Args))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	undecided, err := a.store.Undecided(ctx, q.Session)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.io.out, "\n%d decisions:", len(list))
	for _, by := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(a.io.out, " %s %d", by, count[by])
	}
	fmt.Fprintf(a.io.out, "\n%d calls ran without a decision on record\n", len(undecided))
	for _, e := range undecided {
		fmt.Fprintf(a.io.out, "  %s %s %s: %s\n", e.Session, e.Path, text.Line(e.Tool), oneLine(e.Input))
	}
	if len(undecided) > 0 {
		return errUndecided
	}
	return nil
}

func quotedNote(d toolrt.Decision) string {
	if d.Note == "" {
		return ""
	}
	return "“" + d.Note + "”"
}

// became is how the call of a decision ended, and with which exit code.
func became(d persist.Decision) string {
	s := string(d.Status)
	if d.ExitCode != nil && *d.ExitCode != 0 {
		s += fmt.Sprintf(" %d", *d.ExitCode)
	}
	return s
}

// rulesInForce are the rules that hold in the working folder, and what is wrong with others.
func (a *app) rulesInForce() ([]approval.Rule, []error) {
	return approval.Load(filepath.Join(a.paths.dir, ".parley", "config.json"), a.paths.config, a.trusted)
}

func rulesCommand(io streams, f *flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "rules", Short: "List the rules that hold in this folder, with their ids", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, io, f, func(_ context.Context, a *app) error {
				rules, errs := a.rulesInForce()
				rules = slices.Concat(approval.New(a.paths.dir, "", approval.ModeAsk).Rules(), rules)
				for _, err := range errs {
					fmt.Fprintln(io.err, "· "+text.Clean(err.Error()))
				}
				if asJSON {
					return writeJSONLines(a, rules, func(r approval.Rule) any { return r })
				}
				w := tabwriter.NewWriter(io.out, 0, 4, 2, ' ', 0)
				for _, r := range rules {
					until := ""
					if !r.Expires.IsZero() {
						until = "until " + r.Expires.Local().Format("2006-01-02 15:04")
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Effect, oneLine(r.String()), until, oneLine(r.Note))
				}
				return w.Flush()
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// trialCalls is how many past calls a rule is tried on.
const trialCalls = 10_000

func testRuleCommand(io streams, f *flags) *cobra.Command {
	var effect, session, since string
	var asJSON bool
	cmd := &cobra.Command{Use: "test RULE", Short: "List the past calls that a rule would have decided about", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, f, func(ctx context.Context, a *app) error {
				var e approval.Effect
				if err := e.UnmarshalText([]byte(effect)); err != nil {
					return usagef("--effect: %w", err)
				}
				rules, err := agent.ParseRules(e, args[0], approval.Session)
				if err != nil {
					return usageError{err}
				}
				q := persist.HistoryQuery{Limit: trialCalls}
				var chats []string
				if session != "" {
					chats = []string{session}
				}
				if err := a.chosen(ctx, chats, since, &q.Session, &q.Since); err != nil {
					return err
				}
				hits, err := a.tryRules(ctx, rules, q)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSONLines(a, hits, func(e persist.Execution) any { return e })
				}
				return printTrial(a, hits)
			})
		}}
	cmd.Flags().StringVar(&effect, "effect", "allow", "what the rule says: allow, ask or deny")
	cmd.Flags().StringVar(&session, "session", "", "calls of the chat of that `ID` or name only")
	cmd.Flags().StringVar(&since, "since", "", "calls since a time ago (24h, 7d) or a date")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func printTrial(a *app, hits []persist.Execution) error {
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	for _, e := range hits {
		was := ""
		if e.Decision != nil {
			was = verdict(*e.Decision) + " by " + decider(*e.Decision)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Created.Local().Format("2006-01-02 15:04:05"), text.Line(e.Tool), was, oneLine(e.Input))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.io.out, "%d past calls\n", len(hits))
	return err
}

// tryRules returns the executions that q chooses and the rules would have decided about.
func (a *app) tryRules(ctx context.Context, rules []approval.Rule, q persist.HistoryQuery) ([]persist.Execution, error) {
	list, err := a.store.History(ctx, q)
	if err != nil {
		return nil, err
	}
	past := pastPrograms{a: a, rules: rules}
	var hits []persist.Execution
	for _, e := range list {
		matches, err := past.matches(ctx, e)
		if err != nil {
			return nil, err
		}
		if matches {
			hits = append(hits, e)
		}
	}
	return hits, nil
}

func revokeCommand(io streams, f *flags) *cobra.Command {
	return &cobra.Command{Use: "revoke ID", Short: "Take a rule out of the settings that keep it (parley approvals rules shows ids)", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, f, func(ctx context.Context, a *app) error {
				rules, _ := a.rulesInForce()
				i := slices.IndexFunc(rules, func(r approval.Rule) bool { return r.ID == args[0] })
				if i < 0 {
					return fmt.Errorf("rule %q: %w (parley approvals rules lists what holds in this folder; built-in rules stay)", args[0], agent.ErrNotFound)
				}
				if err := a.forgetRule(ctx, rules[i]); err != nil {
					return fmt.Errorf("revoke rule %s: %w", rules[i].String(), err)
				}
				_, err := fmt.Fprintf(io.out, "revoked %s %s (%s)\n", rules[i].Effect, text.Line(rules[i].String()), rules[i].Scope)
				return err
			})
		}}
}
