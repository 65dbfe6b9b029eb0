package sys

import (
	"context"
	"errors"
	"strings"
	"testing"

	"parley/toolrt"
)

// lendingHost lends a provider, or says why not.
type lendingHost struct {
	toolrt.Host
	err error
}

func (h lendingHost) LendProvider(context.Context) (map[string]string, error) {
	return map[string]string{"OPENAI_API_KEY": "token", "OPENAI_BASE_URL": "http://127.0.0.1:1"}, h.err
}

// Section 7.2: the result is a credential, secret, and never kept.
func TestProviderCredential7_2(t *testing.T) {
	const name = "sys.model.provider.credential"
	out, err := run(t, toolrt.Call{Category: "credential", Host: lendingHost{}}, name, "")
	if want := `{"env":{"OPENAI_API_KEY":"token","OPENAI_BASE_URL":"http://127.0.0.1:1"},"ephemeral":true}`; err != nil || out.Text != want || !out.Secret {
		t.Errorf("got %+v, %v", out, err)
	}
	for want, call := range map[string]toolrt.Call{
		"under \"Credentials:\"": {Host: lendingHost{}},
		"no provider":            {Category: "credential", Host: lendingHost{err: errors.New("no provider")}},
		"nothing here":           {Category: "credential"},
	} {
		if out, err := run(t, call, name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %+v, %v, want %s", out, err, want)
		}
	}
}
