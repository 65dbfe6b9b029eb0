package cli_test

import (
	"bytes"
	"encoding/pem"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"parley/agent/model/modeltest"
)

// overNetwork runs one turn with a model at an address and variables of the environment.
func overNetwork(t *testing.T, home, address string, env ...string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "run", "--model", "openai/test", "-p", "hello")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+home, "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=",
		"PARLEY_KEYRING=off", "OPENAI_API_KEY=key-of-the-test", "OPENAI_BASE_URL="+address, "GPTSCRIPT_DISABLE_RETRIES=1",
		"HTTP_PROXY=", "HTTPS_PROXY=", "ALL_PROXY=", "NO_PROXY=", "http_proxy=", "https_proxy=", "no_proxy=")
	cmd.Env = append(cmd.Env, env...)
	text, _ := cmd.CombinedOutput() // the exit code says it
	return string(text), cmd.ProcessState.ExitCode()
}

// L-06: a proxy without a scheme, in lower case, with a password; one that is not there; exceptions;
// this machine is never reached by a proxy, and a password stands nowhere.
func TestL06Proxies(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("variables that differ in case are the same there")
	}
	const password = "hush-0815"
	model, err := modeltest.Start(modeltest.Script{Models: []string{"test"}, Replies: []modeltest.Reply{{Text: "one"}, {Text: "two"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	target, err := url.Parse(model.URL())
	if err != nil {
		t.Fatal(err)
	}
	var passed atomic.Int32
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: target.Scheme, Host: target.Host})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "model.example" && r.Header.Get("Proxy-Authorization") != "" {
			passed.Add(1)
		}
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	home := t.TempDir()
	live := "http_proxy=user:" + password + "@" + strings.TrimPrefix(proxy.URL, "http://")
	dead := "http_proxy=http://user:" + password + "@127.0.0.1:1"
	away := "http://model.example" + target.Path
	for _, c := range []struct {
		name, address string
		env           []string
		code          int
		want          string
	}{
		{"without a scheme", away, []string{live}, 0, "one"},
		{"this machine", model.URL(), []string{dead}, 0, "two"},
		{"a proxy that is not there", away, []string{dead}, 1, "proxyconnect"},
		{"an exception with a port", "http://127.0.0.2:1/v1", []string{live, "no_proxy=10.0.0.0/8, 127.0.0.2:1"}, 1, "127.0.0.2:1"},
	} {
		out, code := overNetwork(t, home, c.address, c.env...)
		if code != c.code || !strings.Contains(out, c.want) || strings.Contains(out, password) {
			t.Errorf("%s: exit code %d: %s", c.name, code, out)
		}
	}
	if passed.Load() == 0 {
		t.Error("nothing went through the proxy")
	}
	err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(password)) {
			t.Errorf("the password stands in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// L-06: a server with a certificate of a private authority is refused, unless SSL_CERT_FILE names it.
func TestL06PrivateAuthority(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the system's own store is asked")
	}
	model, err := modeltest.Start(modeltest.Script{Models: []string{"test"}, Replies: []modeltest.Reply{{Text: "private"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	target, err := url.Parse(model.URL())
	if err != nil {
		t.Fatal(err)
	}
	secure := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: target.Scheme, Host: target.Host}))
	defer secure.Close()
	home, file := t.TempDir(), filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	address := secure.URL + target.Path
	if out, code := overNetwork(t, home, address); code != 1 || !strings.Contains(out, "certificate") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := overNetwork(t, home, address, "SSL_CERT_FILE="+file); code != 0 || !strings.Contains(out, "private") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
