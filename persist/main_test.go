package persist

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also is the program that crash and lease tests start: the test binary itself, told by
// the environment what to do.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(runRole(role, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}
