package command

import (
	"os/exec"
	"syscall"
)

// tie lets the system end the program with the thread that starts it.
func tie(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
