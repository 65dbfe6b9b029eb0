package agent

import (
	"context"
	"fmt"
	"time"

	"parley/agent/monitor"
	"parley/toolrt"
)

// JobBook remembers the commands in the background beyond the life of the process, so that the
// next one finds what a crash has left running. Safe for concurrent use.
type JobBook interface {
	// Note keeps a job of the session that has begun, Forget drops it when it has ended.
	Note(session string, j toolrt.Job) error
	Forget(session string, j toolrt.Job) error
}

// Background moves a running command of the turn to the background: the agent goes on with what it
// has printed so far, and it goes on as one of [Session.Jobs]. False means that no such call runs,
// or that it cannot go on by itself (an agent, a context, a request). It returns at once.
func (s *Session) Background(path string) bool { return s.runtime.Background(path) }

// Jobs lists the commands in the background of this session, oldest first, with the last ones that
// have ended. [monitor.JobChanged] tells of changes.
func (s *Session) Jobs() []toolrt.Job { return s.runtime.Jobs() }

// JobOutput returns the last part of what a job has printed. id is the job's or its call's path.
func (s *Session) JobOutput(id string) (string, error) { return s.runtime.JobOutput(id) }

// EndJob ends a job with everything it has started, and returns when it is gone.
func (s *Session) EndJob(ctx context.Context, id string) error { return s.runtime.EndJob(ctx, id) }

// KeepJob says whether a job goes on when the session is closed. Unsaid it is ended then.
func (s *Session) KeepJob(id string, keep bool) error { return s.runtime.KeepJob(id, keep) }

// jobChanged tells the screens, and the book, that a command went to the background or has ended.
func (s *Session) jobChanged(j toolrt.Job) {
	s.emit(monitor.Event{Type: monitor.JobChanged, Path: j.Call, Job: &j})
	book := s.o.Jobs
	if j.Running() {
		if book != nil {
			s.bookError(book.Note(s.Row().ID, j))
		}
		return
	}
	if j.Left() {
		return // it stays in the book: the next start tells of it
	}
	if book != nil {
		s.bookError(book.Forget(s.Row().ID, j))
	}
	s.emit(monitor.Event{Type: monitor.Notice, Path: j.Call,
		Text: fmt.Sprintf("job %s has ended (%s after %v): %s", j.ID, j.State, j.Ended.Sub(j.Started).Round(time.Second), j.Command)})
}

func (s *Session) bookError(err error) {
	if err != nil {
		s.emit(monitor.Event{Type: monitor.Notice, Text: "a command in the background would not be found after a crash: " + err.Error()})
	}
}
