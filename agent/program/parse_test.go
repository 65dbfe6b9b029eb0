package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// parseText parses a source and fails the test on faults.
func parseText(t *testing.T, src string) *Document {
	t.Helper()
	doc, err := Parse("f.gpt", []byte(src))
	if err != nil {
		t.Fatalf("Parse(%q): %v", src, err)
	}
	return doc
}

// TestV11_1Parsing holds the table of section 11.
func TestV11_1Parsing(t *testing.T) {
	hello := parseText(t, "!!hello")
	if len(hello.Tools()) != 0 || hello.Nodes[0].TextNode.Text != "!!hello\n" {
		t.Errorf("!!hello in the first block must be a text block, got %+v", hello.Nodes)
	}
	for _, tt := range []struct{ src, name, body string }{
		{"Name: a\n\nnote: x\nmore", "a", "more"},
		{"Name: a\n\nNote: x\nmore", "a", "Note: x\nmore"},
		{"Name: a\n===\nnote: x", "a", "note: x"},
		{"# c\nName: a\n#c2\nhi\n# kept", "a", "hi\n# kept"},
		{"name: x\n!!hello", "x", "!!hello"},
		{"\n#!/usr/bin/env gptscript\nhi", "", "#!/usr/bin/env gptscript\nhi"},
		{"#!/usr/bin/env gptscript\nhi", "", "hi"},
		{"#!/bin/env gptscript -q\nhi", "", "hi"},
		{"#!gptscript --x\nhi", "", "hi"},
		{"#!/usr/local/bin/env gptscript\nhi", "", "#!/usr/local/bin/env gptscript\nhi"},
		{" name: x\nhi", "x", "hi"},
		{"name: x\n", "x", ""},
		{"Name: a\r\n\r\nhi\r\nthere\r\n", "a", "hi\nthere"},
		{"\ufeffName: a\nhi", "a", "hi"},
		{"https://example.com\nhi", "", "hi"},
		{"Step one: do x\nhi", "", "Step one: do x\nhi"},
		{"name: a\n  b\nhi", "a", "b\nhi"},
		{"name: a\nname: b\nhi", "b", "hi"},
		{"name: a\n #comment? no\nhi", "a", "#comment? no\nhi"},
		{"name: a\n\n\n  \n  hi\n\n", "a", "hi"},
		{"name: a\n====\n\n\nhi\n===\nho", "a", "hi\n===\nho"},
	} {
		tools := parseText(t, tt.src).Tools()
		if len(tools) != 1 {
			t.Errorf("%q: got %d tools", tt.src, len(tools))
			continue
		}
		if tools[0].Name != tt.name || tools[0].Instructions != tt.body {
			t.Errorf("%q: got name %q, body %q", tt.src, tools[0].Name, tools[0].Instructions)
		}
	}
	if got := parseText(t, "name: x\n!!hello").Tools()[0].Prompt(); got != "hello" {
		t.Errorf("the prompt of !!hello is sent as %q", got)
	}
	if tools := parseText(t, "description: only").Tools(); len(tools) != 0 {
		t.Errorf("a block of a description alone must give no tool, got %v", tools)
	}
}

func TestBlocksAreCutAtRules(t *testing.T) {
	tools := parseText(t, "name: x\nbody\n - - -\n --- \nname: y\n-----\n\nname: z\nhi\n---").Tools()
	var got []string
	for _, tool := range tools {
		got = append(got, fmt.Sprintf("%s|%s|%d", tool.Name, tool.Instructions, tool.Source.LineNo))
	}
	want := []string{"x|body\n - - -|1", "y||5", "z|hi|7"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDirectives has a line for every directive and each of its spellings.
func TestDirectives(t *testing.T) {
	no, yes := false, true
	temp := float32(0.25)
	list := []string{"a", "b c from d.gpt"}
	for _, tt := range []struct {
		keys  string // separated by commas
		value string
		want  Tool
	}{
		{"name,Name, NAME ,na me", " a b ", Tool{Name: "a b"}},
		{"description,Description", "one\n  two", Tool{Description: "one   two"}},
		{"type,Type", "Context", Tool{Type: TypeContext}},
		{"type", "Whatever", Tool{Type: "whatever"}},
		{"model,modelname,Model Name", "gpt from x", Tool{ModelName: "gpt from x"}},
		{"globalmodel,Global Model Name", "m", Tool{GlobalModelName: "m"}},
		{"modelprovider,Model Provider", "true", Tool{ModelProvider: true}},
		{"modelprovider", "false", Tool{}},
		{"internalprompt,Internal Prompt", "false", Tool{InternalPrompt: &no}},
		{"internalprompt", "T", Tool{InternalPrompt: &yes}},
		{"chat,Chat", "t r u e", Tool{Chat: true}},
		{"cache", "false", Tool{Cache: &no}},
		{"json,jsonmode,JSON Output,jsonformat,json response", "true", Tool{JSONResponse: true}},
		{"stdin", "true", Tool{Stdin: true}},
		{"tool,tools", "a, b c from d.gpt", Tool{Tools: list}},
		{"tools", "\n  a,\n\tb c from d.gpt,\n   \n", Tool{Tools: list}},
		{"export,exports,exporttool,export tools,sharetool,Share Tools,sharedtool,Shared Tools", "a,b c from d.gpt,", Tool{Export: list}},
		{"globaltool,Global Tools", "a, b c from d.gpt", Tool{GlobalTools: list}},
		{"agent,agents", "a, b c from d.gpt", Tool{Agents: list}},
		{"context,contexts", "a, b c from d.gpt", Tool{Context: list}},
		{"exportcontext,exportcontexts,Share Context,sharecontexts,sharedcontext,Shared Contexts", "a, b c from d.gpt", Tool{ExportContext: list}},
		{"inputfilter,Input Filters", "a, b c from d.gpt", Tool{InputFilters: list}},
		{"shareinputfilter,Share  Input Filters,sharedinputfilter,SHARED INPUT FILTERS", "a, b c from d.gpt", Tool{ExportInputFilters: list}},
		{"outputfilter,Output Filters", "a, b c from d.gpt", Tool{OutputFilters: list}},
		{"shareoutputfilter,Share Output Filters,sharedoutputfilter,sharedoutputfilters", "a, b c from d.gpt", Tool{ExportOutputFilters: list}},
		{"credentials,creds,credential,cred,Credential", "a, b c from d.gpt", Tool{Credentials: list}},
		{"sharecredential,Share Credentials,sharecred,sharecreds,sharedcredential,sharedcredentials,sharedcred,sharedcreds", "a, b c from d.gpt", Tool{ExportCredentials: list}},
		{"share credentials", "a with x, y as p", Tool{ExportCredentials: []string{"a with x, y as p"}}},
		{"arg,args,param,params,parameter,Parameters", " city : Where, to: look ", Tool{Arguments: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","description":"Where, to: look"}}}`)}},
		{"maxtoken,Max Tokens", " 12 ", Tool{MaxTokens: 12}},
		{"temperature", "0.25", Tool{Temperature: &temp}},
		{"metadata,Meta Data", " k: v: w ", Tool{MetaData: map[string]string{"k": "v: w"}}},
	} {
		for key := range strings.SplitSeq(tt.keys, ",") {
			doc := parseText(t, key+":"+tt.value+"\nstdin: true\n===\nbody")
			tt.want.Instructions, tt.want.Stdin = "body", true
			tt.want.Source = Source{Location: "f.gpt", LineNo: 1}
			if got := doc.Tools()[0]; !reflect.DeepEqual(*got, tt.want) {
				t.Errorf("%s: %s\n got %s\nwant %s", key, tt.value, marshal(got), marshal(tt.want))
			}
			if len(doc.Warnings) > 0 {
				t.Errorf("%s: warns of %v", key, doc.Warnings)
			}
		}
	}
}

func TestRepeatedDirectives(t *testing.T) {
	tool := parseText(t, "tools: a\ntools: b\nparam: x: one\nparam: y: two\nparam: x: three\nmeta data: k: 1\nmetadata: k: 2\nmetadata: l: 3\n===\n").Tools()[0]
	if want := []string{"a", "b"}; !reflect.DeepEqual(tool.Tools, want) {
		t.Errorf("tools: %v", tool.Tools)
	}
	if want := `{"type":"object","properties":{"x":{"type":"string","description":"three"},"y":{"type":"string","description":"two"}}}`; string(tool.Arguments) != want {
		t.Errorf("arguments: %s", tool.Arguments)
	}
	if want := map[string]string{"k": "2", "l": "3"}; !reflect.DeepEqual(tool.MetaData, want) {
		t.Errorf("metadata: %v", tool.MetaData)
	}
}

func TestContinuationLines(t *testing.T) {
	tools := parseText(t, "Tools:\n  sys.read,\n  helper from ./lib.gpt\nDescription: first\n  second\n\n  body").Tools()
	if want := []string{"sys.read", "helper from ./lib.gpt"}; !reflect.DeepEqual(tools[0].Tools, want) {
		t.Errorf("tools %q", tools[0].Tools)
	}
	if tools[0].Description != "first   second" || tools[0].Instructions != "body" {
		t.Errorf("description %q, body %q", tools[0].Description, tools[0].Instructions)
	}
	// Inside a value # is no comment, and white space alone does not end it.
	tool := parseText(t, "name: a\ndescription: one\n # two\n   \n three\nx").Tools()[0]
	if tool.Description != "one  # two      three" {
		t.Errorf("description %q", tool.Description)
	}
}

func TestQ5QuotesProtectCommas(t *testing.T) {
	for text, want := range map[string][]string{
		`a with "x, y" as p, b`:      {`a with "x, y" as p`, "b"},
		`a with 'x, y' as p, b`:      {`a with 'x, y' as p`, "b"},
		`a with "x \", y" as p, b`:   {`a with "x \", y" as p`, "b"},
		`don't, won't`:               {"don't", "won't"},
		`'tis, b`:                    {"'tis", "b"},
		`a "b, c`:                    {`a "b`, "c"},
		`"a"b", c`:                   {`"a"b"`, "c"},
		`a"b, c"`:                    {`a"b`, `c"`},
		`, a,, b ,`:                  {"a", "b"},
		`"it's, fine" from x, 'a,b'`: {`"it's, fine" from x`, `'a,b'`},
	} {
		var got []string
		for _, p := range splitList(text) {
			got = append(got, p.text)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestDroppedAndKeptBlocks(t *testing.T) {
	for _, line := range []string{
		"description: d", "context: c", "args: a: b", "credentials: c", "share context: c", "model: m", "input filters: f", "stdin: true", "chat: false", "tools: ,",
	} {
		doc := parseText(t, line)
		if len(doc.Nodes) != 0 {
			t.Errorf("%s must be dropped", line)
		}
		if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0].String(), "f.gpt:1:1: this block is dropped") {
			t.Errorf("%s: Q7 wants one warning, got %v", line, doc.Warnings)
		}
	}
	for _, line := range []string{
		"name: n", "tools: t", "share tools: t", "global model: m", "global tools: t", "share input filters: f",
		"share output filters: f", "agents: a", "share credentials: c", "chat: true", "body",
	} {
		if doc := parseText(t, line); len(doc.Tools()) != 1 || len(doc.Warnings) != 0 {
			t.Errorf("%s must be kept, got %v %v", line, doc.Nodes, doc.Warnings)
		}
	}
	if doc := parseText(t, "\n\n---\n# c\n---\n"); len(doc.Nodes) != 0 || len(doc.Warnings) != 0 {
		t.Errorf("empty blocks must vanish, got %v %v", doc.Nodes, doc.Warnings)
	}
}

func TestTextBlocks(t *testing.T) {
	for line, text := range map[string]bool{
		"!metadata:a b:c": true, "!x": true, "!x \t \t": true, "!\t": false, "! ": true, "!metadata:*:k": true,
		"!": false, "!x/y": false, "!é": false, "!x?": false, "!x\ty": false,
	} {
		if got := parseText(t, line).Nodes[0].TextNode != nil; got != text {
			t.Errorf("%q: text block %v, want %v", line, got, text)
		}
	}
	doc := parseText(t, "!a\n----\n ---\n---\nname: b\n!c")
	if got := doc.Nodes[0].TextNode.Text; got != "!a\n----\n ---\n" {
		t.Errorf("only three bare dashes end a text block, got %q", got)
	}
	if tool := doc.Tools()[0]; tool.Name != "b" || tool.Instructions != "!c" {
		t.Errorf("got %+v", tool)
	}
}

func TestMetadataBlocks(t *testing.T) {
	doc := parseText(t, `!metadata:my tool:early
1
---
Name: my tool
Metadata: requirements.txt: directive
body
---
Name: My Tool 2
body
---
!metadata:my tool:requirements.txt

requests
 numpy

---
!metadata:*:early
glob
---
!metadata:nobody:x
y
`)
	tools := doc.Tools()
	if want := map[string]string{"early": "glob", "requirements.txt": "requests\n numpy"}; !reflect.DeepEqual(tools[0].MetaData, want) {
		t.Errorf("got %q", tools[0].MetaData)
	}
	if want := map[string]string{"early": "glob"}; !reflect.DeepEqual(tools[1].MetaData, want) {
		t.Errorf("got %q", tools[1].MetaData)
	}
}

// TestParseErrorsHavePlaces checks the faults of 1.12 that one block can have, and that all come
// at once.
func TestParseErrorsHavePlaces(t *testing.T) {
	src := "name: a\nchat: yes\ncache:   maybe\n---\nname: é\nmax tokens: many\nTemperature: hot\ntemperature: NaN\nparam: none\nparam:\n  é: d\n  x\nparam: : x\n"
	_, err := Parse("dir/f.gpt", []byte(src))
	want := []string{
		`dir/f.gpt:2:7: invalid boolean parameter, must be "true" or "false", got [yes]`,
		`dir/f.gpt:3:10: invalid boolean parameter, must be "true" or "false", got [maybe]`,
		`dir/f.gpt:6:13: strconv.Atoi: parsing "many": invalid syntax`,
		`dir/f.gpt:7:14: strconv.ParseFloat: parsing "hot": invalid syntax`,
		`dir/f.gpt:8:14: strconv.ParseFloat: parsing "NaN": invalid syntax`,
		`dir/f.gpt:9:8: invalid arg format: none`,
		`dir/f.gpt:13:8: invalid arg format: : x`,
	}
	var all *ParseErrors
	if !errors.As(err, &all) {
		t.Fatalf("got %v", err)
	}
	var got []string
	for _, e := range all.Unwrap() {
		var one *ParseError
		if !errors.As(e, &one) {
			t.Errorf("%v is no ParseError", e)
		}
		got = append(got, e.Error())
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	if err.Error() != strings.Join(want, "\n") {
		t.Errorf("the message has a line each, got %s", err)
	}
}

func TestNotText(t *testing.T) {
	for src, want := range map[string]string{
		"name: a\nx\x00y":   "f.gpt:2:2: not a text file: found the byte 0x00",
		"name: é\xff":       "f.gpt:1:8: not a text file: found the byte 0xff",
		"\xff\xfea\x00b":    "f.gpt:1:1: the file is UTF-16: save it as UTF-8",
		"#!GPTSCRIPT{}":     "f.gpt:1:1: the text after #!GPTSCRIPT must be a JSON array of tools: json: cannot unmarshal object into Go value of type []*program.Tool",
		"a\nb #!GPTSCRIPT[": "f.gpt:2:1: the text after #!GPTSCRIPT must be a JSON array of tools: unexpected end of JSON input",
	} {
		if _, err := Parse("f.gpt", []byte(src)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}

func TestSerialisedTools(t *testing.T) {
	tools := parseText(t, "anything\n#!GPTSCRIPT[{\"name\":\"a\",\"instructions\":\"hi\",\"id\":\"evil\",\"toolMapping\":{\"x\":[{\"toolID\":\"y\"}]}},null,{\"name\":\"b\"}]").Tools()
	if len(tools) != 2 || tools[0].Name != "a" || tools[0].Instructions != "hi" || tools[1].Name != "b" {
		t.Fatalf("got %s", marshal(tools))
	}
	if tools[0].ID != "" || tools[0].ToolMapping != nil {
		t.Errorf("links of elsewhere must not be taken over: %s", marshal(tools[0]))
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"Q1 rule in a body", "name: a\n# Title\ntext\n\n---\nmore text\n", []string{"f.gpt:5:1: this line ends the tool"}},
		{"Q1 not after a header", "name: a\n---\nmore text\n", nil},
		{"Q2 directive in the text", "name: a\n\ntools: hammer\nare needed\n", []string{`f.gpt:3:1: "tools:" is read as a directive`}},
		{"Q2 a group of directives", "name: a\n\ntools: sys.read\n\nbody\n", nil},
		{"Q2 header end", "name: a\n\ntools: sys.read\n===\nbody\n", nil},
		{"Q3 misspelt", "name: a\nmodl: x\nbody", []string{`f.gpt:2:1: unknown directive "modl" is ignored (did you mean "model"?)`}},
		{"Q3 word", "name: a\n\nnote: x\nmore", []string{`f.gpt:3:1: unknown directive "note" is ignored`}},
		{"Q3 url", "https://x\n", []string{`f.gpt:1:1: unknown directive "https" is ignored`, "f.gpt:1:1: this block is dropped"}},
		{"Q3 contexts are known", "name: a\ncontexts: c\nbody", nil},
		{"Q7 dropped", "name: a\n---\n\ndescription: d\n", []string{"f.gpt:4:1: this block is dropped"}},
		{"flags", "name: a\nMeta Data: parley: read-only, quick, timeout=x, timeout=-1s\nbody", []string{
			`f.gpt:2:12: unknown word "quick"`, `f.gpt:2:12: bad timeout "x"`, `f.gpt:2:12: bad timeout "-1s"`,
		}},
		{"good flags", "name: a\nMeta Data: parley: read-only, parallel,idempotent, timeout=10m\nbody", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := parseText(t, tt.src)
			for i, w := range doc.Warnings {
				if i >= len(tt.want) || !strings.HasPrefix(w.String(), tt.want[i]) {
					t.Errorf("got %s", w)
				}
			}
			if len(doc.Warnings) != len(tt.want) {
				t.Errorf("got %d warnings %v, want %q", len(doc.Warnings), doc.Warnings, tt.want)
			}
		})
	}
}

func TestDocumentJSON(t *testing.T) {
	doc := parseText(t, "name: a\nhi\n---\n!text\nx\n")
	got, err := json.Marshal(doc)
	want := `{"nodes":[{"toolNode":{"tool":{"name":"a","internalPrompt":null,"instructions":"hi","source":{"location":"f.gpt","lineNo":1}}}},{"textNode":{"text":"!text\nx\n"}}]}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestHostileSizes parses what would take for ever if anything in the parser took quadratic time.
func TestHostileSizes(t *testing.T) {
	n := 100_000
	for name, src := range map[string]string{
		"one long list":       "tools: " + strings.Repeat("ab,", n) + "\n===\nx",
		"long continuation":   "tools: a\n" + strings.Repeat(" b,\n", n) + "===\nx",
		"open quotes":         "tools: " + strings.Repeat(`"a 'b, `, n) + "\n===\nx",
		"unknown directives":  strings.Repeat("zz: y\n", n) + "x",
		"tiny blocks":         strings.Repeat("name: x\n---\n", n),
		"ten megabytes":       "name: a\n" + strings.Repeat("a line of text in a body\n", n),
		"blank lines":         strings.Repeat("\n", n) + "x",
		"text blocks":         strings.Repeat("!metadata:x:y\nz\n---\n", n),
		"comments":            strings.Repeat("# c\n", n) + "x",
		"one line of commas":  "tools: " + strings.Repeat(",", n) + "x",
		"metadata directives": strings.Repeat("metadata: k: v\n", n) + "x",
	} {
		doc, err := Parse("f.gpt", []byte(src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(doc.Warnings) > maxRemarks {
			t.Errorf("%s: %d warnings are not bounded", name, len(doc.Warnings))
		}
	}
	_, err := Parse("f.gpt", []byte(strings.Repeat("chat: x\n", n)))
	var all *ParseErrors
	if !errors.As(err, &all) || len(all.Errors) != maxRemarks {
		t.Errorf("faults must be bounded")
	}
}
