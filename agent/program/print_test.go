package program

import (
	"encoding/json"
	"strings"
	"testing"
)

// format prints a source and holds that it stays the same when printed again.
func format(t *testing.T, src string) string {
	t.Helper()
	text, err := Format(parseText(t, src))
	if err != nil {
		t.Fatalf("Format(%q): %v", src, err)
	}
	again, err := Format(parseText(t, text))
	if err != nil || again != text {
		t.Errorf("printing %q again gives %q, %v", text, again, err)
	}
	return text
}

func TestFormatOrder1_13(t *testing.T) {
	got := format(t, `chat: true
share creds: s1
cred: c1, c2
internal prompt: true
param: b: second
param: a: first
temperature: 0.7
stdin: true
cache: false
json: true
model provider: true
model: m
max tokens: 5
share output filters: sof
output filters: of
share input filters: sif
input filters: if
share context: sc
context: c
share tools: st
tools: t1,t2
agents: ag
type: agent
description: d
  more
name: n
global tools: gt
global model: gm
meta data: z: 1
meta data: a: 2
Do: it
now
---
!metadata:n:requirements.txt
a
b
---
name: other

hi
`)
	want := `Global Model Name: gm
Global Tools: gt
Name: n
Description: d   more
Type: Agent
Agents: ag
Tools: t1, t2
Share Tools: st
Context: c
Share Context: sc
Input Filters: if
Share Input Filters: sif
Output Filters: of
Share Output Filters: sof
Max Tokens: 5
Model: m
Model Provider: true
JSON Response: true
Cache: false
Stdin: true
Temperature: 0.700000
Parameter: a: first
Parameter: b: second
Internal Prompt: true
Credential: c1
Credential: c2
Share Credential: s1
Chat: true
Meta Data: a: 2
Meta Data: z: 1
===
Do: it
now

---
!metadata:n:requirements.txt
a
b
---
Name: other

hi
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestFormatKeepsMeaning(t *testing.T) {
	for src, want := range map[string]string{
		"hi":                                "\nhi\n",
		"#!/usr/bin/env gptscript\nname: a": "#!/usr/bin/env gptscript\nName: a\n",
		"\n#!/usr/bin/env gptscript\nhi":    "\n#!/usr/bin/env gptscript\nhi\n",
		"# licence\nname: a\n# why\nhi\n#b": "# licence\n# why\nName: a\n\nhi\n#b\n",
		"===\n# Title\nhi":                  "===\n# Title\nhi\n",
		"===\n===\nhi":                      "===\n===\nhi\n",
		"===\n!text\nhi":                    "===\n!text\nhi\n",
		"name: a\n===\nnote: x":             "Name: a\n===\nnote: x\n",
		"name: a\n!!hi":                     "Name: a\n===\n!!hi\n",
		"tools: \"a\ntools: b\"\n===\nx":    "Tools: \"a\nTools: b\"\n\nx\n",
		"name: a\nx\r\r\ny":                 "Name: a\n\nx\r\r\ny\n",
		"temperature: 0.1234567\nx":         "Temperature: 0.1234567\n\nx\n",
		"cache: true\nx":                    "Cache: true\n\nx\n",
		"type: ünder\nx":                    "Type: ünder\n\nx\n",
		"meta data: k\nparam: p:\nx":        "Parameter: p:\nMeta Data: k:\n\nx\n",
		"!a\n\n---\n!b\nc\n---\nname: a":    "!a\n\n---\n!b\nc\n---\nName: a\n",
		"name: a\n---\n!metadata:a:k\nv":    "Name: a\n\n---\n!metadata:a:k\nv\n",
	} {
		if got := format(t, src); got != want {
			t.Errorf("%q:\n got %q\nwant %q", src, got, want)
		}
	}
}

func TestFormatOfDocumentJSON(t *testing.T) {
	for src, want := range map[string]string{
		`{"nodes":[{"toolNode":{"tool":{"name":"a","metaData":{"k":"1\n2"},"instructions":"hi"}}},{"textNode":{"text":"!x"}}]}`: "Name: a\n\nhi\n\n---\n!metadata:a:k\n1\n2\n---\n!x\n",
		`{}`: "",
	} {
		var doc Document
		if err := json.Unmarshal([]byte(src), &doc); err != nil {
			t.Fatal(err)
		}
		if got, err := Format(&doc); err != nil || got != want {
			t.Errorf("%s: %q %v", src, got, err)
		}
	}
}

func TestFormatRefuses(t *testing.T) {
	for src, want := range map[string]string{
		`{"nodes":[{"toolNode":{"tool":{"name":"a","instructions":"x\n --- \ny"}}}]}`: `the body of tool "a" holds the line " --- ", which would end the tool`,
		`{"nodes":[{"textNode":{"text":"!x\n---\ny"}}]}`:                              "cannot be written",
		`{"nodes":[{"textNode":{"text":"x"}}]}`:                                       "cannot be written",
		`{"nodes":[{"toolNode":{"tool":{"description":"a"}}}]}`:                       "cannot be written",
		`{"nodes":[{}]}`: "neither tool nor text",
		`{"nodes":[{"toolNode":{"tool":{"name":"a\nb","instructions":"x"}}}]}`:                                                                                `tool "a\nb" cannot be written`,
		`{"nodes":[{"toolNode":{"tool":{"name":"a","tools":["a, b"]}}}]}`:                                                                                     `tool "a" cannot be written`,
		`{"nodes":[{"toolNode":{"tool":{"name":"a","arguments":{"type":"object","properties":{"x":{"type":"integer","description":"d"}}}}}}]}`:                `tool "a" cannot be written`,
		`{"nodes":[{"toolNode":{"tool":{"name":"a","arguments":[]}}}]}`:                                                                                       `the parameters of tool "a"`,
		`{"nodes":[{"toolNode":{"tool":{"name":"a","metaData":{"k:l":"v"},"instructions":"x"}}}]}`:                                                            `tool "a" cannot be written`,
		`{"nodes":[{"toolNode":{"tool":{"name":"a","metaData":{"k":"1\n---\n2"}}}}]}`:                                                                         "cannot be written",
		`{"nodes":[{"toolNode":{"tool":{"name":"a","instructions":" x"}}}]}`:                                                                                  `tool "a" cannot be written`,
		`{"nodes":[{"toolNode":{"tool":{"name":"a","instructions":"x\u0000"}}}]}`:                                                                             "not a text file",
		`{"nodes":[{"toolNode":{"tool":{"name":"a","type":"Agent"}}}]}`:                                                                                       `tool "a" cannot be written`,
		`{"nodes":[{"toolNode":{"tool":{"name":"a","credentials":["x, y"]}}}]}`:                                                                               `tool "a" cannot be written`,
		`{"nodes":[{"toolNode":{"tool":{"name":"a","description":"x\n===","instructions":"y"}}}]}`:                                                            `tool "a" cannot be written`,
		`{"nodes":[{"toolNode":{"tool":{"name":"a","instructions":"#!GPTSCRIPT[]"}}},{"toolNode":{"tool":{"name":"b"}}},{"toolNode":{"tool":{"name":"c"}}}]}`: "cannot be written",
	} {
		var doc Document
		if err := json.Unmarshal([]byte(src), &doc); err != nil {
			t.Fatal(err)
		}
		if got, err := Format(&doc); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %q, %v\nwant %s", src, got, err, want)
		}
	}
}
