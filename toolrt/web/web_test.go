package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"parley/toolrt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server tells what it got.
func server(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		fmt.Fprint(w, `"a\nb"`)
	})
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, "broken")
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.0.2.1/", http.StatusTemporaryRedirect)
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/echo/") {
			mux.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s|%s|%s|%q|%s", r.Method, r.URL.EscapedPath(), r.Header.Get("Content-Type"),
			r.Header.Get("X-GPTScript-Tool-Name"), r.Header.Values("X-GPTScript-Env"), body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func post(t *testing.T, tool Tool, call toolrt.Call, input string) (toolrt.Output, error) {
	t.Helper()
	if call.Env == nil {
		call.Env = []string{}
	}
	return tool.Run(t.Context(), &toolrt.Invocation{Call: &call, Args: input})
}

func TestPost(t *testing.T) {
	u := server(t)
	tool := Tool{Name: "my tool", URL: u + "/echo/${WHERE_TO}/${HOST_VAR}/${NONE}x"}
	call := toolrt.Call{Workspace: "/ws", Env: []string{"HOST_VAR=env", "GPTSCRIPT_HTTP_ENV=A, EMPTY", "GPTSCRIPT_HTTP_ENV_PREFIX=MY_,", "A=1", "EMPTY=", "MY_B=ü", "MY_C=two\nlines", "OTHER=x"}}
	const env = `["A=1" "GPTSCRIPT_WORKSPACE_DIR=/ws" "GPTSCRIPT_WORKSPACE_ID=directory:///ws" "MY_B=ü"]`
	for input, want := range map[string]string{
		`{"where-to":"a/b c","host_var":"input"}`: `POST /echo/a%2Fb%20c/env/x|application/json|my tool|` + env + `|{"where-to":"a/b c","host_var":"input"}`,
		`{"body":"only this"}`:                    `POST /echo//env/x|text/plain|my tool|` + env + `|only this`,
		`plain`:                                   `POST /echo//env/x|text/plain|my tool|` + env + `|plain`,
	} {
		if out, err := post(t, tool, call, input); err != nil || out.Text != want {
			t.Errorf("%s\n got %s, %v\nwant %s", input, out.Text, err, want)
		}
	}
}

func TestResultIsDecoded(t *testing.T) {
	u := server(t)
	for contentType, want := range map[string]string{"application/json": "a\nb", "text/plain": `"a\nb"`, "application/json;charset=utf-8": `"a\nb"`} {
		out, err := post(t, Tool{URL: u + "/json?type=" + contentType}, toolrt.Call{}, "")
		if err != nil || out.Text != want {
			t.Errorf("%s: got %q, %v, want %q", contentType, out.Text, err, want)
		}
	}
	if got := decode("application/json", []byte(`{"a":1}`)); got != `{"a":1}` {
		t.Errorf("an object became %q", got)
	}
}

func TestQ30Failures(t *testing.T) {
	u := server(t)
	want := "error in request to [" + u + "/bad] [502]: 502 Bad Gateway: broken"
	out, err := post(t, Tool{URL: u + "/bad"}, toolrt.Call{}, "")
	if err != nil || !out.IsError || out.Text != "ERROR: got ("+want+") while running tool, OUTPUT: " {
		t.Errorf("sub-call: %q, %v", out.Text, err)
	}
	for name, run := range map[string]func() (toolrt.Output, error){
		"entry": func() (toolrt.Output, error) { return post(t, Tool{URL: u + "/bad", Abort: true}, toolrt.Call{}, "") },
		"context": func() (toolrt.Output, error) {
			return post(t, Tool{URL: u + "/bad"}, toolrt.Call{Category: "context"}, "")
		},
	} {
		_, err := run()
		var failure *Failure
		if !errors.As(err, &failure) || failure.Status != 502 || failure.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, address := range []string{"http://x" + daemonDomain + "/a", "http://127.0.0.1:1/", ":bad", u + "/away"} {
		if out, err := post(t, Tool{URL: address}, toolrt.Call{}, ""); err != nil || !out.IsError {
			t.Errorf("%s: got %q, %v", address, out.Text, err)
		}
	}
	if _, err := post(t, Tool{URL: u + "/away", Abort: true}, toolrt.Call{}, ""); !errors.Is(err, errOtherHost) {
		t.Errorf("redirect to another host: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	tool := Tool{URL: s.URL}
	if _, err := tool.Run(ctx, &toolrt.Invocation{Call: &toolrt.Call{}, Args: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestKeysStayHere(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	t.Setenv("GPTSCRIPT_HTTP_ENV", "OPENAI_API_KEY")
	vars := variables(&toolrt.Call{}, `{"openai-api-key":"x","gptscript_http_env":"HOME"}`, nil)
	if names := exported(vars, nil); slices.Contains(names, "OPENAI_API_KEY") || slices.Contains(names, "HOME") {
		t.Errorf("exported: %q", names)
	}
}

func TestPreviewAndSpec(t *testing.T) {
	tool := &Tool{Name: "n", URL: "https://h/${Q}", Params: json.RawMessage(`{}`)}
	p, err := tool.Preview(t.Context(), &toolrt.Call{Env: []string{}, Arguments: `{"q":"a b"}`})
	if err != nil || p.URL != "https://h/a%20b" || p.Summary != "Posting to https://h/a%20b" {
		t.Errorf("got %+v, %v", p, err)
	}
	if s := tool.Spec(); !s.Flags.External || s.Source != "http" || s.Name != "n" {
		t.Errorf("got %+v", s)
	}
}
