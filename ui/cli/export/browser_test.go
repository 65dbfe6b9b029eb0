//go:build unix

package export_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// browser is a headless Chromium that is steered through two pipes.
type browser struct {
	t    *testing.T
	to   io.Writer
	from *bufio.Reader
	n    int
	// session is that of the one page; events are those that came while something was waited for.
	session string
	events  []message
}

// message is one of the browser's protocol: an answer with its id, or an event with its method.
type message struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
}

// startBrowser starts Chromium, or skips the test where there is none that works.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless_shell"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium on this machine")
	}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "parley-browser-")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-extensions", "--disable-component-update", "--remote-debugging-pipe",
		"--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{inRead, outWrite} // 3 and 4
	cmd.Env = append(os.Environ(), "HOME="+profile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("Chromium does not start: %v", err)
	}
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with its helpers
	timer := time.AfterFunc(time.Minute, kill)
	t.Cleanup(func() {
		timer.Stop()
		kill()
		_ = cmd.Wait()
		_, _ = inWrite.Close(), outRead.Close()
		_ = os.RemoveAll(profile) // a helper that is just dying may still write
	})
	_, _ = inRead.Close(), outWrite.Close()
	b := &browser{t: t, to: inWrite, from: bufio.NewReader(outRead)}
	var target struct{ TargetID, SessionID string }
	if err := b.try("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		t.Skipf("Chromium does not work here: %v", err)
	}
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	return b
}

func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	if err := b.try(method, params, result); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

func (b *browser) try(method string, params, result any) error {
	b.n++
	if params == nil {
		params = struct{}{}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	line, err := json.Marshal(message{ID: b.n, Method: method, Params: raw, SessionID: b.session})
	if err != nil {
		return err
	}
	if _, err := b.to.Write(append(line, 0)); err != nil {
		return err
	}
	for {
		m, err := b.next()
		if err != nil {
			return err
		}
		if m.ID != b.n {
			b.events = append(b.events, m)
			continue
		}
		if m.Error != nil {
			return errors.New(string(m.Error))
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	}
}

func (b *browser) next() (m message, err error) {
	line, err := b.from.ReadBytes(0)
	if err != nil {
		return m, fmt.Errorf("the browser has ended: %w", err)
	}
	return m, json.Unmarshal(line[:len(line)-1], &m)
}

// open loads a page and waits until it has.
func (b *browser) open(url string) {
	b.t.Helper()
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	for {
		for _, e := range b.events {
			if e.Method == "Page.loadEventFired" {
				return
			}
		}
		m, err := b.next()
		if err != nil {
			b.t.Fatal(err)
		}
		b.events = append(b.events, m)
	}
}

// eval is the value of an expression in the page.
func (b *browser) eval(expression string, value any) {
	b.t.Helper()
	var answer struct {
		Result struct{ Value json.RawMessage }
		// ExceptionDetails is set when it threw.
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if err := json.Unmarshal(answer.Result.Value, value); err != nil {
		b.t.Fatalf("%s = %s: %v", expression, answer.Result.Value, err)
	}
}
