// Package network says how parley reaches servers: through the proxy of the environment, trusting the
// system's certificates and those a person names, and this machine always directly.
package network

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// ErrProxy says that a proxy variable of the environment cannot be used. The variable's value, which
// may hold a password, is not in the error.
var ErrProxy = errors.New("HTTPS_PROXY or HTTP_PROXY is not the address of a proxy, such as http://user:password@host:8080")

// Transport returns a transport that takes the proxy from HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in
// capitals or not, with or without a scheme; servers on this machine are never reached through it.
// roots, unless nil, are the certificates to trust; checks of certificates cannot be switched off.
func Transport(getenv func(string) string, roots *x509.CertPool) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if roots != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	t.Proxy = func(req *http.Request) (*url.URL, error) { return proxyFor(getenv, req.URL) }
	return t
}

func proxyFor(getenv func(string) string, to *url.URL) (*url.URL, error) {
	if IsLocal(to) {
		return nil, nil
	}
	either := func(name string) string {
		if value := getenv(name); value != "" {
			return value
		}
		return getenv(strings.ToLower(name))
	}
	c := httpproxy.Config{HTTPProxy: either("HTTP_PROXY"), HTTPSProxy: either("HTTPS_PROXY"), NoProxy: either("NO_PROXY"),
		CGI: getenv("REQUEST_METHOD") != ""}
	proxy, err := c.ProxyFunc()(to)
	// A value that cannot be read is tried with http:// before it, and then has "http" as its host.
	if err != nil || proxy != nil && (proxy.Hostname() == "http" || proxy.Hostname() == "https") {
		return nil, ErrProxy
	}
	return proxy, nil
}

// IsLocal reports whether an address is on this machine: such servers need no key and no proxy.
func IsLocal(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}

// Roots returns the system's certificates and those of a PEM file.
func Roots(file string) (*x509.CertPool, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // systems without one
	}
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("certificates %s: it holds none in PEM form (-----BEGIN CERTIFICATE-----)", file)
	}
	return pool, nil
}
