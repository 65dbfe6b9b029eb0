package command

import (
	"fmt"
	"os/exec"
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// writing is everything that changes files. Reading and the network stay free: Landlock does not
// stop UDP, and half a wall would be taken for a whole one.
const writing landlock.AccessFSSet = ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRefer |
	ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar | ll.AccessFSMakeDir |
	ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym

// SandboxSupport says in one line how far commands can be confined here.
func SandboxSupport() string {
	abi, err := ll.LandlockGetABIVersion()
	switch {
	case err != nil || abi < 1:
		return "none: this kernel has no Landlock, or it is switched off"
	case abi < 3:
		return fmt.Sprintf("partial: Landlock %d confines writes, but not the shortening of files", abi)
	}
	return fmt.Sprintf("Landlock %d: writes only in allowed folders", abi)
}

// CanConfine reports whether [Process.Confine] has an effect here.
func CanConfine() bool {
	abi, err := ll.LandlockGetABIVersion()
	return err == nil && abi >= 1
}

// scopes keeps a confined program from signals to processes that are not confined with it (it cannot
// trace them in any case), and from their abstract sockets.
const scopes landlock.ScopedSet = ll.ScopeSignal | ll.ScopeAbstractUnixSocket

// startConfined starts cmd so that it and its children can write below the folders only. Without
// Landlock in the kernel it starts cmd unconfined.
func startConfined(cmd *exec.Cmd, folders []string) error {
	rules := []landlock.Rule{
		landlock.RWDirs(folders...).WithRefer().IgnoreIfMissing(),
		landlock.RWDirs("/dev/shm").IgnoreIfMissing(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom").IgnoreIfMissing(),
	}
	fd, flags, err := landlock.Config{HandledAccessFS: writing, Scoped: scopes}.BestEffort().NewRulesetFD(rules...)
	if err != nil {
		return fmt.Errorf("confine command: %w", err)
	}
	if fd < 0 {
		return cmd.Start()
	}
	defer func() { _ = unix.Close(fd) }()
	result := make(chan error, 1)
	onDyingThread(func() { result <- startRestricted(cmd, fd, flags) })
	return <-result
}

// onDyingThread runs f on a thread that ends with it: a restriction binds its thread for good and is
// inherited by the program, and must not come to serve others. The process's main thread never ends,
// and stands for the whole process when another asks who may look into it; so it is not taken.
func onDyingThread(f func()) {
	go func() {
		runtime.LockOSThread() // never unlocked on the thread that f takes
		if unix.Gettid() != unix.Getpid() {
			f()
			return
		}
		done := make(chan struct{})
		onDyingThread(func() { // another thread, since this one is held
			defer close(done)
			f()
		})
		<-done
		runtime.UnlockOSThread()
	}()
}

func startRestricted(cmd *exec.Cmd, fd int, flags uint32) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("confine command: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("confine command: %w", err)
	}
	if err := ll.LandlockRestrictSelf(fd, flags); err != nil {
		return fmt.Errorf("confine command: %w", err)
	}
	return cmd.Start()
}

// wayOut are the capabilities by which root would get around Landlock: to look into processes, to load
// code into the kernel, to reach devices and namespaces.
var wayOut = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_BPF, unix.CAP_SYS_MODULE,
	unix.CAP_SYS_RAWIO, unix.CAP_SYS_BOOT, unix.CAP_CHECKPOINT_RESTORE}

// dropCapabilities keeps what this thread starts from getting these. For other users than root there
// are none to drop.
func dropCapabilities() error {
	if unix.Geteuid() != 0 {
		return nil
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	for _, c := range wayOut {
		data[c/32].Inheritable &^= 1 << (c % 32)
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err != nil && err != unix.EINVAL && err != unix.EPERM { // not known to this kernel, or not ours to drop
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
