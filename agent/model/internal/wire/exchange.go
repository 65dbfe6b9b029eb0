// Package wire holds what the providers that speak HTTP share: one exchange with its limits and its
// watch over silence ([Exchange]), the reply put together from pieces ([Assembly]) and the reading
// of failures ([Failure]). It knows no provider's format.
package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"parley/agent/model"
)

const (
	maxBody      = 256 << 20 // of a whole stream
	maxErrorBody = 1 << 20
	// DefaultSilence is the limit of design.md: a model silent for 2 minutes is broken.
	DefaultSilence = 2 * time.Minute
)

// Exchange is one HTTP request to a model and its streamed answer. It stands between a client
// library and the network (both libraries take anything with a Do method), and keeps what the
// libraries hide: the status, the headers and the text of an error. It is used once, by one
// goroutine; Close must be called.
type Exchange struct {
	// Transport carries the request.
	Transport http.RoundTripper
	// Body replaces the body that the library made, unless nil.
	Body []byte
	// Filter wraps the stream of a good answer, unless nil.
	Filter func(io.Reader) io.Reader

	// Status and Header are those of the answer; zero when there was none.
	Status int
	Header http.Header
	// ErrorBody is the text of an answer that is not 2xx.
	ErrorBody []byte

	ctx     context.Context
	cancel  context.CancelCauseFunc
	silence time.Duration
	timer   *time.Timer
}

var (
	errRedirect = errors.New("redirect refused")
	errTooLong  = errors.New("the answer is too long")
)

// Begin returns the context that the request must be made with. It ends with ErrSilent as its cause
// when nothing came for the silence limit (zero: DefaultSilence).
func (e *Exchange) Begin(ctx context.Context, silence time.Duration) context.Context {
	if silence <= 0 {
		silence = DefaultSilence
	}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	e.silence = silence
	e.timer = time.AfterFunc(silence, func() { e.cancel(model.ErrSilent) })
	return e.ctx
}

// Settle shortens the silence limit once the answer is known to be complete.
func (e *Exchange) Settle(limit time.Duration) { e.silence = min(e.silence, limit) }

// Close ends the exchange and releases what it holds.
func (e *Exchange) Close() {
	e.timer.Stop()
	e.cancel(context.Canceled)
}

// Do sends the request. It is called by the client library.
func (e *Exchange) Do(req *http.Request) (*http.Response, error) {
	if e.Body != nil {
		body := e.Body
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
	}
	client := http.Client{Transport: e.Transport, CheckRedirect: sameHost}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	e.Status, e.Header = resp.StatusCode, resp.Header
	body := &watched{Exchange: e, body: resp.Body}
	if resp.StatusCode/100 != 2 {
		return e.fail(resp, body)
	}
	var stream io.Reader = body
	if e.Filter != nil {
		stream = e.Filter(stream)
	}
	resp.Body = readCloser{stream, resp.Body}
	return resp, nil
}

// fail keeps the text of an error and hands it on to the library.
func (e *Exchange) fail(resp *http.Response, body io.Reader) (*http.Response, error) {
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxErrorBody))
	if err != nil && len(text) == 0 && resp.StatusCode < 400 {
		return nil, err
	}
	e.ErrorBody = text
	if resp.StatusCode < 400 {
		// The libraries would read anything below 400 as a stream.
		return nil, fmt.Errorf("unexpected answer %s", resp.Status)
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, nil
}

// sameHost keeps keys from being carried to another host by a redirect: net/http takes off only the
// headers it knows.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Host != first.Host || (first.Scheme == "https" && req.URL.Scheme != "https") {
		return fmt.Errorf("%w: it leads to %s", errRedirect, req.URL.Host)
	}
	if len(via) >= 5 {
		return fmt.Errorf("%w: there are too many", errRedirect)
	}
	return nil
}

// watched counts the bytes of an answer and tells the exchange that it is alive. Time counts only
// while a read waits, never while the program is busy with what came.
type watched struct {
	*Exchange
	body io.Reader
	read int64
}

func (w *watched) Read(p []byte) (int, error) {
	w.timer.Reset(w.silence)
	n, err := w.body.Read(p)
	w.timer.Stop()
	w.read += int64(n)
	if w.read > maxBody {
		return n, fmt.Errorf("%w: more than %d MiB", errTooLong, maxBody>>20)
	}
	return n, err
}

type readCloser struct {
	io.Reader
	io.Closer
}

// Getenv reads the environment through the options.
func Getenv(o model.Options, name string) string {
	if o.Getenv != nil {
		return o.Getenv(name)
	}
	return os.Getenv(name)
}

// Retrier returns the retrier of the options.
func Retrier(o model.Options) model.Retrier {
	r := o.Retrier
	if o.DisableRetries {
		r.Retries = -1
	}
	return r
}

// Key finds the key of a provider. It returns "" when there is none, and the error of the lookup
// only if a key is needed.
func Key(ctx context.Context, o model.Options, provider string, needed bool) (string, error) {
	if o.Keys == nil {
		return "", nil
	}
	key, err := o.Keys(ctx, provider)
	if err != nil && needed {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", &model.Error{
			Provider: provider, NoKey: true, Message: "the key cannot be read: " + model.Clean(err.Error()),
			Err: err,
		}
	}
	return strings.TrimSpace(key), nil
}
