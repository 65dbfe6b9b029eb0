package network

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestL06ProxyOfTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		to   string
		want string // the proxy, "" for none, "error"
	}{
		{"none", nil, "https://api.test/v1", ""},
		{"without a scheme", map[string]string{"HTTPS_PROXY": "proxy.test:8080"}, "https://api.test/v1", "http://proxy.test:8080"},
		{"lower case", map[string]string{"https_proxy": "http://proxy.test:8080"}, "https://api.test/v1", "http://proxy.test:8080"},
		{"user and password", map[string]string{"HTTPS_PROXY": "http://me:secret@proxy.test:8080"}, "https://api.test/v1", "http://me:secret@proxy.test:8080"},
		{"for http only", map[string]string{"HTTP_PROXY": "proxy.test:8080"}, "https://api.test/v1", ""},
		{"no proxy for a host with a port", map[string]string{"HTTPS_PROXY": "proxy.test:1", "NO_PROXY": "api.test:8443"}, "https://api.test:8443/v1", ""},
		{"no proxy for another port", map[string]string{"HTTPS_PROXY": "proxy.test:1", "no_proxy": "api.test:8443"}, "https://api.test/v1", "http://proxy.test:1"},
		{"no proxy for a network", map[string]string{"HTTP_PROXY": "proxy.test:1", "NO_PROXY": "10.0.0.0/8"}, "http://10.1.2.3/v1", ""},
		{"this machine", map[string]string{"HTTP_PROXY": "proxy.test:1"}, "http://localhost:11434/v1", ""},
		{"this machine by number", map[string]string{"HTTP_PROXY": "proxy.test:1"}, "http://[::1]:11434/v1", ""},
		{"not an address", map[string]string{"HTTPS_PROXY": "http://me:secret@pro xy:8080"}, "https://api.test/v1", "error"},
	} {
		to, err := url.Parse(c.to)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Transport(func(name string) string { return c.env[name] }, nil).Proxy(&http.Request{URL: to})
		switch {
		case err != nil && c.want != "error":
			t.Errorf("%s: %v", c.name, err)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the error tells the password: %v", c.name, err)
		case err == nil && c.want == "error":
			t.Errorf("%s: no error", c.name)
		case err == nil && got == nil && c.want != "", got != nil && got.String() != c.want:
			t.Errorf("%s: got %v, want %q", c.name, got, c.want)
		}
	}
}

func TestL06CertificatesOfAPrivateAuthority(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	get := func(transport *http.Transport) error {
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Get(server.URL)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	none := func(string) string { return "" }
	if err := get(Transport(none, nil)); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("without the file: %v", err)
	}
	roots, err := Roots(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := get(Transport(none, roots)); err != nil {
		t.Errorf("with the file: %v", err)
	}
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Roots(file); err == nil || !strings.Contains(err.Error(), "holds none in PEM form") {
		t.Errorf("a file without one: %v", err)
	}
}
