package sys

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"parley/toolrt"
	"parley/toolrt/command"
)

// credential is sys.credential: it asks the person for one secret and returns it in the form of
// credential tools (5.10). A variable that has a value already is not asked for, and not kept.
func credential(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	name := a["env"]
	if name == "" {
		return toolrt.Output{}, broken("sys.credential", errors.New("sys.credential needs the name of a variable, env"))
	}
	environ := inv.Call.Env
	if environ == nil {
		environ = command.StripProviderKeys(os.Environ())
	}
	if value, _ := command.Lookup(environ, name); value != "" {
		return credentialOutput(name, value, true)
	}
	if inv.Call.Host == nil {
		return toolrt.Output{}, broken("sys.credential", errNoHost)
	}
	if inv.Pause != nil {
		defer inv.Pause()()
	}
	field := a.or("field", name)
	answers, err := inv.Call.Host.Prompt(ctx, toolrt.Question{Message: a.or("message", "Please provide a value for "+name),
		Fields: []toolrt.Field{{Name: field}}, Sensitive: true})
	if err != nil {
		return toolrt.Output{}, err
	}
	return credentialOutput(name, answers[field], false)
}

func credentialOutput(name, value string, ephemeral bool) (toolrt.Output, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Env       map[string]string `json:"env"`
		Ephemeral bool              `json:"ephemeral,omitempty"`
	}{map[string]string{name: value}, ephemeral})
	return toolrt.Output{Text: strings.TrimSuffix(buf.String(), "\n"), Secret: true}, err
}
