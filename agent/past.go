package agent

import (
	"parley/toolrt"
	"parley/toolrt/approval"
)

// maxPast is how many calls are remembered to say what a rule would have matched.
const maxPast = 200

// rememberPast keeps what was judged of a call, without its environment and texts.
func (s *Session) rememberPast(f approval.Facts) {
	call := f.Call
	f.Call = &toolrt.Call{Dir: call.Dir, Workspace: call.Workspace, ScriptHash: call.ScriptHash, Category: call.Category}
	f.Preview.Diff, f.Preview.Command = "", ""
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.past) >= maxPast {
		s.past = append(s.past[:0], s.past[1:]...)
	}
	s.past = append(s.past, f)
}

// pastMatches counts the calls of this session that the rules would have allowed by themselves.
func (s *Session) pastMatches(rules []approval.Rule) int {
	s.mu.Lock()
	past := append([]approval.Facts(nil), s.past...)
	s.mu.Unlock()
	trial := approval.New(s.o.Dir, s.o.Workspace, approval.ModeAsk)
	for _, r := range rules {
		trial.Add(r)
	}
	n := 0
	for _, f := range past {
		if v := trial.Judge(f); v.Effect == approval.Allow && v.By == "rule" {
			n++
		}
	}
	return n
}
