//go:build unix

package command

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ask returns what a daemon answers.
func ask(t *testing.T, url string) (string, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// gone waits until nothing answers there any more.
func gone(t *testing.T, url string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := ask(t, url); err != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s still answers", url)
		}
	}
}

// Section 6.7: one instance of each tool however many calls want it at once, with a port of the range
// and a token of its own; one that has died is started again; Close ends all.
func TestDaemons6_7(t *testing.T) {
	t.Parallel()
	d := NewDaemons(DaemonOptions{Ports: Ports{18400, 18499}, Supervisor: []string{os.Args[0]}})
	defer d.Close()
	environ := append(os.Environ(), asDaemon+"=supervisor")
	one := Daemon{ID: "f.gpt:one", Name: "one", Command: os.Args[0], Path: "/ready", Dir: t.TempDir()}
	two := one
	two.ID = "f.gpt:two"
	var wg sync.WaitGroup
	got := make([]Endpoint, 6)
	for i := range got {
		wg.Go(func() {
			of := one
			if i%2 == 1 {
				of = two
			}
			var err error
			if got[i], err = d.Endpoint(t.Context(), of, environ, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got[0] != got[2] || got[1] != got[3] || got[0] == got[1] || got[0].Token == got[1].Token || len(got[0].Token) != 32 {
		t.Fatalf("endpoints %v", got)
	}
	port, err := strconv.Atoi(got[0].URL[strings.LastIndexByte(got[0].URL, ':')+1:])
	if err != nil || port < 18400 || port > 18499 {
		t.Errorf("port of %s", got[0].URL)
	}
	pid, err := ask(t, got[0].URL+"/pid")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, got[0].URL)
	again := got[0]
	for end := time.Now().Add(10 * time.Second); again == got[0] && time.Now().Before(end); {
		if again, err = d.Endpoint(t.Context(), one, environ, nil); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := ask(t, again.URL+"/pid"); err != nil || text == pid {
		t.Errorf("not started again: %s, %v", text, err)
	}
	d.Close()
	gone(t, again.URL)
	gone(t, got[1].URL)
	if _, err := d.Endpoint(t.Context(), one, environ, nil); err == nil {
		t.Error("a daemon was started after Close")
	}
}

// A daemon that ends early says how and what it had printed; a call that is cut off does not wait for
// one that never is ready.
func TestDaemonFailures6_7(t *testing.T) {
	t.Parallel()
	d := NewDaemons(DaemonOptions{Ports: Ports{18500, 18501}})
	defer d.Close()
	of := Daemon{ID: "a", Name: "server", Command: "sh -c 'echo no licence >&2; exit 3'", Path: "/", Dir: t.TempDir()}
	_, err := d.Endpoint(t.Context(), of, os.Environ(), nil)
	if err == nil || !strings.Contains(err.Error(), "start daemon tool server: it ended before it was ready: exit status 3\nno licence") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	time.AfterFunc(50*time.Millisecond, func() { cancel(stopped) })
	of.ID, of.Command = "b", "sleep 100"
	if _, err := d.Endpoint(ctx, of, os.Environ(), nil); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
	for id, of := range map[string]Daemon{"no program": {Command: "/nonexistent/server", Path: "/"}, "no command": {Path: "/"}} {
		of.ID = id
		if _, err := d.Endpoint(t.Context(), of, os.Environ(), nil); err == nil {
			t.Errorf("%s: no error", id)
		}
	}
}

// The supervisor ends the command when its own input ends, as it does when parley is killed.
func TestSupervisorEndsWithItsParent6_7(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], os.Args[0])
	port := "18502"
	cmd.Env = append(os.Environ(), asDaemon+"=supervisor", "PORT="+port)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := "http://127.0.0.1:" + port
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := ask(t, url+"/ready"); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the daemon does not answer")
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	gone(t, url)
}

func TestParsePorts(t *testing.T) {
	for text, want := range map[string]Ports{"11000-11010": {11000, 11010}, " 1 - 2 ": {1, 2}, "80": {80, 80}} {
		if got, err := ParsePorts(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-", "5-x", "9-8", "0-5", "1-70000"} {
		if got, err := ParsePorts(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}
