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

// startConfined starts cmd so that it and its children can write below the folders only. Without
// Landlock in the kernel it starts cmd unconfined.
func startConfined(cmd *exec.Cmd, folders []string) error {
	rules := []landlock.Rule{
		landlock.RWDirs(folders...).WithRefer().IgnoreIfMissing(),
		landlock.RWDirs("/dev/shm").IgnoreIfMissing(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom").IgnoreIfMissing(),
	}
	fd, flags, err := landlock.Config{HandledAccessFS: writing}.BestEffort().NewRulesetFD(rules...)
	if err != nil {
		return fmt.Errorf("confine command: %w", err)
	}
	if fd < 0 {
		return cmd.Start()
	}
	defer func() { _ = unix.Close(fd) }()
	result := make(chan error)
	go func() {
		// The restriction binds this thread for good and is inherited by the program. The thread
		// is never unlocked, so it ends with the goroutine instead of serving others.
		runtime.LockOSThread()
		result <- startRestricted(cmd, fd, flags)
	}()
	return <-result
}

func startRestricted(cmd *exec.Cmd, fd int, flags uint32) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("confine command: %w", err)
	}
	if err := ll.LandlockRestrictSelf(fd, flags); err != nil {
		return fmt.Errorf("confine command: %w", err)
	}
	return cmd.Start()
}
