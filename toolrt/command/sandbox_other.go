//go:build !linux

package command

import "os/exec"

// SandboxSupport says in one line how far commands can be confined here.
func SandboxSupport() string { return "none: commands are confined on Linux only" }

// CanConfine reports whether [Process.Confine] has an effect here.
func CanConfine() bool { return false }

// CanCutNetwork reports whether [Process.NoNetwork] has an effect here.
func CanCutNetwork() bool { return false }

func cutSupport() string { return "commands are confined on Linux only" }

// wrapCut is for systems that can cut the network off.
func wrapCut(*exec.Cmd, []string) {}

// startConfined starts cmd; there is nothing here that could confine it.
func startConfined(cmd *exec.Cmd, _ []string) error { return cmd.Start() }
