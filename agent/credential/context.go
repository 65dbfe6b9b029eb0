package credential

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// DefaultContext is the context of a credential that names none.
const DefaultContext = "default"

// AllContexts stands for every context when credentials are listed.
const AllContexts = "*"

var contextName = regexp.MustCompile(`^[A-Za-z0-9.\-]+$`)

// CheckContexts reports a context that is not made of letters, digits, "-" and ".". "*" is good
// alone, for listing.
func CheckContexts(contexts []string) error {
	if len(contexts) == 1 && contexts[0] == AllContexts {
		return nil
	}
	for _, c := range contexts {
		if !contextName.MatchString(c) {
			return fmt.Errorf("credential context %q is not valid: use letters, digits, - and .", c)
		}
	}
	return nil
}

// orDefault returns the contexts to look in.
func orDefault(contexts []string) ([]string, error) {
	if len(contexts) == 0 {
		return []string{DefaultContext}, nil
	}
	return contexts, CheckContexts(contexts)
}

// single refuses "*" where one context is meant.
func single(context string) (string, error) {
	if context == "" {
		context = DefaultContext
	}
	if !contextName.MatchString(context) {
		return "", fmt.Errorf("credential context %q is not valid: use letters, digits, - and .", context)
	}
	return context, nil
}

// key is the name of a record in every store.
func key(context, name string) string { return name + "///" + context }

// prepared returns c as it is kept: with a context and a type, values trimmed.
func prepared(c Credential) (Credential, error) {
	if strings.TrimSpace(c.ToolName) == "" {
		return c, errors.New("a credential without a name cannot be kept")
	}
	var err error
	if c.Context, err = single(c.Context); err != nil {
		return c, err
	}
	if c.Type == "" {
		c.Type = "tool"
	}
	c.Env = maps.Clone(c.Env)
	for k, v := range c.Env {
		c.Env[k] = strings.TrimSpace(v)
	}
	return c, nil
}

// chosen returns the credentials of the contexts; where a name stands in several the earlier
// context wins.
func chosen(all []Credential, contexts []string) []Credential {
	if slices.Contains(contexts, AllContexts) {
		return all
	}
	best := map[string]Credential{}
	for _, c := range all {
		i := slices.Index(contexts, c.Context)
		old, ok := best[c.ToolName]
		if i >= 0 && (!ok || i < slices.Index(contexts, old.Context)) {
			best[c.ToolName] = c
		}
	}
	var out []Credential
	for _, name := range slices.Sorted(maps.Keys(best)) {
		out = append(out, best[name])
	}
	return out
}

// clone copies what callers could change.
func clone(c Credential) Credential {
	c.Env = maps.Clone(c.Env)
	if c.ExpiresAt != nil {
		t := *c.ExpiresAt
		c.ExpiresAt = &t
	}
	return c
}
