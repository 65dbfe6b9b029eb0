package credential

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
)

func noEnv(string) string { return "" }

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// quickFile is a file store that does not spend the time that guessing must cost.
func quickFile(dir, pass string) *file {
	f := newFile(dir, pass)
	f.factor = 2
	return f
}

func testStores(t *testing.T) map[string]Store {
	keyring.MockInit()
	opened, _ := Open(t.Context(), Options{Dir: t.TempDir(), Getenv: noEnv})
	return map[string]Store{"memory": &Memory{}, "file": quickFile(t.TempDir(), "pw"), "keyring": newRing(t.TempDir()), "opened": opened}
}

func TestStoresKeepByNameAndContext(t *testing.T) {
	end := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for kind, s := range testStores(t) {
		ctx := t.Context()
		put := func(c Credential) {
			t.Helper()
			if err := s.Put(ctx, c); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
		}
		full := Credential{Context: "work", ToolName: "gh", Type: "tool", Env: map[string]string{"TOKEN": "t1"}, CheckParam: "c", ExpiresAt: &end, RefreshToken: "r"}
		put(full)
		put(Credential{ToolName: "gh", Env: map[string]string{"TOKEN": " t2\n"}})
		put(Credential{ToolName: "long", Env: map[string]string{"KEY": strings.Repeat("0123456789", 1000)}})
		put(Credential{ToolName: "long", Env: map[string]string{"KEY": strings.Repeat("9876543210", 1001)}})

		if c, ok, err := s.Get(ctx, []string{"work"}, "gh"); err != nil || !ok || !reflect.DeepEqual(c, full) {
			t.Errorf("%s: got %+v %v %v, want %+v", kind, c, ok, err, full)
		}
		for _, c := range []struct {
			contexts []string
			name     string
			want     string
		}{{nil, "gh", "t2"}, {[]string{"default", "work"}, "gh", "t2"}, {[]string{"none", "work", "default"}, "gh", "t1"}, {[]string{"none"}, "gh", ""}, {nil, "other", ""}} {
			got, ok, err := s.Get(ctx, c.contexts, c.name)
			if err != nil || ok != (c.want != "") || got.Env["TOKEN"] != c.want {
				t.Errorf("%s: Get(%v, %s) = %+v %v %v", kind, c.contexts, c.name, got, ok, err)
			}
		}
		if c, _, _ := s.Get(ctx, nil, "long"); c.Env["KEY"] != strings.Repeat("9876543210", 1001) {
			t.Errorf("%s: a long value came back with %d bytes", kind, len(c.Env["KEY"]))
		}
		for contexts, want := range map[string]int{"*": 3, "": 2, "work": 1, "work default": 2} {
			if l, err := s.List(ctx, strings.Fields(contexts)); err != nil || len(l) != want {
				t.Errorf("%s: List(%q) = %v, %v, want %d", kind, contexts, l, err, want)
			}
		}
		if l, _ := s.List(ctx, []string{"work", "default"}); l[0].Env["TOKEN"] != "t1" {
			t.Errorf("%s: the later context wins", kind)
		}
		if ok, err := s.Delete(ctx, "", "gh"); !ok || err != nil {
			t.Errorf("%s: Delete = %v %v", kind, ok, err)
		}
		if ok, err := s.Delete(ctx, "", "gh"); ok || err != nil {
			t.Errorf("%s: second Delete = %v %v", kind, ok, err)
		}
		if l, err := s.List(ctx, []string{"*"}); err != nil || len(l) != 2 {
			t.Errorf("%s: after Delete: %v %v", kind, l, err)
		}
		if _, _, err := s.Get(ctx, []string{"a b"}, "x"); err == nil {
			t.Errorf("%s: a context with a blank is taken", kind)
		}
		if err := s.Put(ctx, Credential{Context: "*", ToolName: "x"}); err == nil {
			t.Errorf("%s: Put takes *", kind)
		}
		if err := s.Put(ctx, Credential{}); err == nil {
			t.Errorf("%s: a credential without a name is kept", kind)
		}
	}
}

func TestStoresGiveCopies(t *testing.T) {
	for kind, s := range testStores(t) {
		vars := map[string]string{"K": "v"}
		if err := s.Put(t.Context(), Credential{ToolName: "x", Env: vars}); err != nil {
			t.Fatal(err)
		}
		vars["K"] = "changed"
		c, _, _ := s.Get(t.Context(), nil, "x")
		c.Env["K"] = "changed"
		if c, _, _ := s.Get(t.Context(), nil, "x"); c.Env["K"] != "v" {
			t.Errorf("%s: a caller changed what is kept", kind)
		}
	}
}

// TestK01NoKeyringSaysSoOnce uses the stand-in and tells it in one plain sentence.
func TestK01NoKeyringSaysSoOnce(t *testing.T) {
	busError := errors.New(`exec: "dbus-launch": executable file not found in $PATH`)
	for _, c := range []struct {
		name, pass, kind, line string
	}{
		{"memory", "", "memory", "there is no usable keyring: credentials are kept until parley ends; set PARLEY_PASSPHRASE to keep them in an encrypted file"},
		{"file", "pw", "file", "there is no usable keyring: credentials are kept encrypted in "},
	} {
		keyring.MockInitWithError(busError)
		var said []string
		dir := t.TempDir()
		s, _ := Open(t.Context(), Options{Dir: dir, workFactor: 2, Getenv: env("PARLEY_PASSPHRASE", c.pass), Say: func(l string) { said = append(said, l) }})
		if s.Kind() != "keyring" {
			t.Errorf("%s: kind %s before the first use", c.name, s.Kind())
		}
		if err := s.Put(t.Context(), Credential{ToolName: "x", Env: map[string]string{"K": "v"}}); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Get(t.Context(), nil, "x"); err != nil || !ok || got.Env["K"] != "v" {
			t.Errorf("%s: %+v %v %v", c.name, got, ok, err)
		}
		if l, err := s.List(t.Context(), []string{"*"}); len(l) != 1 || err != nil {
			t.Errorf("%s: %v %v", c.name, l, err)
		}
		if s.Kind() != c.kind || len(said) != 1 || !strings.HasPrefix(said[0], c.line) || strings.Contains(said[0], "dbus") {
			t.Errorf("%s: kind %s, said %q", c.name, s.Kind(), said)
		}
		keyring.MockInit() // the keyring is there after all: what was kept meanwhile is still found
		if _, ok, err := s.Get(t.Context(), nil, "x"); !ok || err != nil {
			t.Errorf("%s: lost: %v %v", c.name, ok, err)
		}
		if err := s.Put(t.Context(), Credential{ToolName: "x", Env: map[string]string{"K": "new"}}); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := s.Get(t.Context(), nil, "x"); got.Env["K"] != "new" || s.Kind() != "keyring" {
			t.Errorf("%s: %+v from %s", c.name, got, s.Kind())
		}
	}
}

// TestK01OpenTouchesNoKeyring opens, and finds a key in the environment, with a keyring that
// would fail the test.
func TestK01OpenTouchesNoKeyring(t *testing.T) {
	keyring.MockInitWithError(errors.New("asked"))
	s, line := Open(t.Context(), Options{Dir: t.TempDir(), Getenv: noEnv, Say: func(l string) { t.Error(l) }})
	if line == "" {
		t.Error("nothing says where credentials are kept")
	}
	key, err := Keys(s, env("OPENAI_API_KEY", "sk-1"))(t.Context(), "openai")
	if key != "sk-1" || err != nil {
		t.Errorf("%q %v", key, err)
	}
}

func TestK03SwitchedOffKeyringIsNeverCalled(t *testing.T) {
	keyring.MockInitWithError(errors.New("asked"))
	say := func(l string) { t.Error(l) }
	for pass, want := range map[string]string{"": "memory", "pw": "file"} {
		dir := t.TempDir()
		s, line := Open(t.Context(), Options{Dir: dir, workFactor: 2, DisableKeyring: true, Getenv: env("PARLEY_PASSPHRASE", pass), Say: say})
		if s.Kind() != want || !strings.Contains(line, "switched off") {
			t.Errorf("%s: kind %s, line %q", want, s.Kind(), line)
		}
		if _, ok, err := s.Get(t.Context(), nil, "x"); ok || err != nil {
			t.Errorf("%s: %v %v", want, ok, err)
		}
		if err := s.Put(t.Context(), Credential{ToolName: "x"}); err != nil || s.Kind() != want {
			t.Errorf("%s: %v, kind %s", want, err, s.Kind())
		}
		if ok, err := s.Delete(t.Context(), "", "x"); !ok || err != nil {
			t.Errorf("%s: %v %v", want, ok, err)
		}
	}
}

func TestPassphraseIsAskedOnceAndOnlyWhenNeeded(t *testing.T) {
	keyring.MockInitWithError(errors.New("none"))
	dir := t.TempDir()
	var asked []bool
	o := Options{Dir: dir, workFactor: 2, Getenv: noEnv, Passphrase: func(_ context.Context, create bool) (string, error) {
		asked = append(asked, create)
		return "pw", nil
	}}
	for range 2 {
		s, _ := Open(t.Context(), o)
		for range 2 {
			if err := s.Put(t.Context(), Credential{ToolName: "x"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !reflect.DeepEqual(asked, []bool{true, false}) {
		t.Errorf("asked %v", asked)
	}
	o.Passphrase = func(context.Context, bool) (string, error) { return "", errors.New("declined") }
	s, _ := Open(t.Context(), o)
	if err := s.Put(t.Context(), Credential{ToolName: "x"}); err == nil {
		t.Error("an error of the question is lost")
	}
}

// hanging is a keyring whose calls wait until they are let go.
type hanging struct{ free chan struct{} }

func (h hanging) call() error { <-h.free; return nil }

// TestK02HangingKeyringIsGivenUpOn gives up after its limit, does not wait again while the call
// hangs, and picks a later unlock up.
func TestK02HangingKeyringIsGivenUpOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRing("")
		h := hanging{make(chan struct{})}
		start := time.Now()
		if err := r.call(t.Context(), h.call); !errors.Is(err, errSilent) || time.Since(start) != ringLimit {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		start = time.Now()
		if err := r.call(t.Context(), h.call); !errors.Is(err, errSilent) || time.Since(start) != 0 {
			t.Errorf("second call: %v after %v", err, time.Since(start))
		}
		close(h.free)
		synctest.Wait()
		if err := r.call(t.Context(), h.call); err != nil {
			t.Errorf("after the unlock: %v", err)
		}
	})
}

func TestK02CancelledCallReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRing("")
		h := hanging{make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Second) // of the fake clock
			cancel()
		}()
		start := time.Now()
		if err := r.call(ctx, h.call); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		close(h.free)
		synctest.Wait()
		if err := r.call(t.Context(), func() error { panic("library") }); err == nil {
			t.Error("a panic is lost")
		}
		if err := r.call(t.Context(), h.call); err != nil {
			t.Errorf("after the panic: %v", err)
		}
	})
}

func TestKeyringListSurvivesForeignDeletes(t *testing.T) {
	keyring.MockInit()
	r := newRing(t.TempDir())
	for _, n := range []string{"a", "b"} {
		if err := r.Put(t.Context(), Credential{ToolName: n}); err != nil {
			t.Fatal(err)
		}
	}
	if err := keyring.Delete(service, "a///default"); err != nil {
		t.Fatal(err)
	}
	if l, err := r.List(t.Context(), nil); err != nil || len(l) != 1 || l[0].ToolName != "b" {
		t.Errorf("%v %v", l, err)
	}
}

func TestFileIsEncryptedPrivateAndWhole(t *testing.T) {
	dir := t.TempDir()
	s := quickFile(dir, "pw")
	if err := s.Put(t.Context(), Credential{ToolName: "gh", Env: map[string]string{"TOKEN": "marker-value"}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, FileName)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info.Mode(), err)
	}
	raw, _ := os.ReadFile(path)
	if strings.Contains(string(raw), "marker-value") || !strings.HasPrefix(string(raw), "age-encryption.org/") {
		t.Error("the file is not encrypted")
	}
	if _, _, err := quickFile(dir, "other").Get(t.Context(), nil, "gh"); !errors.Is(err, ErrPassphrase) || strings.Contains(err.Error(), "other") {
		t.Errorf("wrong passphrase: %v", err)
	}
	if err := quickFile(dir, "other").Put(t.Context(), Credential{ToolName: "x"}); !errors.Is(err, ErrPassphrase) {
		t.Errorf("a wrong passphrase may overwrite: %v", err)
	}
	// Another process writes: the first sees it.
	if err := quickFile(dir, "pw").Put(t.Context(), Credential{ToolName: "second"}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Get(t.Context(), nil, "second"); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	if err := os.WriteFile(path, raw[:len(raw)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := quickFile(dir, "pw").Get(t.Context(), nil, "gh"); err == nil || errors.Is(err, ErrPassphrase) {
		t.Errorf("cut file: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".credentials-*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFileOfTwoWritersLosesNothing(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for _, n := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			if err := quickFile(dir, "pw").Put(t.Context(), Credential{ToolName: n}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if l, err := quickFile(dir, "pw").List(t.Context(), nil); err != nil || len(l) != 4 {
		t.Errorf("%v %v", l, err)
	}
}

func TestWithoutDataFolderNothingIsWritten(t *testing.T) {
	keyring.MockInitWithError(errors.New("none"))
	s, _ := Open(t.Context(), Options{Getenv: env("PARLEY_PASSPHRASE", "pw")})
	if err := s.Put(t.Context(), Credential{ToolName: "x"}); err != nil || s.Kind() != "memory" {
		t.Errorf("%v, kind %s", err, s.Kind())
	}
}

// rerun runs one test of this binary again in an environment of its own, through the shell text
// that ends in running "$0" with the test's arguments.
func rerun(t *testing.T, script string, vars ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", script, os.Args[0], "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), append(vars, "HOME="+home, "XDG_DATA_HOME="+home+"/data", "XDG_RUNTIME_DIR="+home+"/run", "PARLEY_TEST_RERUN=1")...)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%s: %v\n%s", script, err, out)
	}
}

func isRerun() bool { return os.Getenv("PARLEY_TEST_RERUN") != "" }

func needTools(t *testing.T, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			t.Skipf("%s is not installed", n)
		}
	}
}

// TestRealKeyring works with gnome-keyring on a session bus of its own.
func TestRealKeyring(t *testing.T) {
	if !isRerun() {
		needTools(t, "dbus-run-session", "gnome-keyring-daemon")
		rerun(t, `exec dbus-run-session -- sh -c 'printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$0" "$@"' "$0" "$@"`)
		return
	}
	s, _ := Open(t.Context(), Options{Dir: t.TempDir(), Getenv: noEnv, Say: func(l string) { t.Error(l) }})
	long := strings.Repeat("0123456789", 500)
	if err := s.Put(t.Context(), Credential{ToolName: "gh", Env: map[string]string{"TOKEN": long}}); err != nil {
		t.Fatal(err)
	}
	again, _ := Open(t.Context(), Options{Dir: t.TempDir(), Getenv: noEnv})
	if c, ok, err := again.Get(t.Context(), nil, "gh"); !ok || err != nil || c.Env["TOKEN"] != long || again.Kind() != "keyring" {
		t.Errorf("%v %v from %s", ok, err, again.Kind())
	}
	if l, err := again.List(t.Context(), []string{"*"}); len(l) != 1 || err != nil {
		t.Errorf("%v %v", l, err)
	}
	if ok, err := s.Delete(t.Context(), "", "gh"); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}

// TestK01RealLibraryWithoutKeyring has no bus at all, then a bus that nobody offers secrets on.
func TestK01RealLibraryWithoutKeyring(t *testing.T) {
	if !isRerun() {
		if runtime.GOOS != "linux" {
			t.Skip("other systems always have a keyring")
		}
		rerun(t, `exec "$0" "$@"`, "DBUS_SESSION_BUS_ADDRESS=", "PATH=/nonexistent:/bin")
		needTools(t, "dbus-run-session")
		rerun(t, `exec dbus-run-session -- "$0" "$@"`, "XDG_DATA_DIRS=/nonexistent")
		return
	}
	var said []string
	s, _ := Open(t.Context(), Options{Dir: t.TempDir(), Getenv: noEnv, Say: func(l string) { said = append(said, l) }})
	start := time.Now()
	if err := s.Put(t.Context(), Credential{ToolName: "x"}); err != nil {
		t.Error(err)
	}
	if _, ok, err := s.Get(t.Context(), nil, "x"); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	if s.Kind() != "memory" || len(said) != 1 || time.Since(start) > 2*ringLimit {
		t.Errorf("kind %s, said %q after %v", s.Kind(), said, time.Since(start))
	}
}

// BenchmarkUnlockFile is the wait at the first credential of a process: it should stay below a
// second, and cost whoever guesses passphrases as much.
func BenchmarkUnlockFile(b *testing.B) {
	dir := b.TempDir()
	if err := newFile(dir, "pw").Put(b.Context(), Credential{ToolName: "x"}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok, err := newFile(dir, "pw").Get(b.Context(), nil, "x"); !ok || err != nil {
			b.Fatal(err)
		}
	}
}
