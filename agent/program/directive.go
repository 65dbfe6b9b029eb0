package program

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// directive says how one kind of header line is read (1.4).
type directive struct {
	multi bool // indented lines that follow belong to the value (1.6)
	set   func(b *block, v *value) error
}

// directives holds every key in its normalised form.
var directives = directiveTable()

func directiveTable() map[string]directive {
	table := map[string]directive{}
	add := func(d directive, keys ...string) {
		for _, k := range keys {
			table[k] = d
		}
	}
	text := func(field string, at func(*Tool) *string) directive {
		return directive{set: func(b *block, v *value) error {
			*at(&b.tool) = v.trimmed()
			b.marks.fields.set(field, v.start())
			return nil
		}}
	}
	list := func(at func(*Tool) *[]string) directive { return listDirective(at, splitList) }

	add(text("name", func(t *Tool) *string { return &t.Name }), "name")
	add(directive{multi: true, set: func(b *block, v *value) error {
		b.tool.Description = v.trimmed()
		return nil
	}}, "description")
	add(directive{set: setType}, "type")
	add(text("modelName", func(t *Tool) *string { return &t.ModelName }), "model", "modelname")
	add(text("globalModelName", func(t *Tool) *string { return &t.GlobalModelName }), "globalmodel", "globalmodelname")

	add(flag(func(t *Tool, on bool) { t.ModelProvider = on }), "modelprovider")
	add(flag(func(t *Tool, on bool) { t.InternalPrompt = &on }), "internalprompt")
	add(flag(func(t *Tool, on bool) { t.Chat = on }), "chat")
	add(flag(func(t *Tool, on bool) { t.Cache = &on }), "cache")
	add(flag(func(t *Tool, on bool) { t.JSONResponse = on }), "json", "jsonmode", "jsonoutput", "jsonformat", "jsonresponse")
	add(flag(func(t *Tool, on bool) { t.Stdin = on }), "stdin")

	add(list(func(t *Tool) *[]string { return &t.Tools }), "tool", "tools")
	add(list(func(t *Tool) *[]string { return &t.Export }), "export", "exports", "exporttool", "exporttools",
		"sharetool", "sharetools", "sharedtool", "sharedtools")
	add(globalTools(), "globaltool", "globaltools")
	add(list(func(t *Tool) *[]string { return &t.Agents }), "agent", "agents")
	// "contexts" is an addition of ours (Q3).
	add(list(func(t *Tool) *[]string { return &t.Context }), "context", "contexts")
	add(list(func(t *Tool) *[]string { return &t.ExportContext }), "exportcontext", "exportcontexts",
		"sharecontext", "sharecontexts", "sharedcontext", "sharedcontexts")
	add(list(func(t *Tool) *[]string { return &t.InputFilters }), "inputfilter", "inputfilters")
	add(list(func(t *Tool) *[]string { return &t.ExportInputFilters }), "shareinputfilter", "shareinputfilters",
		"sharedinputfilter", "sharedinputfilters")
	add(list(func(t *Tool) *[]string { return &t.OutputFilters }), "outputfilter", "outputfilters")
	add(list(func(t *Tool) *[]string { return &t.ExportOutputFilters }), "shareoutputfilter", "shareoutputfilters",
		"sharedoutputfilter", "sharedoutputfilters")
	add(list(func(t *Tool) *[]string { return &t.Credentials }), "credentials", "creds", "credential", "cred")
	add(listDirective(func(t *Tool) *[]string { return &t.ExportCredentials }, splitSharedCredentials),
		"sharecredential", "sharecredentials", "sharecred", "sharecreds",
		"sharedcredential", "sharedcredentials", "sharedcred", "sharedcreds")

	add(directive{multi: true, set: setParam}, "arg", "args", "param", "params", "parameter", "parameters")
	add(directive{set: setMaxTokens}, "maxtoken", "maxtokens")
	add(directive{set: setTemperature}, "temperature")
	add(directive{multi: true, set: setMetadata}, "metadata")
	return table
}

// directive reads the line as a directive and says whether it is one (1.3, rule 5).
func (p *parser) directive(line string) bool {
	key, rest, ok := strings.Cut(line, ":")
	if !ok {
		return false
	}
	at := pos{p.next, utf8.RuneCountInString(key[:len(key)-len(strings.TrimLeft(key, " \t"))]) + 1}
	d, known := directives[normalKey(key)]
	if !known && !isUnknownKey(key) {
		return false
	}
	p.b.directives++
	if p.b.directives == 1 {
		p.b.first = at
	}
	if !known {
		if len(p.doc.Warnings) < maxRemarks {
			p.warn(at, "unknown directive %q is ignored%s", key, suggestion(key))
		}
		return true
	}
	if p.b.blank && p.b.late == nil {
		p.b.late = &lateDirective{at, strings.TrimSpace(key) + ":"}
	}
	segments := []segment{{line: p.next, col: utf8.RuneCountInString(key) + 2, text: rest}}
	for d.multi && p.next < len(p.lines) && startsIndented(p.lines[p.next]) {
		p.next++
		segments = append(segments, segment{line: p.next, col: 1, text: p.lines[p.next-1]})
	}
	v := newValue(segments)
	if err := d.set(p.b, v); err != nil {
		p.fail(v.start(), err)
	}
	return true
}

// normalKey makes a key comparable: lower-case, without spaces.
func normalKey(key string) string {
	return strings.TrimSpace(strings.ToLower(strings.ReplaceAll(key, " ", "")))
}

// isUnknownKey says whether a line with this unknown key is dropped rather than taken as text.
func isUnknownKey(key string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") == ""
}

func startsIndented(line string) bool {
	return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
}

func listDirective(at func(*Tool) *[]string, split func(string) []part) directive {
	return directive{multi: true, set: func(b *block, v *value) error {
		for _, e := range split(v.text) {
			*at(&b.tool) = append(*at(&b.tool), e.text)
			if _, seen := b.marks.refs.of(e.text); !seen {
				b.marks.refs.set(e.text, v.at(e.offset))
			}
		}
		return nil
	}}
}

func globalTools() directive {
	list := listDirective(func(t *Tool) *[]string { return &t.GlobalTools }, splitList)
	return directive{multi: true, set: func(b *block, v *value) error {
		if _, seen := b.marks.fields.of("globalTools"); !seen {
			b.marks.fields.set("globalTools", v.start())
		}
		return list.set(b, v)
	}}
}

func setType(b *block, v *value) error {
	b.tool.Type = Type(strings.ToLower(v.trimmed()))
	return nil
}

func flag(set func(*Tool, bool)) directive {
	return directive{set: func(b *block, v *value) error {
		switch strings.ToLower(strings.ReplaceAll(v.trimmed(), " ", "")) {
		case "true", "t":
			set(&b.tool, true)
		case "false":
			set(&b.tool, false)
		default:
			return fmt.Errorf(`invalid boolean parameter, must be "true" or "false", got [%s]`, v.trimmed())
		}
		return nil
	}}
}

func setMaxTokens(b *block, v *value) (err error) {
	b.tool.MaxTokens, err = strconv.Atoi(v.trimmed())
	return err
}

func setTemperature(b *block, v *value) error {
	f, err := strconv.ParseFloat(v.trimmed(), 32)
	if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
		err = &strconv.NumError{Func: "ParseFloat", Num: v.trimmed(), Err: strconv.ErrSyntax}
	}
	if err != nil {
		return err
	}
	f32 := float32(f)
	b.tool.Temperature = &f32
	return nil
}

func setParam(b *block, v *value) error {
	name, description, ok := strings.Cut(v.trimmed(), ":")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return fmt.Errorf("invalid arg format: %s", v.trimmed())
	}
	if b.params == nil {
		b.params = map[string]string{}
	}
	b.params[name] = strings.TrimSpace(description)
	return nil
}

func setMetadata(b *block, v *value) error {
	key, text, _ := strings.Cut(v.trimmed(), ":")
	key, text = strings.TrimSpace(key), strings.TrimSpace(text)
	if key == "" && text == "" {
		return nil
	}
	if b.tool.MetaData == nil {
		b.tool.MetaData = map[string]string{}
	}
	b.tool.MetaData[key] = text
	b.marks.fields.set("metaData."+key, v.start())
	return nil
}

// suggestion names the known key that is meant by a misspelt one, "" if none is near.
func suggestion(key string) string {
	best, bestDistance := "", 3
	for known := range directives {
		d := distance(key, known, bestDistance)
		if d < bestDistance || d == bestDistance && best != "" && known < best {
			best, bestDistance = known, d
		}
	}
	if best == "" || bestDistance*2 >= len(key) {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// distance counts the letters to change, add or remove from a to b; anything over limit may come
// out as limit+1.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
