//go:build !linux

package command

import "os/exec"

// tie does nothing: programs see the end of their input.
func tie(*exec.Cmd) {}
