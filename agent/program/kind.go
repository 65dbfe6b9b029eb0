package program

import (
	"encoding/json"
	"strings"
)

// Beginnings of bodies that are more than a command (1.8).
const (
	commandPrefix   = "#!"
	echoPrefix      = "#!sys.echo"
	callPrefix      = "#!sys.call"
	daemonPrefix    = "#!sys.daemon"
	openAPIPrefix   = "#!sys.openapi"
	mcpInvokePrefix = "#!sys.mcp.invoke."
	mcpPrefix       = "#!mcp"
	promptPrefix    = "!!"
)

// String returns the kind's name in lower case.
func (k Kind) String() string {
	names := [...]string{
		KindPrompt: "prompt", KindNoop: "noop", KindBuiltin: "builtin", KindCommand: "command", KindEcho: "echo",
		KindCall: "call", KindDaemon: "daemon", KindHTTP: "http", KindOpenAPI: "openapi",
		KindMCPServer: "mcp server", KindMCPTool: "mcp tool",
	}
	if k < KindPrompt || int(k) >= len(names) {
		return "invalid"
	}
	return names[k]
}

// Kind says what the tool's body is (1.8).
func (t *Tool) Kind() Kind {
	body := t.Instructions
	if body == "" {
		return KindNoop
	}
	if !strings.HasPrefix(body, commandPrefix) {
		return KindPrompt
	}
	if t.BuiltinName() != "" {
		return KindBuiltin
	}
	for _, p := range []struct {
		prefix string
		kind   Kind
	}{
		{echoPrefix, KindEcho}, {callPrefix, KindCall}, {daemonPrefix, KindDaemon},
		{openAPIPrefix, KindOpenAPI}, {mcpInvokePrefix, KindMCPTool},
		{"#!http://", KindHTTP}, {"#!https://", KindHTTP},
	} {
		if strings.HasPrefix(body, p.prefix) {
			return p.kind
		}
	}
	if isMCPServer(body) {
		return KindMCPServer
	}
	return KindCommand
}

// isMCPServer tells the definition of an MCP server from a command whose name begins with "mcp".
func isMCPServer(body string) bool {
	rest, ok := strings.CutPrefix(body, mcpPrefix)
	return ok && (rest == "" || strings.ContainsRune(" \t\r\n{", rune(rest[0])))
}

// IsCommand says whether the body begins with "#!": the tool runs code, built-ins among them, and
// no model answers it.
func (t *Tool) IsCommand() bool { return strings.HasPrefix(t.Instructions, commandPrefix) }

// IsPrompt says whether a model answers the tool. A tool without body is none, though as the entry
// it runs as a prompt without instructions (1.8).
func (t *Tool) IsPrompt() bool { return t.Kind() == KindPrompt }

// IsNoop says whether the body is empty.
func (t *Tool) IsNoop() bool { return t.Instructions == "" }

// Prompt returns the body of a prompt tool as the model gets it: without a leading "!!" (1.8). It
// is "" for other tools.
func (t *Tool) Prompt() string {
	if t.IsCommand() {
		return ""
	}
	return strings.TrimPrefix(t.Instructions, promptPrefix)
}

// Interpreter returns the first line of a "#!" body without the "#!" and without white space
// around (6.1). It is "" for other tools.
func (t *Tool) Interpreter() string {
	if !t.IsCommand() {
		return ""
	}
	line, _, _ := strings.Cut(t.Instructions[len(commandPrefix):], "\n")
	return strings.TrimSpace(line)
}

// Script returns what follows the first line of a "#!" body, byte for byte (6.1). It is "" for
// other tools and for bodies of one line.
func (t *Tool) Script() string {
	if !t.IsCommand() {
		return ""
	}
	_, script, _ := strings.Cut(t.Instructions, "\n")
	return script
}

// Echo returns the text that a KindEcho tool gives back: the body without "#!sys.echo" and the
// space or newline after it (6.8, Q20). It is "" for other tools.
func (t *Tool) Echo() string {
	text, ok := strings.CutPrefix(t.Instructions, echoPrefix)
	if !ok || t.BuiltinName() != "" {
		return ""
	}
	if text != "" && (text[0] == ' ' || text[0] == '\n') {
		text = text[1:]
	}
	return text
}

// Daemon takes the first line of a "#!sys.daemon" body apart (6.7): the path that is asked until it
// answers, "/" if none is named, and the command. Both are "" for other tools.
func (t *Tool) Daemon() (path, command string) {
	rest, ok := strings.CutPrefix(t.Interpreter(), strings.TrimPrefix(daemonPrefix, commandPrefix))
	if !ok || t.Kind() != KindDaemon {
		return "", ""
	}
	path, command = "/", strings.TrimSpace(rest)
	if options, after, ok := strings.Cut(command, ")"); ok && strings.HasPrefix(command, "(") {
		command = strings.TrimSpace(after)
		for option := range strings.SplitSeq(options[1:], ",") {
			if value, ok := strings.CutPrefix(strings.TrimSpace(option), "path="); ok {
				path = "/" + strings.TrimPrefix(strings.TrimSpace(value), "/")
			}
		}
	}
	return path, command
}

// BuiltinName returns the name of a built-in tool such as "sys.read", "" for all other tools. Only
// a tool that came from Options.Builtins has its name as id, so that no body in a file passes for
// one.
func (t *Tool) BuiltinName() string {
	// The ids of file tools hold a colon.
	if strings.HasPrefix(t.ID, "sys.") && !strings.Contains(t.ID, ":") && t.Instructions == commandPrefix+t.ID {
		return t.ID
	}
	return ""
}

// Schemas of tools that declare no parameters (4.3).
const (
	promptSchema  = `{"type":"object","properties":{"defaultPromptParameter":{"type":"string","description":"Prompt to send to the tool: an instruction or a question."}}}`
	chatSchema    = `{"type":"object","properties":{"defaultPromptParameter":{"type":"string","description":"Prompt to send to the assistant: an instruction or a question."}}}`
	commandSchema = `{"type":"object","properties":{}}`
)

// Schema returns the JSON Schema of the parameters that the model is shown (4.3). It must not be
// changed.
func (t *Tool) Schema() json.RawMessage {
	switch {
	case len(t.Arguments) > 0 && string(t.Arguments) != "null":
		return t.Arguments
	case t.IsCommand():
		return json.RawMessage(commandSchema)
	case t.Chat:
		return json.RawMessage(chatSchema)
	}
	return json.RawMessage(promptSchema)
}
