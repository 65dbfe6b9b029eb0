package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parley/persist"
	"parley/ui/tui/text"
)

func statsCommand(io streams) *cobra.Command {
	var f flags
	var session, since string
	var asJSON bool
	cmd := &cobra.Command{Use: "stats", Short: "Count what tools and models did: times, failures, denials, waiting, tokens, cost", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error {
				var q persist.StatsQuery
				var chats []string
				if session != "" {
					chats = []string{session}
				}
				if err := a.chosen(ctx, chats, since, &q.Session, &q.Since); err != nil {
					return err
				}
				s, err := a.stats(ctx, q)
				if err != nil {
					return err
				}
				if asJSON {
					enc := json.NewEncoder(io.out)
					enc.SetIndent("", "  ")
					return enc.Encode(s)
				}
				return s.print(io.out, f.ascii || a.cfg.ASCII)
			})
		}}
	f.common(cmd.Flags())
	cmd.Flags().StringVar(&session, "session", "", "of the chat of that `ID` or name only")
	cmd.Flags().StringVar(&since, "since", "", "since a time ago (24h, 7d) or a date")
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "bars of plain characters")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
	return cmd
}

// statistics is what parley stats prints; durations are milliseconds.
type statistics struct {
	Tools  []toolStats  `json:"tools"`
	Models []modelStats `json:"models"`
}

type toolStats struct {
	Tool     string `json:"tool"`
	Count    int    `json:"count"`
	Ran      int    `json:"ran"`
	Failed   int    `json:"failed"`
	Denied   int    `json:"denied"`
	Broken   int    `json:"broken"` // cancelled, skipped, interrupted
	MedianMs int64  `json:"medianMs"`
	P95Ms    int64  `json:"p95Ms"`
	TotalMs  int64  `json:"totalMs"`
	WaitedMs int64  `json:"waitedMs"` // for approvals
}

type modelStats struct {
	Model            string `json:"model"`
	Count            int    `json:"count"`
	Unended          int    `json:"unended"` // asked, with no reply
	Sessions         int    `json:"sessions"`
	MedianMs         int64  `json:"medianMs"`
	P95Ms            int64  `json:"p95Ms"`
	TotalMs          int64  `json:"totalMs"`
	PromptTokens     int    `json:"promptTokens"`
	CompletionTokens int    `json:"completionTokens"`
	CachedTokens     int    `json:"cachedTokens"`
	ReasoningTokens  int    `json:"reasoningTokens"`
	// CostMicros is in millionths of a dollar at today's known prices, nil when they are not known.
	CostMicros *int64 `json:"costMicros"`
}

func (a *app) stats(ctx context.Context, q persist.StatsQuery) (statistics, error) {
	tools, models, err := a.store.Stats(ctx, q)
	if err != nil {
		return statistics{}, err
	}
	s := statistics{Tools: []toolStats{}, Models: []modelStats{}}
	for _, t := range tools {
		s.Tools = append(s.Tools, toolStats{t.Tool, t.Count, t.Ran, t.Failed, t.Denied, t.Broken,
			t.Took.Median.Milliseconds(), t.Took.P95.Milliseconds(), t.Took.Total.Milliseconds(), t.Waited.Milliseconds()})
	}
	for _, m := range models {
		u := m.Usage
		row := modelStats{Model: m.Model, Count: m.Count, Unended: m.Unended, Sessions: m.Sessions, MedianMs: m.Took.Median.Milliseconds(),
			P95Ms: m.Took.P95.Milliseconds(), TotalMs: m.Took.Total.Milliseconds(), PromptTokens: u.PromptTokens,
			CompletionTokens: u.CompletionTokens, CachedTokens: u.CachedTokens, ReasoningTokens: u.ReasoningTokens}
		if opened, err := a.openModel(m.Model, ""); err == nil {
			if info := opened.Info(); info.InputMicros > 0 || info.OutputMicros > 0 {
				cost := int64(info.InputMicros*float64(u.PromptTokens) + info.OutputMicros*float64(u.CompletionTokens))
				row.CostMicros = &cost
			}
		}
		s.Models = append(s.Models, row)
	}
	return s, nil
}

// barWidth is how many cells the longest bar has.
const barWidth = 20

// bar is a bar of n out of most.
func bar(n, most int, ascii bool) string {
	if most <= 0 || n <= 0 {
		return ""
	}
	full := "█"
	if ascii {
		full = "#"
	}
	return strings.Repeat(full, max(1, n*barWidth/most))
}

func (s statistics) print(out io.Writer, ascii bool) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	most := 0
	for _, t := range s.Tools {
		most = max(most, t.Count)
	}
	fmt.Fprintln(w, "TOOL\tCALLS\tMEDIAN\tP95\tFAILED\tDENIED\tWAITED\t")
	for _, t := range s.Tools {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", text.Line(t.Tool), t.Count, ran(t.MedianMs, t.Ran), ran(t.P95Ms, t.Ran),
			share(t.Failed, t.Count), share(t.Denied, t.Count), ran(t.WaitedMs, int(t.WaitedMs)), bar(t.Count, most, ascii))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	most = 0
	for _, m := range s.Models {
		most = max(most, m.PromptTokens+m.CompletionTokens)
	}
	fmt.Fprintln(w, "\nMODEL\tREPLIES\tMEDIAN\tP95\tUNENDED\tTOKENS IN\tOUT\tCOST\t")
	for _, m := range s.Models {
		cost := "?"
		if m.CostMicros != nil {
			cost = fmt.Sprintf("$%.4f", float64(*m.CostMicros)/1e6)
		}
		ended := m.Count - m.Unended
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", text.Line(m.Model), ended, ran(m.MedianMs, ended), ran(m.P95Ms, ended),
			share(m.Unended, m.Count), m.PromptTokens, m.CompletionTokens, cost, bar(m.PromptTokens+m.CompletionTokens, most, ascii))
	}
	return w.Flush()
}

// ran is a duration, "-" where nothing ran.
func ran(ms int64, count int) string {
	if count == 0 {
		return "-"
	}
	d := time.Duration(ms) * time.Millisecond
	if d >= 10*time.Second {
		d = d.Round(100 * time.Millisecond)
	}
	return d.String()
}

// share is a number with its part of all, "-" for none.
func share(n, all int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%d (%d%%)", n, n*100/max(1, all))
}
