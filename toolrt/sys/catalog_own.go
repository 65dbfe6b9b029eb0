package sys

import "parley/toolrt"

// The ranges of counts.
const (
	maxViewLines = 2000
	maxMatches   = 2000
	maxContext   = 20
	maxLine      = 1 << 30
)

var (
	required = typing{required: true}
	yesOrNo  = typing{kind: "boolean"}
)

func upTo(most int) typing { return typing{kind: "integer", min: 1, max: most} }

// own holds the built-in tools that GPTScript does not have: those that agents need who work on
// code. It is never changed.
var own = []builtin{
	{
		name: "sys.context.folder",
		description: "Describes the working folder: the system, the shell, today's date, the git branch, and what AGENTS.md says of how to work here. " +
			"Meant for Context: lines",
		flags:   looking,
		types:   map[string]typing{},
		run:     describeFolder,
		preview: previewFolder,
	},
	{
		name: "sys.credential",
		description: "Asks the person for a secret and gives it to the tool that needs it as a variable of its environment. " +
			"Meant for Credentials: lines, with an alias to keep it under",
		params: []param{
			{"env", "The name of the variable"},
			{"message", "(optional) What to say to the person"},
			{"field", "(optional) What the value is called"},
		},
		types: map[string]typing{"env": required, "message": {}, "field": {}},
		run:   credential,
	},
	{
		name: "sys.edit",
		description: "Replaces one exact piece of text in a file and returns the change as a diff. The old text must stand in the file " +
			"exactly once, white space included, unless all is true: give enough of the lines around it. Line ends stay as they are",
		params: []param{
			{"filename", "The file to change"},
			{"old", "The text to replace, exactly as it stands in the file, without line numbers"},
			{"new", "The text to put in its place"},
			{"all", "(optional) If true, every occurrence is replaced. The default is false"},
		},
		types:   map[string]typing{"filename": required, "old": required, "new": required, "all": yesOrNo},
		run:     editFile,
		display: named("Editing `%s`", "filename"),
		preview: previewEdit,
	},
	{
		name: "sys.glob",
		description: "Finds files below a folder by a pattern of their path, in which * and ? are wildcards within a name, ** stands for " +
			"any folders and {a,b} for either: src/**/*.go. A pattern without / finds names at any depth. " +
			"What ignore files exclude and hidden files are left out",
		params: []param{
			{"pattern", "The pattern, relative to the folder. With a final / folders are found instead of files"},
			{"directory", "(optional) The folder to search. The default is the current folder \".\""},
			{"limit", "(optional) How many files to list at most. The default is 200"},
		},
		types:   map[string]typing{"pattern": required, "directory": {}, "limit": upTo(maxMatches)},
		flags:   looking,
		run:     globFiles,
		display: func(a args) string { return quoted("Finding `%s` in `%s`", a["pattern"], a.or("directory", ".")) },
		preview: touching("directory", "."),
	},
	{
		name: "sys.grep",
		description: "Searches the text files below a folder, or one file, for lines that match a regular expression (RE2 syntax) and returns " +
			"them as file:line:text. What ignore files exclude, hidden and binary files are left out",
		params: []param{
			{"pattern", "The regular expression"},
			{"path", "(optional) The folder or file to search. The default is the current folder \".\""},
			{"glob", "(optional) Search only files whose path matches, for example *.go or src/**/*.ts"},
			{"ignoreCase", "(optional) If true, upper and lower case are the same. The default is false"},
			{"context", "(optional) How many lines to show before and after each match. The default is 0"},
			{"limit", "(optional) How many matching lines to return at most. The default is 200"},
		},
		types: map[string]typing{
			"pattern": required, "path": {}, "glob": {}, "ignoreCase": yesOrNo,
			"context": {kind: "integer", max: maxContext}, "limit": upTo(maxMatches),
		},
		flags:   looking,
		run:     grep,
		display: func(a args) string { return quoted("Searching for `%s` in `%s`", a["pattern"], a.or("path", ".")) },
		preview: touching("path", "."),
	},
	{
		name: "sys.jobs",
		description: "Tells of the commands in the background: how each stands, for how long, and what it has printed. " +
			"With an id, the last part of what that one has printed; with wait too, it waits for its end first",
		params: []param{
			{"id", "(optional) The number of the job. Without it all are listed"},
			{"wait", "(optional) For how many seconds to wait for the job's end. The default is 0"},
		},
		types:   map[string]typing{"id": {}, "wait": {kind: "integer", max: maxJobWait}},
		flags:   toolrt.Flags{ReadOnly: true, Parallel: true, Idempotent: true, LongRunning: true},
		run:     listJobs,
		display: func(a args) string { return quoted("Looking at job `%s`", a.or("id", "list")) },
	},
	{
		name:        "sys.jobs.end",
		description: "Ends a command in the background, with everything it has started",
		params:      []param{{"id", "The number of the job"}},
		types:       map[string]typing{"id": required},
		flags:       toolrt.Flags{Idempotent: true},
		run:         endJob,
		display:     named("Ending job `%s`", "id"),
	},
	{
		name: "sys.read.output",
		description: "Reads lines of the whole output of an earlier call that was too long and was cut. " +
			"The note in the cut output gives its id",
		params: []param{
			{"id", "The id of the output"},
			{"first", "(optional) The first line to return. The default is 1"},
			{"count", "(optional) How many lines to return at most. The default is 200"},
		},
		types:   map[string]typing{"id": required, "first": upTo(maxLine), "count": upTo(maxViewLines)},
		flags:   looking,
		run:     readOutput,
		display: named("Reading output `%s`", "id"),
	},
	{
		name: "sys.shell",
		description: "Runs a command in a shell and returns its output. A command that runs on, such as a server, is run in the background: " +
			"the call returns at once, and sys.jobs tells what it prints. It is ended when the chat is closed",
		params: []param{
			{"command", "The command line to run, with its arguments"},
			{"directory", "(optional) The folder to run it in. The default is the current folder \".\""},
			{"timeout", "(optional) After how many seconds to stop it. The default is 600"},
			{"background", "(optional) If true, it goes on in the background and has no time limit. The default is false"},
		},
		types: map[string]typing{"command": required, "directory": {}, "timeout": upTo(maxShellSeconds), "background": yesOrNo},
		flags: toolrt.Flags{LongRunning: true}, form: toolrt.FormTerminal, headShare: 0.3, detaches: true,
		limit:   shellLimit,
		run:     runLimited,
		display: named("Running `%s`", "command"),
		preview: previewExec,
	},
	{
		name:        "sys.view",
		description: "Shows lines of a text file with their numbers. For large files ask for a part",
		params: []param{
			{"filename", "The file to show"},
			{"first", "(optional) The number of the first line to show. The default is 1"},
			{"count", "(optional) How many lines to show at most. The default is 500"},
		},
		types:   map[string]typing{"filename": required, "first": upTo(maxLine), "count": upTo(maxViewLines)},
		flags:   looking,
		run:     view,
		display: displayView,
		preview: touching("filename", ""),
	},
}

// ReadOutput is the name of the tool that reads whole outputs by their id (R64).
const ReadOutput = "sys.read.output"
