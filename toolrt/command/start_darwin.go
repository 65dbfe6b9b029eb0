package command

import (
	"time"

	"golang.org/x/sys/unix"
)

// startTime returns when a living process started.
func startTime(pid int) (time.Time, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return time.Time{}, false
	}
	at := info.Proc.P_starttime
	return time.Unix(at.Unix()), true
}
