package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/agent/model/modeltest"
)

// lastToken ends a streamed reply. It is one character: more could be drawn in two frames.
const lastToken = "▚"

// markdown is a reply of so many tokens of four characters: paragraphs, lists, code and a table.
func markdown(tokens int) string {
	var text strings.Builder
	for n := 1; text.Len() < tokens*4; n++ {
		fmt.Fprintf(&text, "## Part %d\n\n%s\n\n", n, strings.Repeat("Some *words* of a paragraph with `code` in it. ", 6))
		fmt.Fprintf(&text, "- first of %d\n- second, **bold**\n- third\n\n", n)
		fmt.Fprintf(&text, "```go\nfunc part%d(ctx context.Context) error {\n\treturn errors.New(\"part\")\n}\n```\n\n", n)
		fmt.Fprintf(&text, "| name | size |\n|---|---|\n| part | %d |\n\n", n)
	}
	return text.String()[:tokens*4-8] + "\n```\n\n" + lastToken
}

// server starts a model server with a script, and returns the environment in which parley uses it.
func (b *bench) server(t *testing.T, replies ...modeltest.Reply) (url string, env []string) {
	t.Helper()
	s, err := modeltest.Start(modeltest.Script{Models: []string{"test"}, Replies: replies})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.URL(), b.modelEnv(s.URL())
}

func (b *bench) modelEnv(url string) []string {
	return b.env("PARLEY_MODEL=openai/test", "PARLEY_BASE_URL="+url, "OPENAI_API_KEY=test-key-of-the-bench", "GPTSCRIPT_MAX_CONSECUTIVE_TOOL_CALLS=100000")
}

// ran is what a program without a screen took.
type ran struct{ wall, cpu time.Duration }

// run runs a program to its end.
func (b *bench) run(t *testing.T, env []string, program string, args ...string) ran {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = b.home, env
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(program), err, out)
	}
	return ran{time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

// streamed is the processor time that parley's screen needs for one reply, from the Enter key until
// all is drawn and stored, and how much it wrote to the terminal.
func (b *bench) streamed(t *testing.T, env []string) (cpu time.Duration, written int) {
	t.Helper()
	s := b.show(t, env, b.parley)
	defer s.end()
	s.until(0, prompt)
	before, mark := s.quiet(), s.drawn()
	s.keys("go\r")
	s.until(mark, lastToken)
	return s.quiet() - before, s.drawn() - mark
}

// Budgets: 120 ms for 2,000 tokens, 600 ms for 20,000 and at most 12 times those of 2,000.
func benchStream(t *testing.T, b *bench) {
	measure := func(tokens int) (ours, floor time.Duration) {
		url, env := b.server(t, modeltest.Reply{Text: markdown(tokens), Pieces: 4, Repeat: -1})
		var with, without []time.Duration
		for range 5 {
			cpu, _ := b.streamed(t, env)
			with = append(with, cpu)
			without = append(without, b.run(t, b.env(), b.reader, url).cpu)
		}
		return median(with), median(without)
	}
	short, shortFloor := measure(2_000)
	long, longFloor := measure(20_000)
	figure{name: "2,000 tokens, processor time", got: ms(short), unit: "ms", floorName: "reader", floor: ms(shortFloor), max: 120}.print()
	figure{name: "20,000 tokens, processor time", got: ms(long), unit: "ms", floorName: "reader", floor: ms(longFloor), max: 600}.print()
	figure{name: "20,000 tokens next to 2,000", got: ms(long), unit: "ms", floorName: "2,000", floor: ms(short), maxRatio: 12}.print()
}

// Budgets for 2,000 tokens at 200 a second: 900 ms of processor time, 200 KB to the terminal. The
// floor is the reader's time and that of an idle screen, whose frame clock ticks as long.
func benchPaced(t *testing.T, b *bench) {
	text := markdown(2_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for rest := []rune(text); len(rest) > 0; rest = rest[min(4, len(rest)):] {
			piece, _ := json.Marshal(string(rest[:min(4, len(rest))])) // a string
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", piece)
			w.(http.Flusher).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	cpu, written := b.streamed(t, b.modelEnv(server.URL+"/v1"))
	hello := b.show(t, b.env(), b.hello)
	hello.until(0, prompt)
	before := hello.cpu()
	floor := b.run(t, b.env(), b.reader, server.URL+"/v1").cpu
	floor += hello.cpu() - before
	figure{name: "2,000 tokens in 10 s, processor time", got: ms(cpu), unit: "ms", floorName: "reader and hello", floor: ms(floor), max: 900}.print()
	figure{name: "2,000 tokens in 10 s, to the terminal", got: float64(written) / 1000, unit: "KB", max: 200}.print()
}

// Budget: 40 ms.
func benchTurn(t *testing.T, b *bench) {
	url, env := b.server(t, modeltest.Reply{Text: "hello", Repeat: -1})
	var ours, floor []time.Duration
	for range 15 {
		floor = append(floor, b.run(t, b.env(), b.reader, url).wall)
		ours = append(ours, b.run(t, env, b.parley, "-q", "-p", "hi").wall)
	}
	figure{name: "one turn without a screen", got: ms(median(ours)), unit: "ms", floorName: "reader", floor: ms(median(floor)), max: 40}.print()
}

// Budget: 2 ms a call of wall and of processor time, every effect committed. The cost of a call is
// the difference between a turn with many calls, one after the other, and a turn with none.
func benchLoop(t *testing.T, b *bench) {
	const calls = 200
	none, noneEnv := b.server(t, modeltest.Reply{Text: "done", Repeat: -1})
	measure := func(url string, env []string) (ours, floor ran) {
		floor = b.run(t, b.env(), b.reader, url)
		return b.run(t, env, b.parley, "-q", "-p", "go"), floor
	}
	var oursWall, oursCPU, floorWall, floorCPU []time.Duration
	for range 3 {
		url, env := b.server(t,
			modeltest.Reply{Calls: []modeltest.Call{{Name: "ls", Arguments: `{"dir":"."}`}}, Repeat: calls - 1},
			modeltest.Reply{Text: "done"},
			modeltest.Reply{Calls: []modeltest.Call{{Name: "ls", Arguments: `{"dir":"."}`}}, Repeat: calls - 1},
			modeltest.Reply{Text: "done"})
		full, fullFloor := measure(url, env)
		empty, emptyFloor := measure(none, noneEnv)
		oursWall, oursCPU = append(oursWall, (full.wall-empty.wall)/calls), append(oursCPU, (full.cpu-empty.cpu)/calls)
		floorWall, floorCPU = append(floorWall, (fullFloor.wall-emptyFloor.wall)/calls), append(floorCPU, (fullFloor.cpu-emptyFloor.cpu)/calls)
	}
	figure{name: "tool loop, wall a call", got: ms(median(oursWall)), unit: "ms", floorName: "reader", floor: ms(median(floorWall)), max: 2}.print()
	figure{name: "tool loop, processor time a call", got: ms(median(oursCPU)), unit: "ms", floorName: "reader", floor: ms(median(floorCPU)), max: 2}.print()
}
