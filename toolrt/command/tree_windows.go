package command

import (
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// newSession gives the program a process group of its own and no console.
func newSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// tree is a job object, which holds the program and whatever it starts.
type tree struct {
	pid int
	job windows.Handle // zero if no job could be made; then the program alone is ended
}

func newTree(pid int, _ string, _ []uint64) tree {
	t := tree{pid: pid}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return t
	}
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, handle)
		_ = windows.CloseHandle(handle)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return t
	}
	t.job = job
	return t
}

// terminate ends the job at once: there is no request to end that a program without a window gets.
func (t *tree) terminate() { t.kill() }

func (t *tree) kill() {
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
		return
	}
	handle, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(t.pid))
	if err == nil {
		_ = windows.TerminateProcess(handle, 1)
		_ = windows.CloseHandle(handle)
	}
}

func (t *tree) again() {}

// hunt cannot find more than kill did here.
func (t *tree) hunt() {}

func (t *tree) alive() bool {
	if t.job == 0 {
		_, ok := startTime(t.pid)
		return ok
	}
	var info struct {
		TotalUserTime, TotalKernelTime, ThisPeriodTotalUserTime, ThisPeriodTotalKernelTime int64
		TotalPageFaultCount, TotalProcesses, ActiveProcesses, TotalTerminatedProcesses     uint32
	}
	const basicAccounting = 1
	err := windows.QueryInformationJobObject(t.job, basicAccounting, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.ActiveProcesses > 0
}

func (t *tree) release() {
	if t.job != 0 {
		_ = windows.CloseHandle(t.job)
	}
}

func (t *tree) left() []Left {
	if !t.alive() {
		return nil
	}
	return []Left{{PID: t.pid}}
}

func groupTree(pid int) (tree, bool) { return tree{pid: pid}, true }

// startTime returns when a living process started.
func startTime(pid int) (time.Time, bool) {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return time.Time{}, false
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(handle, &created, &exited, &kernel, &user) != nil || exited.Nanoseconds() > 0 && exited.HighDateTime != 0 {
		return time.Time{}, false
	}
	return time.Unix(0, created.Nanoseconds()), true
}
