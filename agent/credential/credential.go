package credential

import (
	"context"
	"time"
)

// Credential is one stored credential, in the form of 5.10.
type Credential struct {
	Context  string `json:"context,omitempty"`
	ToolName string `json:"toolName,omitempty"` // the name it is kept under
	// Type is "tool" or "modelProvider".
	Type         string            `json:"type,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	CheckParam   string            `json:"checkParam,omitempty"`
	Ephemeral    bool              `json:"ephemeral,omitempty"`
	ExpiresAt    *time.Time        `json:"expiresAt,omitempty"` // nil: never
	RefreshToken string            `json:"refreshToken,omitempty"`
}

// Store keeps credentials. Implementations are safe for concurrent use.
type Store interface {
	// Get returns the credential of that name from the first of the contexts that has it; ok is
	// false when none has. No contexts means "default".
	Get(ctx context.Context, contexts []string, name string) (c Credential, ok bool, err error)
	// Put keeps a credential under its context and name, in place of an earlier one.
	Put(ctx context.Context, c Credential) error
	// Delete removes one; ok says that there was one.
	Delete(ctx context.Context, context, name string) (ok bool, err error)
	// List returns those of the contexts ("*" for all), without an order of their own.
	List(ctx context.Context, contexts []string) ([]Credential, error)
	// Kind says in a word where credentials are kept: "keyring", "file" or "memory".
	Kind() string
}
