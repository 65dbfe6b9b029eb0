package sys

import (
	"context"
	"encoding/json"
	"errors"

	"parley/toolrt"
)

// Lender is a [toolrt.Host] that can lend the model provider to a command.
type Lender interface {
	// LendProvider returns the variables with which a client of OpenAI's protocol reaches the
	// program's provider. They hold no key that is worth anything elsewhere.
	LendProvider(ctx context.Context) (map[string]string, error)
}

// providerCredential is sys.model.provider.credential: the credential with which a command may use
// the program's model provider.
func providerCredential(ctx context.Context, inv *toolrt.Invocation, _ args) (toolrt.Output, error) {
	const tool = "sys.model.provider.credential"
	if inv.Call.Category != "credential" {
		return toolrt.Output{}, broken(tool, errors.New(tool+` is a credential: name it under "Credentials:" of the tool that needs the provider`))
	}
	lender, ok := inv.Call.Host.(Lender)
	if !ok {
		return toolrt.Output{}, broken(tool, errNoHost)
	}
	env, err := lender.LendProvider(ctx)
	if err != nil {
		return toolrt.Output{}, broken(tool, err)
	}
	text, err := json.Marshal(struct {
		Env       map[string]string `json:"env"`
		Ephemeral bool              `json:"ephemeral"`
	}{env, true})
	if err != nil {
		return toolrt.Output{}, broken(tool, err)
	}
	return toolrt.Output{Text: string(text), Secret: true}, nil
}
