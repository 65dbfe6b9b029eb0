package persist

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Rescue writes what could not be stored into a new file in dir, as indented JSON that only this
// user can read, and returns its path. The folder is made when it is missing. The file is on the
// disk when Rescue returns.
func Rescue(dir string, unsaved any) (string, error) {
	text, err := json.MarshalIndent(unsaved, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write a rescue file: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("write a rescue file: %w", err)
	}
	file, err := os.CreateTemp(dir, "parley-rescue-*.json") // mode 0600
	if err != nil {
		return "", fmt.Errorf("write a rescue file: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return file.Name(), fmt.Errorf("write the rescue file %s: %w", file.Name(), err)
	}
	return file.Name(), nil
}
