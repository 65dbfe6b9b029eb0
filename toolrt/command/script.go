package command

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// prepared is a command that can be started.
type prepared struct {
	path string
	args []string // without the program
	file string   // temporary script, empty if there is none
}

// prepare turns an interpreter line and a script into a program with arguments (6.1). The caller
// removes the script's file with close.
func prepare(interpreter, script string, environ []string, foreign map[string]bool) (prepared, error) {
	return prepareWith(runtime.GOOS != "windows", interpreter, script, environ, foreign)
}

// prepareDirect is prepare without a shell on any system, as daemons are started.
func prepareDirect(interpreter, script string, environ []string) (prepared, error) {
	return prepareWith(false, interpreter, script, environ, nil)
}

func prepareWith(shell bool, interpreter, script string, environ []string, foreign map[string]bool) (p prepared, err error) {
	lookup := func(name string) string {
		value, _ := Lookup(environ, name)
		return value
	}
	if strings.TrimSpace(script) != "" {
		if p.file, err = writeScript(interpreter, script, lookup("GPTSCRIPT_TMPDIR")); err != nil {
			return prepared{}, err
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if !shell {
		return p, p.direct(interpreter, environ, lookup)
	}
	line, err := shellLine(interpreter, p.file, lookup, foreign)
	if err != nil {
		return p, err
	}
	p.path, p.args = "/bin/sh", []string{"-c", line}
	return p, nil
}

// direct fills in the program and its arguments where no shell is used.
func (p *prepared) direct(interpreter string, environ []string, lookup func(string) string) error {
	words, err := directWords(interpreter, lookup)
	if err != nil {
		return err
	}
	if p.file != "" {
		words = append(words, p.file)
	}
	if runtime.GOOS == "windows" {
		words[0] = findProgram(strings.ReplaceAll(words[0], "/", `\`), environ)
	}
	p.path, p.args = words[0], words[1:]
	return nil
}

// close removes the script's file.
func (p prepared) close() error {
	if p.file == "" {
		return nil
	}
	return os.Remove(p.file)
}

// writeScript writes the script byte for byte to a new file only the user can read.
func writeScript(interpreter, script, dir string) (string, error) {
	pattern := "gptscript*"
	switch program, _, _ := strings.Cut(interpreter, " "); program {
	case "powershell", "powershell.exe":
		pattern = "gptscript*.ps1"
	}
	f, err := os.CreateTemp(dir, pattern) // 0600
	if err != nil {
		return "", fmt.Errorf("write script of the tool: %w", err)
	}
	_, err = f.WriteString(script)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("write script of the tool: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return f.Name(), nil
}

// findProgram looks a program up in PATH of the tool's environment with the endings of PATHEXT, as
// Windows does. It returns name itself if nothing is found, so that the start reports it.
func findProgram(name string, environ []string) string {
	if strings.ContainsAny(name, `\/:`) {
		return name
	}
	value := func(want string) string {
		for i := len(environ) - 1; i >= 0; i-- {
			if key, v, ok := cutVariable(environ[i]); ok && strings.EqualFold(key, want) {
				return v
			}
		}
		return ""
	}
	endings := strings.Split(value("PATHEXT"), ";")
	if endings[0] == "" {
		endings = []string{".com", ".exe", ".bat", ".cmd"}
	}
	for _, dir := range strings.Split(value("PATH"), ";") {
		for _, ending := range append([]string{""}, endings...) {
			file := strings.TrimSuffix(dir, `\`) + `\` + name + strings.ToLower(ending)
			if info, err := os.Stat(file); dir != "" && err == nil && info.Mode().IsRegular() && strings.Contains(file[len(dir):], ".") {
				return file
			}
		}
	}
	return name
}
