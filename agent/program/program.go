// Package program turns .gpt text into a linked program: it parses blocks into tools, loads the
// files they refer to, links every reference, applies sharing, and prints canonical source. It
// runs nothing and knows no model. Start with [Load]; [Parse] reads one source without linking.
package program

import (
	"encoding/json"
)

// Type is the value of a Type: directive, lower-case. Unknown values are kept.
type Type string

// The known types of tools.
const (
	TypeNone       Type = ""
	TypeTool       Type = "tool"
	TypeAgent      Type = "agent"
	TypeContext    Type = "context"
	TypeInput      Type = "input"
	TypeOutput     Type = "output"
	TypeCredential Type = "credential"
	TypeAssistant  Type = "assistant"
	TypeProvider   Type = "provider"
)

// Tool is one tool block with its links. Tools are not changed after linking.
type Tool struct {
	Name            string          `json:"name,omitempty"`
	Description     string          `json:"description,omitempty"`
	Type            Type            `json:"type,omitempty"`
	ModelName       string          `json:"modelName,omitempty"`
	ModelProvider   bool            `json:"modelProvider,omitempty"`
	JSONResponse    bool            `json:"jsonResponse,omitempty"`
	MaxTokens       int             `json:"maxTokens,omitempty"`
	Temperature     *float32        `json:"temperature,omitempty"`
	Cache           *bool           `json:"cache,omitempty"`
	InternalPrompt  *bool           `json:"internalPrompt"` // null when unset
	Chat            bool            `json:"chat,omitempty"`
	Stdin           bool            `json:"stdin,omitempty"`
	Arguments       json.RawMessage `json:"arguments,omitempty"` // JSON Schema; nil: no parameters
	GlobalModelName string          `json:"globalModelName,omitempty"`
	GlobalTools     []string        `json:"globalTools,omitempty"`

	Tools               []string          `json:"tools,omitempty"`
	Export              []string          `json:"export,omitempty"` // Share Tools
	Agents              []string          `json:"agents,omitempty"`
	Context             []string          `json:"context,omitempty"`
	ExportContext       []string          `json:"exportContext,omitempty"`
	InputFilters        []string          `json:"inputFilters,omitempty"`
	ExportInputFilters  []string          `json:"exportInputFilters,omitempty"`
	OutputFilters       []string          `json:"outputFilters,omitempty"`
	ExportOutputFilters []string          `json:"exportOutputFilters,omitempty"`
	Credentials         []string          `json:"credentials,omitempty"`
	ExportCredentials   []string          `json:"exportCredentials,omitempty"`
	MetaData            map[string]string `json:"metaData,omitempty"`

	// Instructions is the body.
	Instructions string `json:"instructions,omitempty"`

	ID          string                 `json:"id,omitempty"`
	ToolMapping map[string][]Reference `json:"toolMapping,omitempty"`
	LocalTools  map[string]string      `json:"localTools,omitempty"` // lower-case name → id
	Source      Source                 `json:"source,omitzero"`
	// WorkingDir is the folder of the tool's file: absolute for local files.
	WorkingDir string `json:"workingDir,omitempty"`
}

// Source says where a tool came from.
type Source struct {
	Location string `json:"location,omitempty"`
	LineNo   int    `json:"lineNo,omitempty"` // line on which the block starts
	Repo     *Repo  `json:"repo,omitempty"`
}

// Repo is the repository a remote tool came from.
type Repo struct {
	VCS, Root, Path, Name, Revision string
}

// Reference is a linked mention of a tool by another.
type Reference struct {
	// Named is the alias, or the name the model sees where that is computed (agents).
	Named string `json:"named,omitempty"`
	// Reference is the text in the file (a glob is replaced by the matched tool's name).
	Reference string `json:"reference,omitempty"`
	// Arg is the argument string after "with", "*" included; for credentials everything after
	// the target.
	Arg    string `json:"arg,omitempty"`
	ToolID string `json:"toolID,omitempty"`
	// Of selects tools of the MCP server that ToolID is: a name or a glob. They are known once the
	// server was asked (see [Program.WithServer]).
	Of string `json:"of,omitempty"`
}

// Offered is a tool as it is offered to the model.
type Offered struct {
	// Name is the normalised, unique name the model sees (2.6).
	Name string
	Ref  Reference
	Tool *Tool
}

// Program is a set of linked tools with an entry. It is not changed after linking and safe for
// concurrent use.
type Program struct {
	Name        string           `json:"name,omitempty"` // the path the user gave
	EntryToolID string           `json:"entryToolId,omitempty"`
	ToolSet     map[string]*Tool `json:"toolSet,omitempty"`
}

// Entry returns the entry tool.
func (p *Program) Entry() *Tool { return p.ToolSet[p.EntryToolID] }

// Tool returns the tool of that id, nil if the program has none.
func (p *Program) Tool(id string) *Tool { return p.ToolSet[id] }

// Kind says what a tool's body is (1.8).
type Kind int

// The kinds of bodies.
const (
	KindPrompt    Kind = iota + 1
	KindNoop           // empty body
	KindBuiltin        // a sys.* tool of the program it runs in
	KindCommand        // "#!" command
	KindEcho           // #!sys.echo
	KindCall           // #!sys.call
	KindDaemon         // #!sys.daemon
	KindHTTP           // #!http:// and #!https://
	KindOpenAPI        // #!sys.openapi
	KindMCPServer      // #!mcp
	KindMCPTool        // #!sys.mcp.invoke.
)
