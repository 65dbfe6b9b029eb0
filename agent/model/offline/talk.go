package offline

import (
	"fmt"
	"strconv"
	"strings"
)

const whoIAm = "I am parley's offline model: no language model, a set of rules. " +
	"I understand plain requests, call the tools I was given, and report what they say. I cannot think, write or explain."

// greeting says what this is.
func greeting(s speech) string {
	return whoIAm + "\n\n" + examples(s)
}

// help says what can be asked.
func help(s speech) string {
	return whoIAm + "\n\n" + examples(s) +
		"\n\nSeveral at once work too: join them with *and*, *then* or a semicolon. For a real model set " +
		"`OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, or start Ollama, and choose it with `--model`."
}

// unknown answers a request that no rule fits.
func unknown(asked string, s speech) string {
	return fmt.Sprintf("I do not understand this:\n\n%s\n\n%s", quote(cutRunes(asked, headRunes)), greeting(s))
}

// examples lists requests that fit the offered tools.
func examples(s speech) string {
	var b strings.Builder
	b.WriteString("Try:\n")
	for _, r := range s.table {
		for _, example := range r.examples(s.kit) {
			b.WriteString("\n- " + example)
		}
	}
	return b.String()
}

// examples returns the rule's example if it can be done with the tools.
func (r rule) examples(kit toolkit) []string {
	_, can := kit.first(r.tools)
	switch {
	case r.example == "":
		return nil
	case r.onlyAgents:
		var out []string
		for _, agent := range kit.agents() {
			out = append(out, strings.ReplaceAll(r.example, "{agent}", agent.name))
		}
		return out
	case can || r.say != nil:
		return []string{r.example}
	}
	return nil
}

// maxStream bounds how much can be streamed on request.
const maxStream = 20_000

var streamWords = strings.Fields("the quick brown fox jumps over the lazy dog while a slow green turtle watches from the river")

// stream returns so many words or lines, for trying out what happens while a reply comes in.
func stream(number, unit string) string {
	n, err := strconv.Atoi(number)
	if err != nil || n > maxStream {
		n = maxStream
	}
	var b strings.Builder
	isLines := strings.HasPrefix(strings.ToLower(unit), "line")
	for i := range n {
		switch {
		case isLines:
			fmt.Fprintf(&b, "%d. This is line %d of %d.\n", i+1, i+1, n)
		default:
			b.WriteString(streamWords[i%len(streamWords)])
			b.WriteByte(" \n"[btoi(i%200 == 199)])
		}
	}
	return strings.TrimRight(b.String(), " \n")
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// showcase has one of everything that a screen must be able to show.
const showcase = "# Markdown\n\nText with **bold**, *italic*, ~~struck~~, `code` and a [link](https://example.com).\n\n" +
	"> A quote of two lines,\n> with *emphasis*.\n\n## Lists\n\n- one\n- two\n  - two and a half\n- three\n\n" +
	"1. first\n2. second\n\n- [x] done\n- [ ] to do\n\n## Code\n\n```go\npackage main\n\nimport \"fmt\"\n\n" +
	"func main() {\n\tfmt.Println(\"hello, parley\")\n}\n```\n\n```diff\n-old line\n+new line\n```\n\n" +
	"## Table\n\n| name | size | note |\n|:---|---:|:---:|\n| go.mod | 1 KB | small |\n| 日本語.txt | 20 KB | wide letters |\n| 🎉.md | 3 KB | emoji |\n\n" +
	"---\n\nThe end."
