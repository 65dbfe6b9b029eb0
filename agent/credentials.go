package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/agent/credential"
	"parley/agent/program"
	"parley/agent/record"
)

// credentialDone is a credential's recorded result: by reference, never the value.
type credentialDone struct {
	Name    string `json:"name"`
	Context string `json:"context,omitempty"`
	Store   string `json:"store"`
}

// cachedCredential is a credential of this process, kept until it expires (Q25).
type cachedCredential struct {
	credential.Credential
}

// credentialExpiration is the variable with the nearest expiry of the call's credentials.
const credentialExpiration = "GPTSCRIPT_CREDENTIAL_EXPIRATION"

// existingCredential passes the expired record to the refresh call, and to nothing else (Q27).
const existingCredential = "GPTSCRIPT_EXISTING_CREDENTIAL"

// credentials extends the call's environment by its credentials (5.10): from overrides, from this
// process, from the store, or by running the credential's tool, one at a time in the process.
func (c *call) credentials(ctx context.Context) error {
	refs := c.t.program().Credentials(c.tool)
	if len(refs) == 0 || c.authenticated() || c.t.played != nil { // a value is in no request
		return nil
	}
	s := c.t.s
	// One at a time: they ask the person. A call that is part of a credential is inside already.
	if c.state.Category != categoryCredential {
		select {
		case s.credLock <- struct{}{}:
			defer func() { <-s.credLock }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	env := slices.Clone(c.env)
	var nearest *time.Time
	for i, ref := range refs {
		if tool := c.t.program().Tool(ref.ToolID); tool == nil || tool.IsNoop() {
			continue
		}
		use, err := parseCredential(ref, c.state.Input)
		if err != nil {
			return err
		}
		if override, ok := s.o.Overrides[use.name]; ok {
			for _, k := range names(override) {
				s.addSecret(use.name, override[k])
				env = append(env, k+"="+override[k])
			}
			continue
		}
		cred, err := c.credential(ctx, i, ref, use)
		if err != nil {
			return err
		}
		if cred.ExpiresAt != nil && (nearest == nil || cred.ExpiresAt.Before(*nearest)) {
			nearest = cred.ExpiresAt
		}
		for _, k := range names(cred.Env) {
			s.addSecret(use.name, cred.Env[k])
			env = append(env, k+"="+cred.Env[k])
		}
		if cred.RefreshToken != "" {
			s.addSecret(use.name, cred.RefreshToken)
		}
	}
	if nearest != nil {
		env = append(env, credentialExpiration+"="+nearest.Format(time.RFC3339))
	}
	c.env = env
	return nil
}

// credentialUse is one credential reference of a call, parsed.
type credentialUse struct {
	name    string // by which it is kept
	stored  bool   // it has an alias or comes from GitHub
	checked string
	args    map[string]string
	key     string // of this process's cache
}

func parseCredential(ref program.Reference, input string) (credentialUse, error) {
	name, alias, checked, args, err := program.ParseCredential(ref, input)
	if err != nil {
		return credentialUse{}, err
	}
	use := credentialUse{name: name, checked: checked, args: args}
	use.stored = alias != "" || strings.HasPrefix(name, "github.com")
	text, _ := json.Marshal(args) // a map of strings
	use.key = name + "\x00" + ref.ToolID + "\x00" + string(text)
	return use, nil
}

// credential returns one credential: a valid one that is known, or what its tool gives.
func (c *call) credential(ctx context.Context, index int, ref program.Reference, use credentialUse) (credential.Credential, error) {
	s := c.t.s
	s.mu.Lock()
	cached, ok := s.credentials[use.key]
	s.mu.Unlock()
	if ok && !expired(cached.Credential, s.now()) {
		return cached.Credential, nil
	}
	var old credential.Credential
	found := false
	if use.stored && s.o.Credentials != nil {
		var err error
		if old, found, err = s.o.Credentials.Get(ctx, s.o.CredentialContexts, use.name); err != nil {
			return old, fmt.Errorf("read credential %s: %w", use.name, err)
		}
		if found && old.CheckParam == use.checked && !expired(old, s.now()) {
			return old, nil
		}
	}
	refresh := found && old.CheckParam == use.checked
	cred, keep, err := c.runCredential(ctx, index, ref, use, old, refresh)
	if err != nil || cred.Env == nil {
		return cred, err
	}
	return cred, c.keepCredential(ctx, index, use, cred, keep)
}

func expired(c credential.Credential, now time.Time) bool {
	return c.ExpiresAt != nil && c.ExpiresAt.Before(now)
}

// runCredential runs the credential's tool. An empty result, or one that was cut off, gives no
// variables.
func (c *call) runCredential(ctx context.Context, index int, ref program.Reference, use credentialUse, old credential.Credential, refresh bool) (cred credential.Credential, keep string, err error) {
	if tool := c.t.program().Tool(ref.ToolID); !tool.IsCommand() {
		return cred, "", errors.New("credential tools cannot make calls to the LLM")
	}
	input := ""
	if use.args != nil {
		text, _ := json.Marshal(use.args) // a map of strings
		input = string(text)
	}
	need := &credentialNeed{name: use.name, tool: c.name(), label: c.state.Label, sets: setsOf(use.args)}
	st := c.sub("k", c.t.row.Number, index, ref, categoryCredential)
	st.ToolName = refName(c.t.program(), ref)
	sub, err := c.t.newCall(c, st)
	if err != nil {
		return cred, "", err
	}
	sub.need = need
	if refresh {
		record, err := json.Marshal(old)
		if err != nil {
			return cred, "", fmt.Errorf("pass credential %s on: %w", use.name, err)
		}
		sub.env = append(slices.Clone(sub.env), existingCredential+"="+string(record))
	}
	out, err := sub.start(ctx, input)
	if err != nil {
		return cred, "", fmt.Errorf("failed to run credential tool %s: %w", ref.Reference, err)
	}
	text := out.content()
	if out.Final == nil {
		return cred, "", fmt.Errorf("invalid state: credential tool [%s] can not result in a continuation", ref.Reference)
	}
	if text == "" || strings.HasSuffix(text, "ABORTED BY USER") {
		return cred, "", nil
	}
	if err := json.Unmarshal([]byte(text), &cred); err != nil {
		// The text itself may hold the secret: only the place of the error is said.
		return cred, "", fmt.Errorf("failed to unmarshal credential tool %s response: %w", ref.Reference, err)
	}
	if cred.Context = ""; refresh {
		cred.Context = old.Context // a refresh keeps its place
	}
	return cred, need.keep, nil
}

// setsOf guesses which variables a credential tool will set from the argument that commonly says
// so.
func setsOf(args map[string]string) []string {
	if env := args["env"]; env != "" {
		return strings.FieldsFunc(env, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return nil
}

// keepCredential keeps a new credential as long as it may be kept: for the call tree, for this
// process, or in the store.
func (c *call) keepCredential(ctx context.Context, index int, use credentialUse, cred credential.Credential, keep string) error {
	s := c.t.s
	cred.ToolName, cred.Type, cred.CheckParam = use.name, "tool", use.checked
	if keep != "call" {
		s.mu.Lock()
		s.credentials[use.key] = cachedCredential{cred}
		s.mu.Unlock()
		if s.o.CredentialKept != nil && use.stored && !cred.Ephemeral {
			s.o.CredentialKept()
		}
	}
	done := credentialDone{Name: use.name, Store: "session"}
	if use.stored && !cred.Ephemeral && keep != "call" && keep != "session" && s.o.Credentials != nil {
		switch {
		case !hasValue(cred.Env):
			c.t.say("the empty credential " + use.name + " is not kept")
		default:
			if cred.Context == "" && len(s.o.CredentialContexts) > 0 {
				cred.Context = s.o.CredentialContexts[0]
			}
			if err := s.o.Credentials.Put(ctx, cred); err != nil {
				return fmt.Errorf("keep credential %s: %w", use.name, err)
			}
			done.Context, done.Store = cred.Context, s.o.Credentials.Kind()
		}
	}
	key := record.Key{Turn: c.t.row.Number, Path: c.path + "/cred", Ordinal: index}
	if _, again := c.t.recorded[key]; again {
		return nil // asked for again on resume: the record says who gave it first
	}
	_, _, err := c.t.do(ctx, effect{kind: record.EntryCredential, key: key, question: true, request: use.name},
		func(context.Context) (any, record.Rows, error) { return done, record.Rows{}, nil })
	return err
}

func hasValue(env map[string]string) bool {
	for _, v := range env {
		if v != "" {
			return true
		}
	}
	return false
}
