// Parley is a terminal chat with agents that use tools. See README.md.
package main

import (
	"os"

	"parley/ui/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
