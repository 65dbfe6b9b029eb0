package command

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// asDaemon makes the test binary run as a daemon, or as the supervisor of the command that follows.
const asDaemon = "COMMAND_TEST_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(asDaemon) {
	case "supervisor":
		_ = os.Setenv(asDaemon, "daemon") // of the command
		code, err := Supervise(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	case "daemon":
		http.HandleFunc("/ready", func(http.ResponseWriter, *http.Request) {})
		http.HandleFunc("/pid", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getpid()) })
		fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
