package command

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"parley/toolrt"
)

// cage is a working folder inside a place that nothing confined may write to.
type cage struct {
	inside, outside string
	parent          int // a process that is not confined
}

func newCage(t *testing.T) cage {
	t.Helper()
	base := t.TempDir()
	c := cage{inside: filepath.Join(base, "in"), outside: filepath.Join(base, "out"), parent: os.Getpid()}
	for _, dir := range []string{c.inside, c.outside, filepath.Join(base, "tmp"), filepath.Join(base, "home")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(c.outside+"/old", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Temporary and cache folders are always allowed, and the cage lies in one.
	t.Setenv("TMPDIR", filepath.Join(base, "tmp"))
	t.Setenv("HOME", filepath.Join(base, "home"))
	t.Setenv("XDG_CACHE_HOME", "")
	return c
}

// run runs a script in the cage and returns what it printed.
func (c cage) run(t *testing.T, s toolrt.Sandbox, script string) string {
	t.Helper()
	var out bytes.Buffer
	p := shell(t, script, &out, nil)
	p.Path, p.Dir = "/bin/bash", c.inside
	p.Env = append(os.Environ(), "OUT="+c.outside, fmt.Sprintf("PARENT=%d", c.parent))
	p.Confine, p.NoNetwork = Confine(s, c.inside), s.NoNetwork
	if _, err := Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// waysOut are scripts that print ESCAPED when they have got out.
var waysOut = map[string]string{
	"write":         `echo x > $OUT/new && echo ESCAPED`,
	"append":        `echo x >> $OUT/old && echo ESCAPED`,
	"truncate":      `: > $OUT/old && echo ESCAPED`,
	"remove":        `rm -f $OUT/old && echo ESCAPED`,
	"move out":      `echo x > f; mv f $OUT/f && echo ESCAPED`,
	"move in":       `mv $OUT/old . && echo ESCAPED`,
	"folder":        `mkdir $OUT/d && echo ESCAPED`,
	"symlink":       `ln -s $OUT/old link; echo x > link && echo ESCAPED`,
	"symlink up":    `ln -s .. up; echo x > up/out/new && echo ESCAPED`,
	"climb":         `echo x > ../out/new && echo ESCAPED`,
	"through proc":  `echo x > /proc/self/cwd/../out/new && echo ESCAPED`,
	"hard link":     `ln $OUT/old hard && echo x > hard && echo ESCAPED`,
	"copy":          `cp /bin/true $OUT/true && echo ESCAPED`,
	"device":        `mknod $OUT/dev c 1 3 && echo ESCAPED`,
	"fifo":          `mkfifo $OUT/fifo && echo ESCAPED`,
	"setsid child":  `setsid sh -c 'echo x > $OUT/new && echo ESCAPED'`,
	"left behind":   `(setsid sh -c 'sleep 0.05; echo x > $OUT/new && echo ESCAPED' &); sleep 0.15`,
	"nested shell":  `env sh -c "sh -c 'echo x > \$OUT/new && echo ESCAPED'"`,
	"parent memory": `dd if=/dev/zero of=/proc/$PARENT/mem bs=1 count=0 2>/dev/null && echo ESCAPED`,
	"parent files":  `readlink /proc/$PARENT/fd/0 >/dev/null && echo ESCAPED`,
	"parent's keys": `head -c 1 /proc/$PARENT/environ | grep -q . && echo ESCAPED`,
	"remount":       `mount -o remount,rw / 2>/dev/null && echo x > $OUT/new && echo ESCAPED`,
	"namespace":     `unshare -Urm sh -c 'mount -o remount,bind,rw / && echo x > $OUT/new && echo ESCAPED' 2>/dev/null`,
	"mount":         `mount --bind $OUT . 2>/dev/null && echo ESCAPED`,
}

// Every way out that a script can try stays shut (Landlock).
func TestSandboxWaysOutLandlock(t *testing.T) {
	if !CanConfine() {
		t.Skip("not supported here: " + SandboxSupport())
	}
	c := newCage(t)
	checkWaysOut(t, c, toolrt.Sandbox{Profile: toolrt.ProfileWrite})
	if abi, _ := ll.LandlockGetABIVersion(); abi >= 6 {
		if out := c.run(t, toolrt.Sandbox{Profile: toolrt.ProfileWrite}, `kill -0 $PARENT && echo ESCAPED`); strings.Contains(out, "ESCAPED") {
			t.Error("a signal reached a process that is not confined")
		}
	}
	if out := c.run(t, toolrt.Sandbox{Profile: toolrt.ProfileWrite}, `sleep 9 & kill $! && echo own; echo x > f && echo in`); !strings.Contains(out, "own\nin\n") {
		t.Errorf("what is allowed: %s", out)
	}
	checkReadOnly(t, c, toolrt.Sandbox{Profile: toolrt.ProfileRead})
	for range 20 { // whatever thread the start happens to be on
		if out := c.run(t, toolrt.Sandbox{Profile: toolrt.ProfileWrite}, waysOut["parent's keys"]); strings.Contains(out, "ESCAPED") {
			t.Fatal("the parent's environment could be read")
		}
	}
}

// The same without a network (bubblewrap).
func TestSandboxWaysOutBubblewrap(t *testing.T) {
	if !CanCutNetwork() {
		t.Skip(cutSupport())
	}
	c := newCage(t)
	s := toolrt.Sandbox{Profile: toolrt.ProfileWrite, NoNetwork: true}
	checkWaysOut(t, c, s)
	if out := c.run(t, s, `kill -0 $PARENT && echo ESCAPED; echo x > f && echo in; chmod 777 $OUT/old && echo ESCAPED`); strings.Contains(out, "ESCAPED") || !strings.Contains(out, "in\n") {
		t.Errorf("got %s", out)
	}
	checkReadOnly(t, c, toolrt.Sandbox{Profile: toolrt.ProfileRead, NoNetwork: true})
	checkNetwork(t, c)
}

func checkWaysOut(t *testing.T, c cage, s toolrt.Sandbox) {
	t.Helper()
	var all strings.Builder
	for name, script := range waysOut {
		fmt.Fprintf(&all, "echo \"== %s\"; ( %s )\n", name, script)
	}
	out := c.run(t, s, all.String())
	for part := range strings.SplitSeq(out, "== ") {
		if name, rest, _ := strings.Cut(part, "\n"); strings.Contains(rest, "ESCAPED") {
			t.Errorf("%s: got out: %s", name, rest)
		}
	}
	if strings.Count(out, "== ") != len(waysOut) {
		t.Errorf("not every way was tried: %s", out)
	}
	entries, err := os.ReadDir(c.outside)
	if content, _ := os.ReadFile(c.outside + "/old"); err != nil || len(entries) != 1 || string(content) != "old" {
		t.Errorf("outside there is now %v, old holds %q, %v", entries, content, err)
	}
}

func checkReadOnly(t *testing.T, c cage, s toolrt.Sandbox) {
	t.Helper()
	out := c.run(t, s, `echo x > ro && echo ESCAPED; echo x > "$TMPDIR/ro" && echo ESCAPED; cat $OUT/old > /dev/null && echo reads`)
	if strings.Contains(out, "ESCAPED") || !strings.Contains(out, "reads\n") {
		t.Errorf("read-only: %s", out)
	}
}

// checkNetwork: neither TCP nor UDP reaches a listener on this machine, which both do otherwise.
func checkNetwork(t *testing.T, c cage) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tcp.Close() }()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = udp.Close() }()
	script := fmt.Sprintf(`(echo x > /dev/tcp/127.0.0.1/%d) 2>/dev/null && echo TCP; (echo x > /dev/udp/127.0.0.1/%d) 2>/dev/null; true`,
		tcp.Addr().(*net.TCPAddr).Port, udp.LocalAddr().(*net.UDPAddr).Port)
	heard := func() bool {
		_ = udp.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		_, _, err := udp.ReadFrom(make([]byte, 9))
		return err == nil
	}
	for _, s := range []toolrt.Sandbox{{NoNetwork: true}, {Profile: toolrt.ProfileWrite, NoNetwork: true}} {
		if out := c.run(t, s, script); strings.Contains(out, "TCP") || heard() {
			t.Errorf("%+v: the network was reached: %s", s, out)
		}
	}
	if out := c.run(t, toolrt.Sandbox{Profile: toolrt.ProfileWrite}, script); !strings.Contains(out, "TCP") || !heard() {
		t.Errorf("with a network: %s", out)
	}
}

// What was applied is said in words, also what cannot be.
func TestSandboxApplied(t *testing.T) {
	if got := Applied(toolrt.Sandbox{}) + Applied(toolrt.Sandbox{Profile: toolrt.ProfileOff}); got != "" {
		t.Errorf("nothing applied: %q", got)
	}
	got := Applied(toolrt.Sandbox{Profile: toolrt.ProfileRead, NoNetwork: true})
	_, err := exec.LookPath("bwrap")
	switch {
	case CanCutNetwork() && got != "no writes; no network",
		err != nil && !strings.HasSuffix(got, "network not cut off: bubblewrap (bwrap) is not installed"):
		t.Errorf("got %q", got)
	}
}
