package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"parley/agent/monitor"
	"parley/agent/record"
	"parley/toolrt"
	"parley/toolrt/sys"
	"parley/toolrt/undo"
)

// errNoUndo says that a session keeps no changes of files.
var errNoUndo = errors.New("changes of files are not kept: this chat is not saved")

// changes is the session's memory of file changes, nil when there is none.
func (s *Session) changes() toolrt.Changes {
	if s.o.Undo == nil {
		return nil
	}
	return s.o.Undo
}

// Undo takes back what tools did to files in the newest turn that changed some and was not taken
// back yet. A file that somebody has changed since is a [*undo.ConflictError], and then nothing is
// touched, unless how says otherwise. What commands of the turn changed is named in the report: it
// cannot be taken back. [undo.ErrNothing] says that there is no such turn, ErrBusy that a turn runs.
func (s *Session) Undo(ctx context.Context, how undo.How) (undo.Report, error) {
	return s.takeBack(ctx, "undo", func(log *undo.Log) (undo.Report, error) { return log.Undo(how) })
}

// Redo does again what the last Undo took back; the rules of Undo hold.
func (s *Session) Redo(ctx context.Context, how undo.How) (undo.Report, error) {
	return s.takeBack(ctx, "redo", func(log *undo.Log) (undo.Report, error) { return log.Redo(how) })
}

// FileChanges returns what the tools of the session have made of files (/diff). What commands changed
// is not in it.
func (s *Session) FileChanges(context.Context) ([]undo.Difference, error) {
	if s.o.Undo == nil {
		return nil, errNoUndo
	}
	return s.o.Undo.Differences()
}

func (s *Session) takeBack(ctx context.Context, what string, act func(*undo.Log) (undo.Report, error)) (undo.Report, error) {
	if s.o.Undo == nil {
		return undo.Report{}, errNoUndo
	}
	if s.Unfinished() {
		return undo.Report{}, errors.New("the last turn is not finished: go on with it first")
	}
	release, err := s.claim(func(error) {}) // it takes no time worth interrupting
	if err != nil {
		return undo.Report{}, err
	}
	defer release()
	report, err := act(s.o.Undo)
	if err != nil {
		return report, err
	}
	if report.NotCovered, err = s.notCovered(ctx, report); err != nil {
		return report, err
	}
	return report, s.noteUndo(ctx, what, report)
}

// noteUndo puts the undo on record: an entry of the journal with its report, and a line in the
// conversation.
func (s *Session) noteUndo(ctx context.Context, what string, report undo.Report) error {
	s.mu.Lock()
	turn := s.last.Number
	s.mu.Unlock()
	entries, err := s.journal.Entries(ctx, turn)
	if err != nil {
		return fmt.Errorf("record the %s: %w", what, err)
	}
	key := record.Key{Turn: turn, Path: "undo"}
	for _, e := range entries {
		if e.Kind == record.EntryUndo {
			key.Ordinal++
		}
	}
	request, _ := json.Marshal(what) // a string
	result, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("record the %s: %w", what, err)
	}
	rows := record.Rows{Durable: true, Messages: []record.Message{{Conversation: fmt.Sprintf("%d/undo", turn), Index: key.Ordinal, Turn: turn,
		Shown: true, Notice: undoLine(what, report), Time: s.now()}}}
	e := record.Entry{Key: key, Kind: record.EntryUndo, Hash: hashOf(request), Request: request, Result: result, Finished: true,
		Repeatable: true, Started: s.now(), Ended: s.now()}
	if err := s.journal.Finish(ctx, &e, rows); err != nil {
		return fmt.Errorf("record the %s: %w", what, err)
	}
	s.emit(monitor.Event{Type: monitor.RowsChanged, Messages: rows.Messages})
	return nil
}

// undoLine is the line about an undo in the conversation.
func undoLine(what string, r undo.Report) string {
	verb := map[string]string{"undo": "took back", "redo": "did again"}[what]
	files := fmt.Sprintf("%d files", len(r.Done))
	if len(r.Done) == 1 {
		files = "1 file"
	}
	line := fmt.Sprintf("%s what tools did to %s in turn %d", verb, files, r.Turn)
	if n := len(r.Left); n > 0 {
		line += fmt.Sprintf("; %d left as they are", n)
	}
	if n := len(r.NotCovered); n > 0 {
		line += fmt.Sprintf("; %d changed by commands are not covered", n)
	}
	return line
}

// notCovered names what the turn's commands changed: the commands, and the files below the working
// folder that changed while they ran.
func (s *Session) notCovered(ctx context.Context, report undo.Report) ([]undo.Item, error) {
	calls, err := s.journal.Calls(ctx, report.Turn)
	if err != nil {
		return nil, fmt.Errorf("read the turn's calls: %w", err)
	}
	var windows []undo.Window
	for _, c := range calls {
		if !c.Agent && !c.Started.IsZero() && c.Category == "" && mayChangeFiles(c.Tool) {
			to := c.Finished
			if to.IsZero() {
				to = s.now()
			}
			windows = append(windows, undo.Window{From: c.Started, To: to, Command: strings.Join(strings.Fields(c.Tool+" "+c.Input), " ")})
		}
	}
	found, complete := undo.ChangedDuring(ctx, s.o.Dir, windows)
	covered := map[string]bool{}
	for _, item := range report.Done {
		covered[item.Path] = true
	}
	var items []undo.Item
	for _, item := range found {
		if !covered[item.Path] {
			items = append(items, item)
		}
	}
	if !complete {
		items = append(items, undo.Item{Path: s.o.Dir, What: "there are too many files to look for all that commands changed"})
	}
	return items, nil
}

// mayChangeFiles reports whether a tool can change files that it does not name: any but the other
// built-ins.
func mayChangeFiles(tool string) bool {
	if tool == "sys.exec" || tool == "sys.shell" {
		return true
	}
	_, builtin := sys.New(tool)
	return !builtin
}
