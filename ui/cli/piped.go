package cli

import (
	"fmt"
	goio "io"
	"os"
	"strings"
	"time"
)

// maxPiped bounds what is read from a pipe as part of a message.
const maxPiped = 16 << 20

// sayPipeAfter is after how long a silent pipe is told.
const sayPipeAfter = 2 * time.Second

var errNoPipe = usagef("-p - takes the message from a pipe, and nothing came: command | parley -p -")

// withPiped adds what a pipe on stdin brings to a message of the command line: "git diff | parley -p
// 'say what changed'". The message "-" is the pipe alone. Files and terminals are not read, nor is the
// pipe of a parley that runs in a tool.
func withPiped(io streams, message string, quiet bool) (string, error) {
	if !isPipe(io.in) || newRemote(io.getenv) != nil {
		if strings.TrimSpace(message) == "-" {
			return "", errNoPipe
		}
		return message, nil
	}
	if !quiet {
		timer := time.AfterFunc(sayPipeAfter, func() {
			fmt.Fprintln(io.err, "· waiting for the end of what is piped in (</dev/null: nothing is)")
		})
		defer timer.Stop()
	}
	data, err := goio.ReadAll(goio.LimitReader(io.in, maxPiped+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the pipe: %w", err)
	case len(data) > maxPiped:
		return "", usagef("more than 16 MiB were piped in: put it into a file and let the message name it")
	}
	piped := strings.TrimRight(strings.ToValidUTF8(string(data), "\uFFFD"), "\n")
	switch {
	case strings.TrimSpace(message) == "-" && piped == "":
		return "", errNoPipe
	case strings.TrimSpace(message) == "-":
		return piped, nil
	case piped == "":
		return message, nil
	}
	return message + "\n\n" + piped, nil
}

// isPipe reports whether a stream is the reading end of a pipe.
func isPipe(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
