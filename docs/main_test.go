package docs

import (
	"fmt"
	"os"
	"testing"
)

// The tests of this folder are about the whole tree: what the texts promise, what imports what, which
// numbered rule has its test. They run at its root.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
