package offline

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

const (
	headLines   = 20  // of an output in a report
	headRunes   = 200 // of a line
	tableLength = 20
)

// report tells what the tools gave back, in Markdown.
func report(results []result) string {
	var sections []string
	for i, r := range results {
		section := r.section()
		if len(results) > 1 {
			section = fmt.Sprintf("### %d. %s\n\n%s", i+1, r.title(), section)
		}
		sections = append(sections, section)
	}
	return strings.Join(sections, "\n\n")
}

// reporters word the results of tools that went well, by lower-case name.
var reporters = map[string]func(r result) string{
	"ls": listing, "find": listing, "glob": listing,
	"read": content, "view": content,
	"exec": output, "shell": output, "grep": output,
	"prompt":  answers,
	"timenow": func(r result) string { return "It is **" + oneLine(r.text) + "**." },
	"httpget": content, "httphtml2text": content, "fetch": content,
}

// section is the report of one call.
func (r result) section() string {
	name := r.call.Function.Name
	switch r.state {
	case missing:
		return fmt.Sprintf("`%s` gave no result: it was interrupted.", name)
	case denied:
		said := fmt.Sprintf("`%s` was **denied**, so I did not do it.", r.title())
		if r.note != "" {
			said += " The reason: " + quote(r.note)
		}
		return said
	case aborted:
		return fmt.Sprintf("`%s` was **stopped** before its end.%s", name, block(r.text, ""))
	case failed:
		said := fmt.Sprintf("`%s` **failed**", name)
		if r.note != "" {
			said += " (" + r.note + ")"
		}
		return said + ":" + block(r.text, "")
	case done:
	}
	if word, ok := reporters[strings.ToLower(name)]; ok {
		return word(r)
	}
	if r.argument(promptParameter) != "" {
		return fmt.Sprintf("**%s** says:\n\n%s", name, quote(r.text))
	}
	if strings.TrimSpace(r.text) == "" {
		return fmt.Sprintf("`%s` is done and printed nothing.", name)
	}
	if lines(r.text) == 1 {
		return "Done: " + code(oneLine(r.text)) + "."
	}
	return fmt.Sprintf("`%s` gave %s:%s", name, size(r.text), block(r.text, ""))
}

// title names the call with its most telling argument.
func (r result) title() string {
	for _, names := range [][]string{commandArg, fileArg, dirArg, patternArg, {"url", "name", promptParameter}} {
		if text := r.argument(names...); text != "" {
			return r.call.Function.Name + " " + strings.ReplaceAll(oneLine(text), "`", "'")
		}
	}
	return r.call.Function.Name
}

// argument returns the first of the named arguments that is a text.
func (r result) argument(names ...string) string {
	var arguments map[string]any
	_ = json.Unmarshal([]byte(r.call.Function.Arguments), &arguments) // no object has no arguments
	for _, name := range names {
		if text, ok := arguments[name].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// listing words a list of names, one per line, as a table.
func listing(r result) string {
	text := strings.TrimSpace(r.text)
	if text == "" || text == "Empty directory" || text == "No files found" {
		return "Nothing was found."
	}
	names := strings.Split(text, "\n")
	folders := 0
	var rows strings.Builder
	for i, name := range names {
		kind := "file"
		if strings.HasSuffix(name, "/") {
			kind = "folder"
			folders++
		}
		if i < tableLength {
			fmt.Fprintf(&rows, "| %s | %s |\n", cell(name), kind)
		}
	}
	said := fmt.Sprintf("There are **%s** and **%s**:\n\n| name | kind |\n|---|---|\n%s",
		count(len(names)-folders, "file"), count(folders, "folder"), rows.String())
	if more := len(names) - tableLength; more > 0 {
		said += fmt.Sprintf("\n… and %d more.", more)
	}
	return strings.TrimRight(said, "\n")
}

// content words a text that was read.
func content(r result) string {
	where := r.argument(append(fileArg, "url")...)
	if strings.TrimSpace(r.text) == "" || strings.HasSuffix(strings.TrimSpace(r.text), "has no contents") {
		return code(where) + " is empty."
	}
	return fmt.Sprintf("%s has %s:%s", code(where), size(r.text), block(r.text, strings.TrimPrefix(path.Ext(where), ".")))
}

// output words what a command printed.
func output(r result) string {
	command := r.argument(append(commandArg, patternArg...)...)
	if strings.TrimSpace(r.text) == "" {
		return code(command) + " printed nothing and ended well."
	}
	return fmt.Sprintf("%s printed %s:%s", code(command), size(r.text), block(r.text, "text"))
}

// answers words what a person answered.
func answers(r result) string {
	var fields map[string]string
	if json.Unmarshal([]byte(r.text), &fields) != nil || len(fields) == 0 {
		return "You answered."
	}
	if r.argument("sensitive") == "true" {
		return fmt.Sprintf("You answered with %s. I do not repeat what is secret.", count(len(fields), "hidden value"))
	}
	rows := "| field | answer |\n|---|---|\n"
	for _, name := range sortedKeys(fields) {
		rows += fmt.Sprintf("| %s | %s |\n", cell(name), cell(fields[name]))
	}
	return "You answered:\n\n" + strings.TrimRight(rows, "\n")
}
