package toolrt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// The whole output of a call is kept in a folder under the call's OutputID:
//
//	ID          the text, cleaned and redacted, written as it comes
//	ID.tail0    while an output beyond the cap is being written: its last part, in two files that
//	ID.tail     take turns; they are joined to ID when the call ends
//	ID.proc     while the call runs: its process groups, one JSON object a line
//
// Ids are made by the agent and checked here, so that no name from outside reaches the file system
// (R63). Files are private (0600).

var validOutputID = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// outputPath returns the path of the file of that id, an error for an id that is none (R64).
func outputPath(dir, id string) (string, error) {
	if dir == "" {
		return "", errors.New("outputs are not kept")
	}
	if !validOutputID.MatchString(id) {
		return "", fmt.Errorf("%q is no id of an output", id)
	}
	return filepath.Join(dir, id), nil
}

// outputFile writes one output as it comes. Of a text beyond limit it keeps the first and the last
// half (R65). After an error nothing more is written. Not safe for concurrent use.
type outputFile struct {
	path  string
	limit int64
	file  *os.File
	size  int64 // of the file being written
	half  bool  // the first half is full: file is the tail's
	total int64
	err   error
}

// write appends p; the file is created by the first write.
func (o *outputFile) write(p []byte) {
	o.total += int64(len(p))
	for len(p) > 0 && o.err == nil {
		if o.file == nil {
			if o.file, o.err = o.create(o.path); o.err != nil {
				return
			}
		}
		n := min(int64(len(p)), o.limit/2-o.size)
		if n > 0 {
			_, o.err = o.file.Write(p[:n])
			o.size, p = o.size+n, p[n:]
			continue
		}
		o.turn()
	}
}

func (o *outputFile) create(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
}

// turn goes on with a fresh tail file; the full one becomes the older of the two.
func (o *outputFile) turn() {
	o.err = o.file.Close()
	o.file = nil
	if o.half && o.err == nil {
		o.err = os.Rename(o.path+".tail", o.path+".tail0")
	}
	if o.err == nil {
		o.file, o.err = o.create(o.path + ".tail")
	}
	o.half, o.size = true, 0
}

// partial reports whether the middle of the text is not in the file.
func (o *outputFile) partial() bool { return o.total > o.limit/2*2 }

// finish closes the file and joins its parts. It reports whether there is a file now.
func (o *outputFile) finish() (bool, error) {
	if o.file != nil {
		o.err = errors.Join(o.err, o.file.Close())
		o.file = nil
	}
	if o.err == nil && o.half {
		o.err = o.join()
	}
	if o.err != nil {
		return false, errors.Join(o.err, o.remove())
	}
	return o.total > 0, nil
}

// join appends the last half of the text to the first.
func (o *outputFile) join() (err error) {
	out, err := os.OpenFile(o.path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if o.partial() {
		left := o.total - o.limit/2*2
		if _, err := fmt.Fprintf(out, "\n[... %s bytes were not kept ...]\n", grouped(left)); err != nil {
			return err
		}
		if err := appendFrom(out, o.path+".tail0", o.size); err != nil {
			return err
		}
	} else if err := appendFrom(out, o.path+".tail0", 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := appendFrom(out, o.path+".tail", 0); err != nil {
		return err
	}
	return errors.Join(removeFile(o.path+".tail0"), removeFile(o.path+".tail"))
}

// appendFrom copies the file at path from that offset on.
func appendFrom(out io.Writer, path string, offset int64) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close() // only read from
	if _, err := in.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return err
}

// remove deletes all files of the text.
func (o *outputFile) remove() error {
	if o.file != nil {
		o.file.Close() // it is deleted anyway
		o.file = nil
	}
	return errors.Join(removeFile(o.path), removeFile(o.path+".tail0"), removeFile(o.path+".tail"))
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// saveOutput writes a whole text aside and renames it into place, so that there is never a half of
// it under its id.
func saveOutput(path, text string, limit int64) (partial bool, err error) {
	aside := outputFile{path: path + ".new", limit: limit}
	aside.write([]byte(text))
	if _, err := aside.finish(); err != nil {
		return false, err
	}
	return aside.partial(), os.Rename(aside.path, path)
}

// Process is a process group that a call started.
type Process struct {
	PGID    int       `json:"pgid"`
	Started time.Time `json:"started"` // tells a living group from a later one with the same number
}

func noteProcess(path string, p Process) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path+".proc", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return err
}

// Processes returns the process groups of a call that was running when its program died, none
// when the call had ended or started no process.
func Processes(dir, id string) ([]Process, error) {
	path, err := outputPath(dir, id)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path + ".proc")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var found []Process
	for line := range bytes.Lines(data) {
		var p Process
		if json.Unmarshal(line, &p) == nil && p.PGID > 1 { // the last line may be cut by the crash
			found = append(found, p)
		}
	}
	return found, nil
}

// SavedOutput reads a saved output, of a call that has ended or one that a crash cut off.
type SavedOutput struct {
	files []*os.File
}

// OpenOutput opens the output of that id in dir. The error is fs.ErrNotExist when there is none.
// The caller closes it.
func OpenOutput(dir, id string) (*SavedOutput, error) {
	path, err := outputPath(dir, id)
	if err != nil {
		return nil, err
	}
	first, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &SavedOutput{files: []*os.File{first}}
	for _, part := range []string{".tail0", ".tail"} {
		f, err := os.Open(path + part)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.files = append(s.files, f)
	}
	return s, nil
}

// Close closes the files.
func (s *SavedOutput) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Lines returns count lines from line first on (1 is the first), and how many lines there are. A
// line beyond 64 KiB is cut with a note. Fewer lines than asked for come at the end of the text or
// once maxBytes are reached; there is always at least one unless first is past the end.
func (s *SavedOutput) Lines(first, count, maxBytes int) (lines []string, total int, err error) {
	var readers []io.Reader
	for _, f := range s.files {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, 0, err
		}
		readers = append(readers, f)
	}
	in := bufio.NewReaderSize(io.MultiReader(readers...), maxLine)
	size, full := 0, false
	for {
		line, whole, err := nextLine(in)
		if errors.Is(err, io.EOF) {
			return lines, total, nil
		} else if err != nil {
			return nil, 0, err
		}
		total++
		if full || total < first || len(lines) >= count {
			continue
		}
		if full = len(lines) > 0 && size+len(line) > maxBytes; full {
			continue
		}
		if !whole {
			line += " [line cut]"
		}
		lines, size = append(lines, line), size+len(line)+1
	}
}

// nextLine reads one line without its end; whole is false when only its beginning is returned.
func nextLine(in *bufio.Reader) (line string, whole bool, err error) {
	part, err := in.ReadSlice('\n')
	if len(part) == 0 && err != nil {
		return "", false, err
	}
	line = string(bytes.TrimSuffix(part, []byte{'\n'}))
	whole = true
	for errors.Is(err, bufio.ErrBufferFull) {
		whole = false
		_, err = in.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false, err
	}
	if !whole {
		line = line[:runeStart([]byte(line), len(line)-1)]
	}
	return strings.ToValidUTF8(line, "\ufffd"), whole, nil // a capped file may be cut inside a character
}
