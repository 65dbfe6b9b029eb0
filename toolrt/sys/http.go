package sys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parley/toolrt"
)

const (
	// requestTimeout bounds one request and the reading of its answer.
	requestTimeout = 10 * time.Second
	// bodyMax bounds an answer that is held in memory.
	bodyMax = 16 << 20
)

// httpGet is sys.http.get: the contents of a URL.
func httpGet(ctx context.Context, _ *toolrt.Invocation, a args) (toolrt.Output, error) {
	body, problem, err := fetch(ctx, a["url"])
	if err != nil || problem != "" {
		return toolrt.Output{Text: problem, IsError: true}, err
	}
	if strings.TrimSpace(body) == "" {
		return text("URL %s has no contents", a["url"]), nil
	}
	return toolrt.Output{Text: body}, nil
}

// fetch gets a URL. The problem is the text that answers the model; the error is only ctx's.
func fetch(ctx context.Context, address string) (body, problem string, err error) {
	fetchFailed := func(err error) (string, string, error) {
		return "", fmt.Sprintf("Failed to fetch URL %s: %v", address, err), ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	encoded, err := encodeURL(address)
	if err != nil {
		return fetchFailed(err)
	}
	req, err := http.NewRequestWithContext(limited, http.MethodGet, encoded, nil)
	if err != nil {
		return fetchFailed(err)
	}
	resp, err := newClient().Do(req)
	if err != nil {
		return fetchFailed(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Sprintf("failed to download %s: %s", address, resp.Status), nil
	}
	content, err := readBody(resp.Body)
	if err != nil {
		return fetchFailed(err)
	}
	return content, "", nil
}

// httpPost is sys.http.post. The answer's body follows on the lines after the first (Q21).
func httpPost(ctx context.Context, _ *toolrt.Invocation, a args) (toolrt.Output, error) {
	address, content := a["url"], a["content"]
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	encoded, err := encodeURL(address)
	if err != nil {
		return toolrt.Output{}, broken("sys.http.post", err)
	}
	req, err := http.NewRequestWithContext(limited, http.MethodPost, encoded, strings.NewReader(content))
	if err != nil {
		return toolrt.Output{}, broken("sys.http.post", err)
	}
	if a["contentType"] != "" {
		req.Header.Set("Content-Type", a["contentType"])
	}
	resp, err := newClient().Do(req)
	if err != nil {
		return failed("Failed to post URL %s: %v", address, err), ctx.Err()
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode > 399 {
		return failed("Failed to post URL %s: %s", address, resp.Status), nil
	}
	body, err := readBody(resp.Body)
	if err != nil {
		return failed("Failed to post URL %s: %v", address, err), ctx.Err()
	}
	out := text("Wrote %d to %s", len(content), address)
	if body != "" {
		out.Text += "\n" + body
	}
	return out, nil
}

// encodeURL returns an address with its query encoded again, so that spaces and the like that a
// model leaves in it do no harm.
func encodeURL(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.RawQuery = u.Query().Encode()
	return u.String(), nil
}

func readBody(r io.Reader) (string, error) {
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(io.LimitReader(r, bodyMax+1)); err != nil {
		return "", err
	}
	if buf.Len() > bodyMax {
		return "", fmt.Errorf("the contents are larger than %d bytes", bodyMax)
	}
	return buf.String(), nil
}

// newClient returns a client for one request. It keeps no connection, and follows a redirect into
// a private network only if the request went to one: the approval was for the address shown.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	first := via[0].URL.Hostname()
	if host := req.URL.Hostname(); host != first && private(req.Context(), host) && !private(req.Context(), first) {
		return fmt.Errorf("redirected from %s to %s in a private network, which was not asked for", first, host)
	}
	return nil
}

// private reports whether a host has an address that is not on the public internet.
func private(ctx context.Context, host string) bool {
	addresses, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return false // the request will fail by itself
	}
	for _, a := range addresses {
		if ip := a.IP; ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() {
			return true
		}
	}
	return false
}
