package approval

import (
	"slices"
	"strings"
)

// safeTools need no question: they reach nothing but the person and the conversation.
var safeTools = []string{
	"sys.abort", "sys.chat.finish", "sys.chat.history", "sys.chat.current", "sys.echo", "sys.prompt", "sys.time.now",
	"sys.context", "sys.credential", "sys.model.provider.credential",
}

// safe reports whether the tool is on the safe list: a built-in, or a program's tool whose body is
// nothing but one, such as "#!sys.echo".
func (f Facts) safe() bool {
	if f.builtin() && slices.Contains(safeTools, f.Spec.Name) {
		return true
	}
	if f.Call == nil {
		return false
	}
	line, _, _ := strings.Cut(f.Call.Script, "\n")
	name, ok := strings.CutPrefix(strings.TrimSpace(line), "#!")
	return ok && slices.Contains(safeTools, strings.TrimSpace(name))
}

// readsOnly reports whether the call is one of a built-in that changes nothing. What programs and
// servers claim of their tools does not count.
func (j *judge) readsOnly() bool { return j.f.builtin() && j.f.Spec.Flags.ReadOnly }

// plan denies in plan mode what is not read-only. Contexts, filters and credentials are part of
// asking the model at all: they are judged as ever.
func (j *judge) plan() (Verdict, bool) {
	if j.mode != ModePlan || j.readsOnly() || j.f.safe() || j.f.category() != "" {
		return Verdict{}, false
	}
	return Verdict{Effect: Deny, By: "mode", Reason: "denied because in plan mode only reading is allowed"}, true
}

// byMode decides about a call that no rule speaks of.
func (j *judge) byMode() Verdict {
	name := j.f.Spec.Name
	flags := j.f.Spec.Flags
	if j.mode == ModeAuto {
		return Verdict{Effect: Allow, By: "mode", Reason: "allowed by the mode auto"}
	}
	ask := func(why string) Verdict { return Verdict{Effect: Ask, By: "default", Reason: "asked because " + why} }
	local := j.f.builtin() && !flags.External && name != "sys.getenv"
	switch {
	case !j.f.builtin():
		return ask("no rule covers the tool " + name)
	case !local && flags.External:
		return ask("it reaches the network and no rule covers that")
	case !local:
		return ask("it reads the environment and no rule covers that")
	case j.args.broken || j.args.doubled:
		return ask("its arguments cannot be read for certain")
	}
	for _, path := range j.paths {
		if !j.guard.inside(path) {
			return ask("it reaches outside the working folder: " + path)
		}
	}
	switch {
	case flags.ReadOnly:
		return Verdict{Effect: Allow, By: "mode", Reason: "allowed: it only reads inside the working folder"}
	case j.mode == ModeEdits && !flags.Destructive && len(j.paths) > 0:
		return Verdict{Effect: Allow, By: "mode", Reason: "allowed by the mode edits: it writes inside the working folder"}
	case flags.Destructive:
		return ask("it can delete and no rule covers it")
	}
	return ask("it changes something and no rule covers it")
}
