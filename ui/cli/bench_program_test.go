package cli_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent/program"
)

// manyTools is a program of n tools in which each refers to others: by name, with an alias, and the
// first one to all.
func manyTools(n int) []byte {
	var b strings.Builder
	b.WriteString("Name: main\nChat: true\nTools: ")
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "tool %d", i)
	}
	b.WriteString("\n\nWork.\n")
	for i := range n {
		fmt.Fprintf(&b, "---\nName: tool %d\nDescription: Does the work of number %[1]d\nTools: tool %d, tool %d as other\n"+
			"Context: tool %d with ${a} as a\nParam: a: The first thing\nParam: b: The second thing\n\n#!/bin/sh\n# number %[1]d\necho \"$A $B\" | sort -u\n",
			i, (i+1)%n, (i+7)%n, (i+3)%n)
	}
	return []byte(b.String())
}

// benchProgram measures how a program is parsed and linked, beside splitting the same bytes into lines
// and hashing them, and that ten times the tools take about ten times as long.
func benchProgram(t *testing.T, _ *bench) {
	took := map[int]float64{}
	for _, n := range []int{1_000, 10_000} {
		src := manyTools(n)
		floor := fastest(func() error {
			for line := range strings.Lines(string(src)) {
				sha256.Sum256([]byte(line))
			}
			return nil
		})
		got := fastest(func() error {
			p, _, err := program.LoadSource(t.Context(), "bench.gpt", src, program.Options{Dir: "/"})
			if err == nil && len(p.ToolSet) != n+1 {
				err = fmt.Errorf("linked %d tools of %d", len(p.ToolSet), n+1)
			}
			return err
		})
		if got < 0 {
			t.Fatal("a program of many tools does not load")
		}
		took[n] = got
		figure{name: fmt.Sprintf("parse and link %d tools", n), got: got, unit: "ms", floorName: "lines, hashed", floor: floor}.print()
	}
	figure{name: "10000 tools next to 1000", got: took[10_000], unit: "ms", floorName: "1000", floor: took[1_000], maxRatio: 12}.print()
}

// fastest is the least time of several runs in milliseconds, negative if one failed.
func fastest(run func() error) float64 {
	var times []float64
	for range 5 {
		start := time.Now()
		if run() != nil {
			return -1
		}
		times = append(times, float64(time.Since(start))/float64(time.Millisecond))
	}
	return slices.Min(times)
}
