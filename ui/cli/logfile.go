package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"parley/agent/credential"
)

// maxLog is the size at which the log is begun anew; one old file is kept.
const maxLog = 4 << 20

// openBounded opens the log for appending.
func openBounded(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("turn log over: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return file, nil
}

// redactingWriter keeps secrets out of the log.
type redactingWriter struct {
	a *app
	w io.Writer
}

func (r redactingWriter) Write(p []byte) (int, error) {
	text := string(p)
	if r.a.redactor != nil {
		text = r.a.redactor.Redact(text)
	}
	if _, err := io.WriteString(r.w, credential.MaskPatterns(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}
