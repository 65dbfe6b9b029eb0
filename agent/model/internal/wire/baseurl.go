package wire

import (
	"fmt"
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
