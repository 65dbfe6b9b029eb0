package undo

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when a file's bytes, mode or name were changed last: programs can set the other
// time, not this one.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec))
	}
	return info.ModTime()
}
