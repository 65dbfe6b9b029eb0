package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley/agent/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask sends a request with a token and returns status and body.
func ask(t *testing.T, url, header, value string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(header, value)
	req.Header.Set("Cookie", "mine")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, text)
}

// The key is put in on the way, the token never reaches the provider, and nobody else is let through.
func TestRelay(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %q %q %q %s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("Cookie"), body)
	}))
	defer provider.Close()
	s, err := Start(http.DefaultTransport.(*http.Transport).Clone())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	openai := s.Lend(func(context.Context) (model.Access, error) {
		return model.Access{BaseURL: provider.URL + "/v1", Header: http.Header{"Authorization": {"Bearer key"}}}, nil
	})
	other := s.Lend(func(context.Context) (model.Access, error) {
		return model.Access{BaseURL: provider.URL, Header: http.Header{"X-Api-Key": {"key"}}}, nil
	})
	broken := s.Lend(func(context.Context) (model.Access, error) { return model.Access{}, errors.New("there is no key") })
	away := s.Lend(func(context.Context) (model.Access, error) { return model.Access{BaseURL: "http://127.0.0.1:1"}, nil })
	for _, c := range []struct{ path, header, value, want string }{
		{"/chat/completions?a=b", "Authorization", "Bearer " + openai, `200 POST /v1/chat/completions?a=b "Bearer key" "" "" body`},
		{"/v1/chat/completions", "Authorization", "Bearer " + openai, `200 POST /v1/chat/completions "Bearer key" "" "" body`},
		{"/v1/messages", "X-Api-Key", other, `200 POST /v1/messages "" "key" "" body`},
		{"/x", "Authorization", "Bearer wrong", `401 {"error":{"message":"this token is not known`},
		{"/x", "Authorization", "Bearer ", `401 `},
		{"/x", "X-Api-Key", broken, `502 {"error":{"message":"there is no key"`},
		{"/x", "X-Api-Key", away, `502 {"error":{"message":"the model provider cannot be reached`},
	} {
		if got := ask(t, s.URL()+c.path, c.header, c.value); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.path, got, c.want)
		}
	}
}
