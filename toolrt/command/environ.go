package command

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"slices"
	"strings"
)

// contextVariable holds the outputs of the tool's contexts.
const contextVariable = "GPTSCRIPT_CONTEXT"

// Env is what the environment of one command is made of, in the order of the specification (6.2):
// a later part wins over an earlier one. Zero fields add nothing, except Input, which is always
// exported.
type Env struct {
	// Process is the environment parley was started with, the prompt server's variables before it.
	// Keys of model providers are taken out of it ([StripProviderKeys]).
	Process []string
	// Call holds what lies above the process: workspace, credentials and contexts, or a whole
	// environment that was built already. Nothing is taken out of it.
	Call []string
	// Workspace is the workspace folder; WorkspaceID defaults to "directory://" and the folder.
	Workspace, WorkspaceID string
	// Context is the text of the tool's own contexts; trailing white space is trimmed.
	Context string
	// Input is the raw input text. The keys of a JSON object in it become variables.
	Input string
	// Params is the tool's JSON Schema, which says which names it declares (Q18). May be nil.
	Params json.RawMessage
	Debug  bool
	// Runtime holds the variables of a managed runtime.
	Runtime []string
	// ToolDir is the folder of the tool's file, absolute (Q17).
	ToolDir string
	// FoldCase treats names that differ in case only as one, as Windows does.
	FoldCase bool
}

// Environment returns the variables of a command, each name once, sorted (6.2). Keys of the input
// cannot take over the command (Q18), are exported in both spellings (Q19), and large values are
// compressed one by one and, when all together are too large, the largest first (Q34).
func Environment(e Env) []string {
	b := newBuilder(e.FoldCase)
	b.setAll(StripProviderKeys(e.Process))
	if e.Workspace != "" {
		b.set("GPTSCRIPT_WORKSPACE_DIR", e.Workspace)
		id := e.WorkspaceID
		if id == "" {
			id = "directory://" + e.Workspace
		}
		b.set("GPTSCRIPT_WORKSPACE_ID", id)
	}
	b.setAll(e.Call)
	outer := b.names()
	if text, ok := Lookup(e.Call, contextVariable); ok { // large, and the call's own
		b.setOwn(contextVariable, text, false)
	}
	if text := strings.TrimRight(e.Context, " \t\r\n\v\f"); text != "" {
		b.setOwn(contextVariable, text, false)
	}
	b.setOwn("GPTSCRIPT_INPUT", e.Input, false)
	for _, v := range inputVars(e.Input, declared(e.Params), func(name string) bool { return outer[b.key(name)] }) {
		b.setOwn(v.name, v.value, v.spelling)
	}
	if e.Debug {
		b.set("GPTSCRIPT_DEBUG", "true")
	}
	b.setAll(e.Runtime)
	if e.ToolDir != "" {
		b.set("GPTSCRIPT_TOOL_DIR", e.ToolDir)
	}
	return b.build()
}

// Merge returns environ in the form a program gets it: each name once, the last one counting,
// sorted, and values that are too large compressed.
func Merge(environ []string) []string {
	b := newBuilder(runtime.GOOS == "windows")
	b.setAll(environ)
	return b.build()
}

// InputNames returns the names of the variables that come from the keys of input, so that text a
// model wrote can be told from text the user set.
func InputNames(input string, params json.RawMessage) map[string]bool {
	names := map[string]bool{"GPTSCRIPT_INPUT": true}
	for _, v := range inputVars(input, declared(params), func(string) bool { return false }) {
		names[v.name] = true
	}
	return names
}

// DeriveName returns the variable name of an input key: '.' and '-' become '_', then upper case.
func DeriveName(key string) string {
	return strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// variable is one name and value that came from the input.
type variable struct {
	name, value string
	// spelling marks the second, unchanged spelling of a key (Q19).
	spelling bool
}

// inputVars returns the variables of the keys of input, least important first. taken reports
// names that the environment has already and that the second spelling must not replace.
func inputVars(input string, declared map[string]bool, taken func(string) bool) []variable {
	fields := object(input)
	var derived, exact, spelled []variable
	for _, key := range sortedKeys(fields) {
		name := DeriveName(key)
		if !exportable(key) || reserved(name) || dangerous(name) && !declared[name] {
			continue
		}
		v := variable{name: name, value: ValueText(fields[key])}
		if key == name {
			exact = append(exact, v)
			continue
		}
		derived = append(derived, v)
		if identifier(key) && !taken(key) {
			spelled = append(spelled, variable{key, v.value, true})
		}
	}
	// A key that is written as the variable wins over one that only becomes it ("a" and "A").
	return slices.Concat(spelled, derived, exact)
}

// object returns the fields of text if it is a JSON object and nothing else, else nil.
func object(text string) map[string]any {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var fields map[string]any
	if dec.Decode(&fields) != nil {
		return nil
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil
	}
	return fields
}

// ValueText returns a decoded JSON value as the text of a variable: strings as they are, numbers
// as written when decoded with UseNumber, null as "null", the rest as compact JSON with sorted keys.
func ValueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil { // cannot happen for decoded JSON
		return ""
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// declared returns the derived names of a schema's properties.
func declared(params json.RawMessage) map[string]bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(params, &schema) != nil {
		return nil
	}
	names := make(map[string]bool, len(schema.Properties))
	for key := range schema.Properties {
		names[DeriveName(key)] = true
	}
	return names
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// exportable reports whether the operating system can carry a variable of that name.
func exportable(name string) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00")
}

// identifier reports whether a shell can read a variable of that name.
func identifier(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// builder collects variables by name.
type builder struct {
	fold bool
	vars map[string]entry
}

type entry struct {
	name, value string
	own         bool // the call's own data, which may be compressed to fit
	spelling    bool
}

func newBuilder(fold bool) *builder { return &builder{fold, map[string]entry{}} }

func (b *builder) key(name string) string {
	if b.fold {
		return strings.ToUpper(name)
	}
	return name
}

func (b *builder) set(name, value string) { b.vars[b.key(name)] = entry{name: name, value: value} }

func (b *builder) setOwn(name, value string, spelling bool) {
	b.vars[b.key(name)] = entry{name, value, true, spelling}
}

func (b *builder) setAll(environ []string) {
	for _, kv := range environ {
		name, value, ok := cutVariable(kv)
		if ok {
			b.set(name, value)
		}
	}
}

func (b *builder) names() map[string]bool {
	names := make(map[string]bool, len(b.vars))
	for key := range b.vars {
		names[key] = true
	}
	return names
}

// build returns the variables, compressed where needed and sorted.
func (b *builder) build() []string {
	vars := make([]entry, 0, len(b.vars))
	for _, v := range b.vars {
		if len(v.value) >= overflowSize || strings.ContainsRune(v.value, 0) {
			v.value = Compress(v.value)
		}
		vars = append(vars, v)
	}
	slices.SortFunc(vars, func(x, y entry) int { return strings.Compare(x.name, y.name) })
	vars = fit(vars)
	environ := make([]string, len(vars))
	for i, v := range vars {
		environ[i] = v.name + "=" + v.value
	}
	return environ
}

// cutVariable splits "NAME=value". Windows has names that begin with '=' ("=C:").
func cutVariable(kv string) (name, value string, ok bool) {
	if kv == "" {
		return "", "", false
	}
	i := strings.IndexByte(kv[1:], '=')
	if i < 0 {
		return "", "", false
	}
	return kv[:i+1], kv[i+2:], true
}

// Lookup returns the value of name in environ; the last one counts.
func Lookup(environ []string, name string) (string, bool) {
	for _, kv := range slices.Backward(environ) {
		if key, value, ok := cutVariable(kv); ok && key == name {
			return value, true
		}
	}
	return "", false
}
