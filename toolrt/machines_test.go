package toolrt

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// transcript is one case of a file of transcripts: its first line, then inputs and effects.
type transcript struct {
	name  string
	setup string
	lines [][2]string
}

func transcripts(t *testing.T, path string) []transcript {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []transcript
	for in := bufio.NewScanner(f); in.Scan(); {
		line := strings.TrimSpace(in.Text())
		name, isCase := strings.CutPrefix(line, "case ")
		input, effect, isStep := strings.Cut(line, " => ")
		switch {
		case line == "" || line[0] == '#':
		case isCase:
			cases = append(cases, transcript{name: name})
		case isStep:
			last := &cases[len(cases)-1]
			last.lines = append(last.lines, [2]string{input, effect})
		default:
			cases[len(cases)-1].setup = line
		}
	}
	if len(cases) == 0 {
		t.Fatal("no transcripts")
	}
	return cases
}

func TestBatchTranscripts(t *testing.T) {
	for _, c := range transcripts(t, "testdata/batch.txt") {
		t.Run(c.name, func(t *testing.T) {
			b := batchOf(strings.Fields(c.setup)[1:])
			for _, line := range c.lines {
				if got := b.feed(line[0]); got != line[1] {
					t.Fatalf("%s => %s, want %s", line[0], got, line[1])
				}
			}
		})
	}
}

// scriptedBatch is a batch that takes and gives words.
type scriptedBatch struct{ *batch }

func batchOf(words []string) scriptedBatch {
	var kinds []slotKind
	var rules batchRules
	for _, w := range words {
		switch w {
		case "p":
			kinds = append(kinds, slotParallel)
		case "x":
			kinds = append(kinds, slotExclusive)
		case "v":
			kinds = append(kinds, slotVoid)
		case "sequential":
			rules.sequential = true
		case "concurrent-first":
			rules.concurrentFirst = true
		case "stop-on-failure":
			rules.stopOnFailure = true
		case "cancel-on-stop":
			rules.cancelOnStop = true
		}
	}
	return scriptedBatch{newBatch(kinds, rules)}
}

func (b scriptedBatch) feed(words string) string {
	word, number, _ := strings.Cut(words, " ")
	in := input{failed: word == "failed"}
	in.call, _ = strconv.Atoi(number)
	switch word {
	case "begin":
		return b.words(b.begin())
	case "prepared":
		in.kind = inPrepared
	case "refused":
		in.kind = inRefused
	case "finished", "failed":
		in.kind = inFinished
	case "stop":
		in.kind = inStop
	case "cancel":
		in.kind = inCancel
	}
	s, err := b.next(in)
	if errors.Is(err, errUnexpected) {
		return "unexpected"
	}
	return b.words(s)
}

func (b scriptedBatch) words(s step) string {
	var out []string
	list := func(word string, calls []int) {
		if len(calls) > 0 {
			out = append(out, word+" "+strings.Trim(fmt.Sprint(calls), "[]"))
		}
	}
	list("settle", s.settle)
	list("start", s.start)
	list("skip", s.skip)
	list("abandon", s.abandon)
	if s.cancel {
		out = append(out, "cancel")
	}
	switch {
	case len(out) == 0 && b.done():
		return "done"
	case len(out) == 0:
		return "nothing"
	}
	return strings.Join(out, " ")
}

// TestBatchInvariants drives random batches in random order and checks what must always hold: no
// call starts twice or beside a barrier, and every batch ends with each call accounted for once.
func TestBatchInvariants(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		kinds := make([]slotKind, 1+rng.IntN(8))
		for i := range kinds {
			kinds[i] = slotKind(rng.IntN(3))
		}
		driveBatch(t, rng, newBatch(kinds, batchRules{
			sequential: rng.IntN(4) == 0, concurrentFirst: rng.IntN(3) == 0, stopOnFailure: rng.IntN(2) == 0,
		}))
		if t.Failed() {
			t.Fatalf("seed %d, kinds %v", seed, kinds)
		}
	}
}

func driveBatch(t *testing.T, rng *rand.Rand, b *batch) {
	t.Helper()
	ends := make([]int, len(b.kinds)) // how often each call was accounted for
	var running, waiting []int
	for i, k := range b.kinds {
		if k != slotVoid {
			waiting = append(waiting, i)
		}
	}
	apply := func(s step) {
		for _, i := range s.start {
			running = append(running, i)
		}
		for _, list := range [][]int{s.settle, s.skip, s.abandon} {
			for _, i := range list {
				ends[i]++
			}
		}
		for _, i := range running {
			if len(running) > 1 && (b.kinds[i] == slotExclusive || b.rules.sequential) {
				t.Errorf("calls %v run beside %d", running, i)
			}
		}
	}
	feed := func(in input) {
		s, err := b.next(in)
		if err != nil {
			t.Error(err)
		}
		apply(s)
	}
	pick := func(list *[]int) int {
		at := rng.IntN(len(*list))
		i := (*list)[at]
		*list = slices.Delete(*list, at, at+1)
		return i
	}
	apply(b.begin())
	for len(waiting)+len(running) > 0 {
		switch {
		case rng.IntN(20) == 0:
			feed(input{kind: inCancel})
		case len(waiting) > 0 && (len(running) == 0 || rng.IntN(2) == 0):
			i := pick(&waiting)
			if rng.IntN(5) == 0 {
				if b.states[i] == slotWaiting {
					ends[i]++
				}
				feed(input{kind: inRefused, call: i})
			} else {
				feed(input{kind: inPrepared, call: i})
			}
		default:
			i := pick(&running)
			ends[i]++
			feed(input{kind: inFinished, call: i, failed: rng.IntN(4) == 0})
		}
	}
	if !b.done() {
		t.Errorf("not done: %v", b.states)
	}
	for i, n := range ends {
		if n != 1 {
			t.Errorf("call %d ended %d times", i, n)
		}
	}
}

func TestGateTranscripts(t *testing.T) {
	for _, c := range transcripts(t, "testdata/gate.txt") {
		t.Run(c.name, func(t *testing.T) {
			limit, _ := strconv.Atoi(strings.Fields(c.setup)[1])
			s := turnstile{limit: limit}
			tickets := map[string]*ticket{}
			for _, line := range c.lines {
				name := line[0][1:]
				var admitted []*ticket
				if line[0][0] == '+' {
					tickets[name] = &ticket{exclusive: name == strings.ToUpper(name)}
					admitted = s.join(tickets[name])
				} else {
					admitted = s.leave(tickets[name])
				}
				var got []string
				for _, a := range admitted {
					for n, ticket := range tickets {
						if ticket == a {
							got = append(got, n)
						}
					}
				}
				if want := strings.Replace(line[1], "nobody", "", 1); strings.Join(got, " ") != want {
					t.Fatalf("%s => %v, want %s", line[0], got, line[1])
				}
			}
		})
	}
}
