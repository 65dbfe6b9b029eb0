package wire

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"parley/agent/model"
	"parley/agent/model/network"
)

// Failure is what is known about a request that went wrong. Its Error is what the caller gets.
type Failure struct {
	Provider string
	// Address is where the request went, for the message that nobody answered.
	Address *url.URL
	Status  int
	Header  http.Header
	// Body is the error text of the answer, or the error object of a stream.
	Body []byte
	// Secret is the key that was sent. It is taken out of all texts, if it is long enough to be found
	// safely: servers on this machine take keys like "x".
	Secret string
	Err    error
	// Now tells the time for a Retry-After that is a date. Nil takes time.Now.
	Now func() time.Time
}

// Failure returns what became of an exchange that ended with err: the cause of the caller's context
// as it is, anything else as a model.Error. object is the error that a stream brought, if any.
func (e *Exchange) Failure(f Failure, object []byte, err error) error {
	cause := context.Cause(e.ctx)
	f.Status, f.Header, f.Body, f.Err = e.Status, e.Header, e.ErrorBody, err
	switch {
	case errors.Is(cause, model.ErrSilent):
		message := fmt.Sprintf("nothing came for %v", e.silence)
		return &model.Error{Provider: f.Provider, Message: message, Retryable: true, Err: cause}
	case cause != nil:
		return cause
	case f.Status/100 != 2:
		return f.Error()
	case len(object) > 0:
		f.Body = object
		return f.Error()
	case errors.Is(err, errTooLong):
		return &model.Error{Provider: f.Provider, Message: err.Error(), Err: err}
	}
	cut := &model.Error{
		Provider: f.Provider, Message: model.ErrCutStream.Error(), Retryable: true, Err: model.ErrCutStream,
	}
	if err != nil && !errors.Is(err, model.ErrCutStream) {
		cut.Message += ": " + model.Clean(f.mask(err.Error()))
		cut.Err = fmt.Errorf("%w: %w", model.ErrCutStream, err)
	}
	return cut
}

// Error returns the failure as a model.Error.
func (f Failure) Error() *model.Error {
	code, message := parseError(f.Body)
	e := &model.Error{
		Provider: f.Provider, Status: f.Status, Code: model.Clean(f.mask(code)),
		Message: model.Clean(f.mask(message)), Err: f.Err, RetryAfter: f.retryAfter(),
	}
	switch {
	case f.Status == 0 && len(f.Body) == 0:
		f.unreachable(e)
	case e.Message == "" && f.Status != 0:
		e.Message = http.StatusText(f.Status)
	}
	if e.Message == "" {
		e.Message = "the answer cannot be read"
	}
	e.Overflow = isOverflow(e)
	e.Retryable = !e.Overflow && (e.Retryable || f.retryable(e.Code))
	e.NoKey = f.Status == http.StatusUnauthorized
	if f.Status/100 == 2 {
		e.Status = 0 // the error came inside a stream: its 200 says nothing
	}
	return e
}

// minSecret is the length in characters from which a key is told from ordinary text.
const minSecret = 8

func (f Failure) mask(text string) string {
	if utf8.RuneCountInString(f.Secret) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, f.Secret, "‹secret:"+f.Provider+"›")
}

// unreachable words a request that got no answer.
func (f Failure) unreachable(e *model.Error) {
	err := f.Err
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	e.Message = "not reachable"
	if f.Address != nil {
		e.Message = f.Address.Scheme + "://" + f.Address.Host + " is not reachable"
	}
	if err != nil {
		e.Message += ": " + model.Clean(f.mask(err.Error()))
	}
	e.Retryable = !lasting(err)
	if f.Address != nil && network.IsLocal(f.Address) {
		e.Hint = "is the server running?"
	}
}

// lasting reports what does not become good by trying again: a certificate, a redirect, a proxy.
func lasting(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return unknown || host || invalid || errors.Is(err, errRedirect) || errors.Is(err, network.ErrProxy)
}

// passing are the codes of failures that pass, where they come in a stream without a status.
var passing = map[string]bool{
	"overloaded_error": true, "rate_limit_error": true, "api_error": true, "timeout_error": true,
	"server_error": true, "rate_limit_exceeded": true, "unavailable_error": true,
}

func (f Failure) retryable(code string) bool {
	switch {
	case code == "insufficient_quota":
		return false // 429 of an account without credit
	case f.Status == http.StatusTooManyRequests || f.Status >= 500:
		return true
	case f.Status/100 == 2:
		return passing[code] || strings.HasPrefix(code, "5") || code == "429"
	}
	return false
}

// retryAfter reads the waits that providers ask for: retry-after-ms, Retry-After in seconds or as a
// date.
func (f Failure) retryAfter() time.Duration {
	if ms, err := strconv.ParseFloat(f.Header.Get("Retry-After-Ms"), 64); err == nil {
		return duration(ms, time.Millisecond)
	}
	text := strings.TrimSpace(f.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return duration(seconds, time.Second)
	}
	if date, err := http.ParseTime(text); err == nil {
		now := time.Now
		if f.Now != nil {
			now = f.Now
		}
		return max(date.Sub(now()), 0)
	}
	return 0
}

// duration converts without overflow: a day is more than anybody waits.
func duration(n float64, unit time.Duration) time.Duration {
	if !(n > 0) {
		return 0
	}
	const day = 24 * time.Hour
	if n > float64(day)/float64(unit) {
		return day
	}
	return time.Duration(n * float64(unit))
}

// overflowWords are what servers say when a request is larger than the model's window, lower-case.
var overflowWords = []string{
	"prompt is too long",              // Anthropic
	"maximum context length",          // OpenAI, vLLM, OpenRouter
	"exceed context limit",            // Anthropic: input length and `max_tokens`
	"available context size",          // llama.cpp
	"exceeds the context",             // Ollama, LM Studio
	"exceed context window",           // llama-cpp-python
	"context length exceeded",         // several
	"context window is full",          // several
	"exceeds the model's context",     // several
	"greater than the context length", // LM Studio
	"input token count",               // Gemini: … exceeds the maximum number of tokens
}

func isOverflow(e *model.Error) bool {
	switch e.Code {
	case "context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded":
		return true
	}
	if e.Status == http.StatusTooManyRequests || e.Status == http.StatusUnauthorized {
		return false
	}
	text := strings.ToLower(e.Message)
	for _, words := range overflowWords {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// parseError finds code and message in the shapes of error bodies that servers send: an object or
// text under "error", in a list (Gemini), "message" or "detail" at the top, or plain text.
func parseError(body []byte) (code, message string) {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		if bytes.HasPrefix(body, []byte("<")) {
			return "", "" // a proxy's page says nothing that its status does not
		}
		return "", string(body)
	}
	inner, ok := top["error"]
	if !ok {
		return field(top, "code", "type"), field(top, "message", "detail")
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(inner, &object) == nil && object != nil {
		return field(object, "code", "type", "status"), field(object, "message", "detail")
	}
	return "", plain(inner)
}

// field returns the first of the named fields that holds text or a number.
func field(object map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		if text := plain(object[name]); text != "" {
			return text
		}
	}
	return ""
}

func plain(value json.RawMessage) string {
	var text string
	if len(value) == 0 || string(value) == "null" {
		return ""
	}
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
