//go:build !linux

package undo

import (
	"io/fs"
	"time"
)

// changeTime is when a file's bytes were changed last.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
