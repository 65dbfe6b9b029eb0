package offline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// block returns the head of a text as a fenced block on its own, "" for a blank text. The fence is
// longer than any in the text.
func block(text, language string) string {
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	all := strings.Split(text, "\n")
	head := all[:min(len(all), headLines)]
	fence := "```"
	for i, line := range head {
		head[i] = cutRunes(line, headRunes)
		for strings.Contains(line, fence) {
			fence += "`"
		}
	}
	out := fmt.Sprintf("\n\n%s%s\n%s\n%s", fence, language, strings.Join(head, "\n"), fence)
	if more := len(all) - len(head); more > 0 {
		out += fmt.Sprintf("\n\n… and %s.", count(more, "more line"))
	}
	return out
}

// quote returns a text as a block quote.
func quote(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}

// code returns a text as inline code.
func code(text string) string {
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

// cell returns a text that fits a table's cell.
func cell(text string) string {
	return strings.ReplaceAll(oneLine(text), "|", `\|`)
}

// oneLine joins the lines of a text and bounds its length.
func oneLine(text string) string {
	return cutRunes(strings.Join(strings.Fields(text), " "), headRunes)
}

func cutRunes(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}

// size says how long a text is.
func size(text string) string {
	return fmt.Sprintf("%s, %s", count(lines(text), "line"), count(len(text), "byte"))
}

func lines(text string) int {
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}

// count returns a number with its noun: "1 file", "2 files".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
