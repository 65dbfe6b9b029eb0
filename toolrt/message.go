package toolrt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// errorObject is what the model reads of a failure that GPTScript has no words for (R48).
type errorObject struct {
	Error     string   `json:"error"`
	Kind      Kind     `json:"kind"`
	Tool      string   `json:"tool,omitempty"`
	Retryable *bool    `json:"retryable,omitempty"`
	Problems  []string `json:"problems,omitempty"`
	DidYou    []string `json:"did_you_mean,omitempty"`
	Available []string `json:"available_tools,omitempty"`
	LimitMS   int64    `json:"limit_ms,omitempty"`
	Feedback  string   `json:"feedback,omitempty"`
	Arguments string   `json:"changed_arguments,omitempty"`
	OutputID  string   `json:"full_output_id,omitempty"`
	Partial   string   `json:"partial_output,omitempty"`
}

// encode is the JSON of v without escapes for HTML (R47).
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprintf("%q", err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// errorMessage is the text that the model reads of e: e's own words if Plain, else an object of at
// most limit bytes, which stays whole JSON whatever has to be cut (R49, R50).
func errorMessage(e *Error, outputID, changed string, limit int) string {
	if e.Plain {
		return e.Message
	}
	o := errorObject{
		Error: e.Message, Kind: e.Kind, Tool: clip(e.Tool), Retryable: e.Retryable, Problems: e.Problems, DidYou: e.DidYou,
		Available: e.Available, LimitMS: e.LimitMS, Feedback: e.Feedback, Arguments: changed, OutputID: outputID, Partial: e.Partial,
	}
	text := encode(o)
	for _, part := range []struct {
		text *string
		cut  func(string, int) string
	}{{&o.Partial, cutStart}, {&o.Arguments, cutText}, {&o.Error, cutText}, {&o.Feedback, cutText}} {
		for len(text) > limit && *part.text != "" {
			// Escapes make the JSON longer than its text, so this may take a few rounds.
			keep := len(*part.text) - max(len(text)-limit, 16)
			*part.text = part.cut(*part.text, max(keep, 0))
			text = encode(o)
		}
	}
	if len(text) > limit {
		o.Problems, o.Available = nil, nil
		text = encode(o)
	}
	return text
}

// cutText shortens s to at most size bytes, with an ellipsis for the rest if there is room.
func cutText(s string, size int) string {
	const ellipsis = "…"
	if len(s) <= size {
		return s
	}
	if size < len(ellipsis) {
		return ""
	}
	return s[:runeStart([]byte(s), size-len(ellipsis))] + ellipsis
}

// cutStart is cutText from the other end: the last part is kept.
func cutStart(s string, size int) string {
	const ellipsis = "…"
	if len(s) <= size {
		return s
	}
	if size < len(ellipsis) {
		return ""
	}
	i := len(s) - (size - len(ellipsis))
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return ellipsis + s[i:]
}

// cleanError makes e's texts fit for the model: valid UTF-8, no escape sequences, no secrets, no
// paths of the program's own files, bounded (R49, R50).
func (r *Runtime) cleanError(e *Error) {
	clean := func(s string, terminal bool) string {
		s = stripControls(s, terminal)
		if r.opts.OutputDir != "" {
			s = strings.ReplaceAll(s, r.opts.OutputDir, "‹outputs›")
		}
		return r.redact(s)
	}
	e.Tool = clean(e.Tool, true)
	e.Message = clean(e.Message, true)
	if !e.Plain {
		e.Message = cutText(e.Message, r.policy.MaxErrorBytes)
	}
	e.Feedback = clean(e.Feedback, false)
	e.Partial = cutStart(clean(e.Partial, true), r.policy.MaxErrorBytes)
	for _, list := range []*[]string{&e.Problems, &e.DidYou, &e.Available} {
		*list = slices.Clone(*list) // the tool may use the same error again
		for i, s := range *list {
			(*list)[i] = clean(s, true)
		}
	}
}

// stripControls makes s valid UTF-8 and takes out escape sequences if it has any. Other control
// characters stay: the encoder escapes them.
func stripControls(s string, sequences bool) string {
	if sequences && strings.ContainsAny(s, "\x1b\u0090\u0098\u009b\u009d\u009e\u009f") {
		san := sanitizer{terminal: true}
		return string(san.end(san.write(nil, []byte(s))))
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// The words of GPTScript for the model (design, Compatibility).
const (
	deniedText  = "Tool call request has been denied"
	abortedText = "\n\nABORTED BY USER"
)

// DenialError is what becomes of a call that d does not allow: GPTScript's words without a note,
// the error object with one (R48).
func DenialError(tool string, d Decision) *Error {
	if d.Note == "" {
		return &Error{Kind: KindDenied, Tool: tool, Message: deniedText, Plain: true}
	}
	yes := true
	who := "the user"
	switch d.By {
	case "rule", "mode", "hook":
		who = "a " + d.By
	case "nobody":
		who = "default: nobody is there to ask"
	}
	return &Error{
		Kind: KindDenied, Tool: tool, Feedback: d.Note, Retryable: &yes,
		Message: "the call was denied by " + who + " and did not run; follow the feedback",
	}
}

func unknownTool(call *Call) *Error {
	e := &Error{Kind: KindNotFound, Tool: call.Name, Plain: true, DidYou: nearNames(call.Name, call.Visible)}
	e.Message = "ERROR: can not call unknown tool named [" + cutText(call.Name, 1024) + "]"
	if len(e.DidYou) > 0 {
		e.Message += "\nDid you mean " + listNames(e.DidYou) + "?"
	}
	return e
}

func skipped(call *Call, reason string) *Error {
	yes := true
	return &Error{Kind: KindSkipped, Tool: call.Name, Message: "the call did not run: " + reason, Retryable: &yes}
}

func unavailable(call *Call, why string, cause error) *Error {
	return &Error{Kind: KindUnavailable, Tool: call.Name, Message: why, Cause: cause}
}

// notStarted is a call that was cancelled before it ran.
func notStarted(call *Call, why string) *Error {
	no := false
	return &Error{Kind: KindCancelled, Tool: call.Name, Message: "the call did not run: " + why, Retryable: &no}
}

func timedOut(call *Call, limit time.Duration, partial string, abandoned bool) *Error {
	message := fmt.Sprintf("%s was stopped at its limit of %v; what it did until then may have taken effect", call.Name, limit)
	if abandoned {
		message = fmt.Sprintf("%s passed its limit of %v and does not react to being stopped: it may still be going on", call.Name, limit)
	}
	yes := true
	return &Error{Kind: KindTimeout, Tool: call.Name, Message: message, LimitMS: limit.Milliseconds(), Partial: partial, Retryable: &yes}
}

func crashed(call *Call, value string) *Error {
	first, _, _ := strings.Cut(value, "\n")
	no := false
	return &Error{
		Kind: KindPanic, Tool: call.Name, Retryable: &no,
		Message: "the tool crashed (" + cutText(first, 300) + "); the arguments may be fine: do not simply repeat the call",
	}
}
