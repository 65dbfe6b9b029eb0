package sys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"parley/toolrt"
)

// The bounds of a search.
const (
	searchFile  = 16 << 20 // a larger file is left out
	searchBytes = 48 << 10 // of the whole result
	searchLine  = 400      // bytes of one line in it
	binaryStart = 8 << 10  // in which a NUL byte makes a file binary
)

// grep is sys.grep: lines that match a regular expression, of the files below a folder or of one.
func grep(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	s, problem := newSearch(a)
	if problem != "" {
		return failed("%s", problem), nil
	}
	name := a.or("path", ".")
	where := ResolvePath(inv.Call.Dir, name)
	info, err := os.Stat(where)
	switch {
	case err != nil:
		return failed("Failed to search %s: %v", name, asGiven(err, name)), nil
	case info.IsDir():
		err = s.folder(ctx, inv.Call, where, name)
	case !info.Mode().IsRegular():
		return failed("Failed to search %s: %v", name, errNotRegular), nil
	case inv.Call.Denied != nil && inv.Call.Denied(where):
		return failed("The file %s is kept from you by a rule", name), nil
	default:
		err = s.file(func() (fs.File, error) { return os.Open(where) }, name, nil)
	}
	switch {
	case ctx.Err() != nil:
		return toolrt.Output{}, ctx.Err()
	case err != nil && !errors.Is(err, errEnough):
		return failed("Failed to search %s: %v", name, asGiven(err, name)), nil
	}
	return toolrt.Output{Text: s.result()}, nil
}

// search is one search through files.
type search struct {
	re      *regexp.Regexp
	whole   bool // a file without a match in its whole text has none in a line
	glob    string
	context int
	limit   int

	out     strings.Builder
	matches int
	files   int
	large   int
	buffer  []byte // holds one file after the other
	notes   string
	more    bool // it was ended before the last match
}

// newSearch compiles the search that the arguments ask for, or says what is wrong with them.
func newSearch(a args) (s *search, problem string) {
	s = &search{context: a.number("context", 0), limit: a.number("limit", 200)}
	flags := "(?m)"
	if a.flag("ignoreCase") {
		flags = "(?mi)"
	}
	var err error
	if s.re, err = regexp.Compile(flags + a["pattern"]); err != nil {
		// The error names the flags too, which are ours.
		return nil, "The pattern is not a valid regular expression: " + strings.Replace(err.Error(), flags, "", 1)
	}
	s.whole = !strings.Contains(a["pattern"], `\A`) && !strings.Contains(a["pattern"], `\z`) && !strings.Contains(a["pattern"], "(?")
	if glob := a["glob"]; glob != "" {
		g, problem := parseGlob(glob)
		if problem != "" {
			return nil, problem
		}
		s.glob = g.rest
		if g.fixed != "." {
			s.glob = g.fixed + "/" + g.rest
		}
	}
	return s, ""
}

// folder searches the files below a folder.
func (s *search) folder(ctx context.Context, call *toolrt.Call, dir, name string) error {
	t, err := openTree(call, dir, name)
	if err != nil {
		return err
	}
	defer t.close()
	defer func() { s.notes += t.unreadNote() }()
	return t.walk(ctx, func(rel string, entry fs.DirEntry) error {
		if entry.IsDir() || s.glob != "" && !doublestar.MatchUnvalidated(s.glob, rel) {
			return nil
		}
		err := s.file(func() (fs.File, error) { return t.root.Open(filepath.FromSlash(rel)) }, t.name(rel), func() bool { return t.keeps(rel) })
		if err != nil && !errors.Is(err, errEnough) {
			return nil // it is gone, or not ours to read
		}
		return err
	})
}

// file searches one file. keeps, if not nil, says that what was found must not be told.
func (s *search) file(open func() (fs.File, error), name string, keeps func() bool) error {
	content, err := s.read(open)
	if err != nil || content == nil || s.whole && !s.re.Match(content) || keeps != nil && keeps() {
		return err
	}
	return s.lines(name, content)
}

// lines writes the lines of a file that match, with those around them.
func (s *search) lines(name string, content []byte) error {
	lines := bytes.Split(content, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1] // a final line feed ends the last line
	}
	last, after := -1, 0 // the last line that was written, and how many of the next ones are to be
	for n, line := range lines {
		at := s.re.FindIndex(line)
		switch {
		case at == nil && after > 0:
			s.write(name, '-', n, line, 0)
			last, after = n, after-1
		case at == nil:
		case s.matches == s.limit || s.out.Len() > searchBytes:
			s.more = true
			return errEnough
		default:
			from := max(n-s.context, last+1)
			if s.context > 0 && s.out.Len() > 0 && (last < 0 || from > last+1) {
				s.out.WriteString("--\n")
			}
			for i := from; i < n; i++ {
				s.write(name, '-', i, lines[i], 0)
			}
			s.write(name, ':', n, line, at[0])
			if s.matches++; last < 0 {
				s.files++
			}
			last, after = n, s.context
		}
	}
	return nil
}

// write adds a line: marked with ':' if it matches at that place, with '-' if it stands near one.
func (s *search) write(name string, mark rune, n int, line []byte, at int) {
	fmt.Fprintf(&s.out, "%s%c%d%c%s\n", name, mark, n+1, mark, around(line, at))
}

// around returns a line, or the part of a long one that lies around the place at.
func around(line []byte, at int) string {
	if len(line) <= searchLine {
		return string(line)
	}
	from := max(at-searchLine/4, 0)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	until := min(from+searchLine, len(line))
	for until < len(line) && until > from && !utf8.RuneStart(line[until]) {
		until--
	}
	part := string(line[from:until])
	if from > 0 {
		part = "…" + part
	}
	if until < len(line) {
		part += "…"
	}
	return part
}

// result is what the search came to.
func (s *search) result() string {
	notes := s.notes
	if s.large > 0 {
		notes += fmt.Sprintf("[%s larger than %d MiB left out]\n", plural(s.large, "file"), searchFile>>20)
	}
	switch {
	case s.matches == 0:
		return "No matches found\n" + notes
	case s.more:
		return s.out.String() + notes + fmt.Sprintf("[the first %s; there are more: narrow the search or raise the limit]\n", plural(s.matches, "matching line"))
	}
	return s.out.String() + notes + fmt.Sprintf("[%s in %s]\n", plural(s.matches, "matching line"), plural(s.files, "file"))
}

// read returns the text of a file with LF as line ends, nil for one that is binary or too large.
func (s *search) read(open func() (fs.File, error)) ([]byte, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	case info.Size() > searchFile:
		s.large++
		return nil, nil
	}
	s.buffer = slices.Grow(s.buffer[:0], int(info.Size()))[:info.Size()]
	content, err := fill(s.buffer, f)
	if err != nil || bytes.IndexByte(content, '\r') < 0 {
		return content, err
	}
	return bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), nil
}

// fill reads as much of a text as fits into buf. Of a binary file it reads the beginning only and
// returns nil.
func fill(buf []byte, r io.Reader) ([]byte, error) {
	start := min(len(buf), binaryStart)
	n, err := io.ReadFull(r, buf[:start])
	if bytes.IndexByte(buf[:n], 0) >= 0 {
		return nil, nil
	}
	if err == nil {
		var more int
		more, err = io.ReadFull(r, buf[start:])
		n += more
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF { // it has become shorter
		err = nil
	}
	return buf[:n], err
}
