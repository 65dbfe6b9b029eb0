package cli_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"parley/toolrt/mcp/mcptest"
	"parley/ui/cli"
)

// asProgram makes the test binary run as parley itself.
const asProgram = "PARLEY_TEST_AS_PROGRAM"

// TestMain runs the tests, or parley: where asProgram is set, and where a script runs the binary
// by the name parley.
func TestMain(m *testing.M) {
	mcptest.Main()
	if os.Getenv(asProgram) != "" {
		runParley()
	}
	testscript.Main(m, map[string]func(){"parley": runParley, "mcp-server": mcptest.Main})
}

func runParley() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
