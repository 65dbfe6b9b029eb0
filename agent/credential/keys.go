package credential

import (
	"context"
	"strings"
)

// KeyVariable is the environment variable that holds a provider's API key.
func KeyVariable(provider string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(provider)) + "_API_KEY"
}

// Keys returns a function that finds a provider's API key: from the environment, and only when
// that has none from the store's entry "sys.PROVIDER". It returns "" when there is none. store may
// be nil.
func Keys(store Store, getenv func(string) string) func(ctx context.Context, provider string) (string, error) {
	return func(ctx context.Context, provider string) (string, error) {
		key, _, err := findKey(ctx, store, getenv, provider)
		return key, err
	}
}

// KeySource says in words where a provider's key comes from, never the key; "" when there is none.
func KeySource(ctx context.Context, store Store, getenv func(string) string, provider string) (string, error) {
	_, source, err := findKey(ctx, store, getenv, provider)
	return source, err
}

func findKey(ctx context.Context, store Store, getenv func(string) string, provider string) (key, source string, err error) {
	name := KeyVariable(provider)
	if key := strings.TrimSpace(getenv(name)); key != "" {
		return key, "the environment variable " + name, nil
	}
	if store == nil {
		return "", "", nil
	}
	c, ok, err := store.Get(ctx, nil, "sys."+provider)
	if err != nil || !ok {
		return "", "", err
	}
	key = c.Env[name]
	if key == "" && len(c.Env) == 1 {
		for _, v := range c.Env {
			key = v
		}
	}
	if key == "" {
		return "", "", nil
	}
	return key, "the credential sys." + provider + " (" + store.Kind() + ")", nil
}
