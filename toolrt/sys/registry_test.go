package sys

import (
	"slices"
	"testing"
)

func TestRegistryHoldsEveryBuiltin(t *testing.T) {
	var names []string
	for _, s := range NewRegistry().Specs() {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("registered %v: want %v", names, Names())
	}
}
