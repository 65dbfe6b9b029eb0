package program

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// metadataPrefix begins a text block that gives a tool metadata (1.9).
const metadataPrefix = "!metadata:"

// metadataBlock is the content of such a block.
type metadataBlock struct {
	tool, key, value string
}

func (m metadataBlock) glob() bool { return strings.Contains(m.tool, "*") }

func (m metadataBlock) matches(name string) bool {
	if m.tool == name {
		return true
	}
	ok, err := path.Match(m.tool, name)
	return m.glob() && err == nil && ok
}

// parseMetadata reads a text block, ok is false for texts of other kinds.
func parseMetadata(text string) (m metadataBlock, ok bool) {
	rest, ok := strings.CutPrefix(text, metadataPrefix)
	if !ok {
		return m, false
	}
	line, value, _ := strings.Cut(rest, "\n")
	tool, key, ok := strings.Cut(line, ":")
	return metadataBlock{tool, strings.TrimSpace(key), strings.TrimSpace(value)}, ok
}

// metadataBlocks lists the metadata blocks of a document in the order in which they apply: exact
// names first, then globs.
func metadataBlocks(d *Document) []metadataBlock {
	var exact, globs []metadataBlock
	for _, n := range d.Nodes {
		if n.TextNode == nil {
			continue
		}
		switch m, ok := parseMetadata(n.TextNode.Text); {
		case !ok:
		case m.glob():
			globs = append(globs, m)
		default:
			exact = append(exact, m)
		}
	}
	return append(exact, globs...)
}

// applyMetadata gives the tools what the document's metadata blocks hold for them.
func applyMetadata(d *Document) {
	blocks := metadataBlocks(d)
	if len(blocks) == 0 {
		return
	}
	byName := map[string][]*Tool{}
	for _, t := range d.Tools() {
		byName[t.Name] = append(byName[t.Name], t)
	}
	for _, m := range blocks {
		if !m.glob() {
			setAll(byName[m.tool], m)
			continue
		}
		for name, tools := range byName {
			if m.matches(name) {
				setAll(tools, m)
			}
		}
	}
}

func setAll(tools []*Tool, m metadataBlock) {
	for _, t := range tools {
		if t.MetaData == nil {
			t.MetaData = map[string]string{}
		}
		t.MetaData[m.key] = m.value
	}
}

// flagsKey is the metadata key under which a tool says how it may be ordered and repeated.
const flagsKey = "parley"

// Flags returns what `Meta Data: parley: read-only, parallel, idempotent, timeout=10m` says of the
// tool. Unsaid is false and zero; words that are not known are passed over (parsing warned of
// them). What a program claims guides order and resume, never approval.
func (t *Tool) Flags() (readOnly, parallel, idempotent bool, timeout time.Duration) {
	for _, word := range t.flagWords() {
		switch word {
		case "read-only":
			readOnly = true
		case "parallel":
			parallel = true
		case "idempotent":
			idempotent = true
		default:
			if d, err := parseTimeout(word); err == nil {
				timeout = d
			}
		}
	}
	return readOnly, parallel, idempotent, timeout
}

// OnMenu reports whether the word "command" in the same meta data says that the person may run the
// tool by its name.
func (t *Tool) OnMenu() bool {
	return slices.Contains(t.flagWords(), "command")
}

func (t *Tool) flagWords() []string {
	words := strings.Split(t.MetaData[flagsKey], ",")
	for i, word := range words {
		words[i] = strings.TrimSpace(word)
	}
	return words
}

func parseTimeout(word string) (time.Duration, error) {
	text, ok := strings.CutPrefix(word, "timeout=")
	if !ok {
		return 0, fmt.Errorf("unknown word %q: known are read-only, parallel, idempotent, command and timeout=DURATION", word)
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("bad timeout %q: write it like timeout=90s or timeout=10m", text)
	}
	return d, nil
}

// checkFlags warns of words that Flags does not know.
func (p *parser) checkFlags() {
	for _, t := range p.doc.Tools() {
		for _, word := range t.flagWords() {
			switch word {
			case "", "read-only", "parallel", "idempotent", "command":
			default:
				if _, err := parseTimeout(word); err != nil {
					p.warn(p.doc.mark(t, "metaData."+flagsKey), "%v", err)
				}
			}
		}
	}
}
