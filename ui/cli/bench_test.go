package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestBench measures what a person feels, each figure next to its floor: the same work without what
// parley adds. It is `make bench`; without PARLEY_BENCH nothing is measured. A figure over its
// budget is told, and is no failure: the machine may be busy with something else. Only what cannot
// be measured fails. Absolute figures move from machine to machine, so compare ratios of one run.
func TestBench(t *testing.T) {
	if os.Getenv("PARLEY_BENCH") == "" {
		t.Skip("make bench measures")
	}
	b := newBench(t)
	for _, part := range []struct {
		name    string
		measure func(*testing.T, *bench)
	}{
		{"start", benchStart},
		{"prompt", benchPrompt},
		{"key", benchKey},
		{"resume", benchResume},
		{"stream", benchStream},
		{"paced", benchPaced},
		{"turn", benchTurn},
		{"loop", benchLoop},
		{"scheduler", benchScheduler},
		{"call", benchCall},
		{"journal", benchJournal},
		{"program", benchProgram},
		{"size", benchSize},
	} {
		t.Run(part.name, func(t *testing.T) { part.measure(t, b) })
	}
}

// bench has the programs that are measured and a home for them.
type bench struct {
	home   string // HOME and working folder
	parley string // as released: stripped
	hello  string // testdata/bench/hello: a screen with a text area
	reader string // testdata/bench/reader: a model's client
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{home: filepath.Join(dir, "home")}
	if err := os.Mkdir(b.home, 0o700); err != nil {
		t.Fatal(err)
	}
	for pkg, path := range map[string]*string{".": &b.parley, "./testdata/bench/hello": &b.hello, "./testdata/bench/reader": &b.reader} {
		*path = filepath.Join(dir, "bin", filepath.Base(pkg))
		if pkg == "." {
			*path = filepath.Join(dir, "bin", "parley")
		}
		if runtime.GOOS == "windows" {
			*path += ".exe"
		}
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", *path, pkg)
		build.Dir = filepath.Join("..", "..")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", pkg, err, out)
		}
	}
	fmt.Printf("%-40s %11s  %-24s %s\n", "figure", "parley", "next to", "ratio or budget")
	return b
}

// env is the environment of a measured program.
func (b *bench) env(more ...string) []string {
	env := []string{"HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "PARLEY_KEYRING=off"}
	return append(env, more...)
}

// figure is one measured line. Budget 0 is none.
type figure struct {
	name string
	got  float64
	unit string
	// floor is what got is compared with, and floorName what that is; "" compares with nothing.
	floorName string
	floor     float64
	maxRatio  float64
	max       float64
}

func (f figure) print() {
	var beside, verdict []string
	over := f.max > 0 && f.got > f.max
	if f.floorName != "" {
		beside = append(beside, fmt.Sprintf("%s %s", f.floorName, amount(f.floor, f.unit)))
		ratio := f.got / f.floor
		text := fmt.Sprintf("%.2fx", ratio)
		if f.maxRatio > 0 {
			text += fmt.Sprintf(" (budget %gx)", f.maxRatio)
			over = over || ratio > f.maxRatio
		}
		verdict = append(verdict, text)
	}
	if f.max > 0 {
		verdict = append(verdict, "budget "+amount(f.max, f.unit))
	}
	if over {
		verdict = append(verdict, "over budget")
	}
	fmt.Printf("%-40s %11s  %-24s %s\n", f.name, amount(f.got, f.unit), strings.Join(beside, ""), strings.Join(verdict, ", "))
}

// amount writes a value with as many digits as it is worth.
func amount(v float64, unit string) string {
	digits := 2
	switch {
	case v >= 100, v == float64(int(v)):
		digits = 0
	case v >= 10:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + unit
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// quantile sorts and returns the value below which a share of the values lies.
func quantile(values []time.Duration, share float64) time.Duration {
	slices.Sort(values)
	return values[min(int(float64(len(values))*share), len(values)-1)]
}

func median(values []time.Duration) time.Duration { return quantile(values, 0.5) }

// Budget: 45 MB.
func benchSize(t *testing.T, b *bench) {
	size := func(path string) float64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return float64(info.Size()) / 1e6
	}
	figure{name: "binary, stripped", got: size(b.parley), unit: "MB", floorName: "hello", floor: size(b.hello), max: 45}.print()
}

// Budget: 20 µs a call that does nothing, whatever a goroutine costs.
func benchScheduler(t *testing.T, _ *bench) {
	for name, m := range goBench(t, "BenchmarkScheduler", "parley/toolrt") {
		got := m["ns/call"] / 1000
		figure{name: "scheduler, a call, " + name, got: got, unit: "µs", floorName: "errgroup",
			floor: got / m["x-errgroup"], max: 20}.print()
	}
}

// Budgets: 4 times two bare commits of SQLite in its mode NORMAL, 1.5 times in FULL.
func benchJournal(t *testing.T, _ *bench) {
	budgets := map[string]float64{"normal": 4, "full": 1.5}
	for name, m := range goBench(t, "BenchmarkBeginFinish", "parley/persist") {
		got := m["µs/execution"]
		figure{name: "journal, a call, synchronous=" + name, got: got, unit: "µs", floorName: "two bare commits",
			floor: got / m["ratio"], maxRatio: budgets[name]}.print()
	}
}

// Budget: 1.5 times two bare commits in FULL, a bare validation and a bare parse of the command; a call of
// 1,000 in one reply costs what one of 100 does.
func benchCall(t *testing.T, _ *bench) {
	for _, m := range goBench(t, "BenchmarkCall", "parley/agent") {
		got := m["µs/call"]
		figure{name: "a call: check, judge, order, journal", got: got, unit: "µs", floorName: "bare", floor: got / m["ratio"], maxRatio: 1.5}.print()
		figure{name: "a call in a reply with 1,000", got: got * m["linear"], unit: "µs", floorName: "with 100", floor: got, maxRatio: 1.2}.print()
	}
}

var benchLine = regexp.MustCompile(`(?m)^Benchmark\w+/([a-z]+)\S*\s+\d+\s+(.*)$`)

// goBench runs a benchmark of another package and returns its metrics by the name of the part.
func goBench(t *testing.T, name, pkg string) map[string]map[string]float64 {
	t.Helper()
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", "^"+name+"$", "-benchtime", "0.5s", pkg)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	parts := map[string]map[string]float64{}
	for _, line := range benchLine.FindAllStringSubmatch(string(out), -1) {
		fields := strings.Fields(line[2])
		metrics := map[string]float64{}
		for i := 0; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				t.Fatalf("%s prints %q", name, line[0])
			}
			metrics[fields[i+1]] = v
		}
		parts[line[1]] = metrics
	}
	if len(parts) == 0 {
		t.Fatalf("%s printed no figures:\n%s", name, out)
	}
	return parts
}
