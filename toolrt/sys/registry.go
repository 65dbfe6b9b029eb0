package sys

import (
	"fmt"

	"parley/toolrt"
)

// NewRegistry returns a registry with every built-in tool.
func NewRegistry() *toolrt.Registry {
	r := &toolrt.Registry{}
	for _, name := range Names() {
		tool, _ := New(name) // of a name that Names gave
		if _, err := r.Register(tool); err != nil {
			panic(fmt.Sprintf("built-in tool %s: %v", name, err)) // a test holds that it is not reached
		}
	}
	return r
}
