package cli_test

import (
	"os"
	"testing"

	"parley/ui/cli"
)

// asProgram makes the test binary run as parley itself.
const asProgram = "PARLEY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
