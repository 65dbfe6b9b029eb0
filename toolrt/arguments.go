package toolrt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const byteOrderMark = "\ufeff"

// checkArguments decides whether call may be asked for and run with the argument text args, and
// returns the text that the tool gets. Which tools are checked how is settled in the design under
// Compatibility: only Spec.Validate tools are held to their schema; others take any text, but text
// that begins like an object and is none does not run (Q46), except by GPTScript's built-ins,
// which have words of their own for it.
func (r *Runtime) checkArguments(call *Call, spec Spec, args string) (string, *Error) {
	if n, limit := len(args), r.policy.MaxArgumentBytes; n > limit {
		return "", invalidArguments(call, fmt.Sprintf("the arguments are %d bytes long; the limit is %d bytes", n, limit))
	}
	if spec.Validate {
		return r.checkTyped(call, spec, args)
	}
	if call.whole() {
		return args, nil // a person or a program wrote it, not a model
	}
	if spec.Source == "builtin" && !call.CutOff {
		return args, nil
	}
	if text := trimJSON(args); strings.HasPrefix(text, "{") {
		if err := syntaxError(text); err != nil {
			return "", brokenJSON(call, args, err)
		}
	}
	return args, nil
}

// checkTyped holds args to the schema of a tool with real types (R6, R7, R9, R12).
func (r *Runtime) checkTyped(call *Call, spec Spec, args string) (string, *Error) {
	text := trimJSON(args)
	if text == "" || text == "null" {
		text = "{}"
	}
	if err := syntaxError(text); err != nil {
		return "", brokenJSON(call, args, err)
	}
	text = unwrapObject(text)
	if problem := structureProblem(text, r.policy.MaxArgumentDepth); problem != "" {
		return "", invalidArguments(call, problem)
	}
	problems, more := r.schemas.check(spec, text)
	if len(problems) == 0 {
		return text, nil
	}
	for i, p := range problems {
		problems[i] = r.redact(p)
	}
	count := len(problems) + more
	e := invalidArguments(call, fmt.Sprintf("the arguments of %s do not fit its schema: %s", call.Name, plural(count, "problem")))
	e.Problems = problems
	if more > 0 {
		e.Problems = append(e.Problems, fmt.Sprintf("%d more", more))
	}
	return "", e
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// trimJSON removes what may surround a JSON text: blanks and one byte order mark.
func trimJSON(s string) string {
	return strings.Trim(strings.TrimPrefix(strings.TrimLeft(s, " \t\r\n"), byteOrderMark), " \t\r\n")
}

// syntaxError reports why text is not exactly one JSON value, nil if it is.
func syntaxError(text string) error {
	var raw json.RawMessage
	return json.Unmarshal([]byte(text), &raw)
}

// brokenJSON says where args stop being JSON, and that they were cut off if they end too early.
// Broken text is never completed: closing a cut document would write half a file (R7, R8).
func brokenJSON(call *Call, args string, err error) *Error {
	start := strings.Index(args, trimJSON(args)) // offsets count from the start of the model's text
	offset, what := int64(len(args)), err.Error()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = int64(start) + syntax.Offset
	}
	atEnd := offset >= int64(start+len(trimJSON(args))) && strings.Contains(what, "unexpected end")
	switch {
	case call.CutOff:
		return invalidArguments(call, fmt.Sprintf("the arguments were cut off at byte %d, because the reply reached its output limit; "+
			"nothing was run: split the work into smaller calls", len(args)))
	case atEnd:
		return invalidArguments(call, fmt.Sprintf("the arguments are not complete JSON: they end at byte %d inside a value, so they were probably cut off; "+
			"nothing was run: send the whole object, or split the work into smaller calls", offset))
	}
	return invalidArguments(call, fmt.Sprintf("the arguments are not valid JSON at byte %d: %s; expected one JSON object", offset, what))
}

func invalidArguments(call *Call, message string) *Error {
	yes := true
	return &Error{Kind: KindInvalidArguments, Tool: call.Name, Message: message, Retryable: &yes}
}

// unwrapObject returns the object that text holds as a JSON string, or text itself. One level of
// wrapping is undone, since some models write their arguments twice (R7).
func unwrapObject(text string) string {
	var inner string
	if !strings.HasPrefix(text, `"`) || json.Unmarshal([]byte(text), &inner) != nil {
		return text
	}
	inner = trimJSON(inner)
	if strings.HasPrefix(inner, "{") && syntaxError(inner) == nil {
		return inner
	}
	return text
}

// structureProblem reports a repeated key or nesting beyond maxDepth, "" if there is neither (R9).
// text is valid JSON.
func structureProblem(text string, maxDepth int) string {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	type level struct {
		keys map[string]bool // nil in an array
		key  string          // the key whose value comes next, "" when a key comes next
		want bool            // a key comes next
	}
	var stack []level
	path := func() string {
		var b strings.Builder
		for _, l := range stack {
			if l.keys != nil {
				b.WriteString("/" + clip(l.key))
			}
		}
		return b.String()
	}
	valueEnded := func() {
		if n := len(stack); n > 0 && stack[n-1].keys != nil {
			stack[n-1].want = true
		}
	}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return ""
		} else if err != nil {
			return err.Error()
		}
		if key, ok := token.(string); ok && len(stack) > 0 && stack[len(stack)-1].want {
			top := &stack[len(stack)-1]
			top.key, top.want = key, false
			if top.keys[key] {
				return fmt.Sprintf("the key %s is given twice", path())
			}
			top.keys[key] = true
			continue
		}
		switch token {
		case json.Delim('{'):
			stack = append(stack, level{keys: map[string]bool{}, want: true})
		case json.Delim('['):
			stack = append(stack, level{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
			valueEnded()
		default:
			valueEnded()
		}
		if len(stack) > maxDepth {
			return fmt.Sprintf("the arguments are nested deeper than %d levels", maxDepth)
		}
	}
}

// MaskArguments returns args with the values of the top-level keys in secret replaced, for
// everything but the tool itself (R70). The rest of the text is kept as it stands. Text that is no
// object is returned as it is; of an object that is broken, what follows the break is left out,
// since a secret may be in it.
func MaskArguments(args string, secret []string) string {
	const unread = "‹not shown›"
	if len(secret) == 0 {
		return args
	}
	dec := json.NewDecoder(strings.NewReader(args))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return args
	}
	var out strings.Builder
	last := 0
	for dec.More() {
		key, err := dec.Token()
		from := int(dec.InputOffset())
		if err != nil {
			return out.String() + args[last:max(last, from)] + unread
		}
		var value json.RawMessage
		err = dec.Decode(&value)
		if name, _ := key.(string); isSecret(name, secret) {
			colon := strings.IndexByte(args[from:], ':')
			out.WriteString(args[last:from+colon+1] + `"‹secret:` + name + `›"`)
			last = int(dec.InputOffset())
		}
		if err != nil {
			return out.String() + args[last:max(last, from)] + unread
		}
	}
	return out.String() + args[last:]
}

func isSecret(name string, secret []string) bool {
	for _, s := range secret {
		if strings.EqualFold(s, name) {
			return true
		}
	}
	return false
}

// clip shortens a value or name for a message to 80 characters (R12).
func clip(s string) string {
	const limit = 80
	count := 0
	for i := range s {
		if count++; count > limit {
			return s[:i] + "…"
		}
	}
	return s
}
