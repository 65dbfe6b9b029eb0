package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/credential"
	"parley/agent/model"
	"parley/toolrt"
	"parley/ui/tui"
)

var _ tui.SecretKeeper = (*backend)(nil)

// Secrets lists the stored credentials (tui.SecretKeeper).
func (b *backend) Secrets(ctx context.Context) ([]tui.Secret, error) {
	stored, err := b.a.creds.List(ctx, b.a.f.credentialContexts)
	if err != nil {
		return nil, fmt.Errorf("list credentials: %w", err)
	}
	var out []tui.Secret
	for _, c := range stored {
		out = append(out, tui.Secret{Name: c.ToolName, Context: c.Context,
			Detail: strings.Join(slices.Sorted(maps.Keys(c.Env)), ", ") + "  expires: " + expiry(c)})
	}
	slices.SortFunc(out, func(x, y tui.Secret) int { return strings.Compare(x.Name+"\x00"+x.Context, y.Name+"\x00"+y.Context) })
	return out, nil
}

// StoreSecret asks for the values by the questions of the screen and stores them (tui.SecretKeeper).
func (b *backend) StoreSecret(ctx context.Context, name string, variables ...string) (string, error) {
	provider, isProvider := strings.CutPrefix(name, "sys.")
	message := "Values for " + name
	switch {
	case isProvider && !slices.ContainsFunc(b.wanting(), func(p model.Provider) bool { return p.Name() == provider }):
		return "", fmt.Errorf("no provider %q wants a key: /login lists those that do", provider)
	case isProvider:
		variables, message = []string{credential.KeyVariable(provider)}, "The key of "+provider
	case len(variables) == 0:
		return "", fmt.Errorf("name the variables too: /creds set %s VARIABLE…", name)
	}
	q := agent.InputQuestion{ID: "store " + name, Question: toolrt.Question{Message: message + b.a.keptWhere(), Sensitive: true}}
	for _, v := range variables {
		q.Question.Fields = append(q.Question.Fields, toolrt.Field{Name: v})
	}
	answer, err := b.questions.Prompt(ctx, q)
	if err != nil {
		return "", err
	}
	if answer.Declined {
		return "", fmt.Errorf("nothing was given for %s", name)
	}
	for _, value := range answer.Values {
		b.a.redactor.Add(name, value)
	}
	if err := b.a.storeCredential(ctx, name, answer.Values); err != nil {
		return "", err
	}
	if b.a.creds.Kind() == "memory" {
		return name + " is known until parley ends: there is no keyring; set PARLEY_PASSPHRASE to keep credentials in an encrypted file", nil
	}
	return "stored " + name + " in the " + b.a.creds.Kind(), nil
}

// keptWhere says where credentials go, for the end of a line that asks for one.
func (a *app) keptWhere() string {
	switch kind := a.creds.Kind(); kind {
	case "memory":
		return " (known until parley ends: there is no keyring)"
	default:
		return ", kept in the " + kind
	}
}

// DeleteSecret removes a credential (tui.SecretKeeper).
func (b *backend) DeleteSecret(ctx context.Context, s tui.Secret) error {
	where := firstSet(s.Context, credential.DefaultContext)
	if len(b.a.f.credentialContexts) > 0 && s.Context == "" {
		where = b.a.f.credentialContexts[0]
	}
	ok, err := b.a.creds.Delete(ctx, where, s.Name)
	if err == nil && !ok {
		err = fmt.Errorf("no credential %q is stored", s.Name)
	}
	return err
}

// wanting are the providers that want a key.
func (b *backend) wanting() []model.Provider {
	return slices.DeleteFunc(slices.Clone(b.a.models.Providers()), func(p model.Provider) bool { return !p.NeedsKey(b.a.modelOptions()) })
}

// Providers lists the providers that want a key, and where it comes from (tui.SecretKeeper).
func (b *backend) Providers(ctx context.Context) ([]tui.Provider, error) {
	var out []tui.Provider
	for _, p := range b.wanting() {
		out = append(out, tui.Provider{Name: p.Name(), Key: b.a.keyState(ctx, p)})
	}
	return out, nil
}
