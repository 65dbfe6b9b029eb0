package command

import (
	"os"
	"os/exec"
	"sync"
)

// Landlock does not stop UDP, so a program without a network gets namespaces of its own, by
// bubblewrap. A program that Landlock confines cannot make them, so bubblewrap confines its writes
// as well.

// bubblewrap finds a bwrap that works here, "" if there is none, once: it costs a start of bwrap.
var bubblewrap = sync.OnceValue(func() string {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return ""
	}
	probe := exec.Command(path, append(cutArguments([]string{}), "--", "/bin/true")...)
	if probe.Run() != nil {
		return ""
	}
	return path
})

// CanCutNetwork reports whether [Process.NoNetwork] has an effect here. The first call looks for
// bubblewrap and starts it.
func CanCutNetwork() bool { return bubblewrap() != "" }

// cutSupport says why the network cannot be cut off.
func cutSupport() string {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return "bubblewrap (bwrap) is not installed"
	}
	return "bubblewrap may not make namespaces on this system"
}

// cutArguments are those of bwrap for a program without a network that may write below the folders
// only, or anywhere if they are nil. It sees no processes but its own. There is no
// --die-with-parent: the thread that starts it may end before it.
func cutArguments(folders []string) []string {
	args := []string{"--unshare-net", "--unshare-pid", "--cap-drop", "ALL"}
	if folders == nil {
		return append(args, "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc")
	}
	args = append(args, "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc")
	for _, dir := range folders {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			args = append(args, "--bind", dir, dir)
		}
	}
	return args
}

// wrapCut makes cmd run in bubblewrap.
func wrapCut(cmd *exec.Cmd, folders []string) {
	args := append([]string{"bwrap"}, cutArguments(folders)...)
	if cmd.Dir != "" {
		args = append(args, "--chdir", cmd.Dir)
	}
	cmd.Args = append(append(args, "--", cmd.Path), cmd.Args[1:]...)
	cmd.Path = bubblewrap()
}
