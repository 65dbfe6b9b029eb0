package wire

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// BaseURL checks an address and takes off slashes at its end. It must be http or https with a host.
func BaseURL(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil {
		return nil, fmt.Errorf("base URL %q: %w", address, err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("base URL %q: write http://HOST… or https://HOST…", address)
	}
	return u, nil
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
