package sys

import (
	"parley/toolrt"
)

// looking is what tools that only look have in common.
var looking = toolrt.Flags{ReadOnly: true, Parallel: true, Idempotent: true}

// catalog holds all built-in tools. It is never changed.
var catalog = []builtin{
	{
		name:        "sys.abort",
		description: "Ends the whole run with the given message",
		raw:         true,
		params:      []param{{"message", "The reason for ending the run"}},
		run:         abort,
	},
	{
		name:        "sys.append",
		description: "Appends text to the end of a file, and creates the file if it does not exist",
		params:      []param{{"filename", "The file to append to"}, {"content", "The text to append"}},
		run:         appendFile,
		display:     named("Appending to `%s`", "filename"),
		preview:     previewAppend,
	},
	{
		name:        "sys.chat.current",
		description: "Returns the conversation of the calling tool as JSON",
		flags:       looking,
		raw:         true,
		run:         chatCurrent,
	},
	{
		name: "sys.chat.finish",
		description: "Concludes the conversation and hands a value back. This cannot be used to ask a question: " +
			"the conversation is over after it",
		raw:    true,
		params: []param{{"return", "The value to hand back, or a summary of the conversation"}},
		run:    chatFinish,
	},
	{
		name:        "sys.chat.history",
		description: "Returns the conversations of all callers as JSON",
		flags:       looking,
		raw:         true,
		run:         chatHistory,
	},
	{
		name:        "sys.context",
		description: "Returns the program and the current call as JSON",
		flags:       looking,
		raw:         true,
		run:         callContext,
	},
	{
		name:        "sys.download",
		description: "Downloads a URL to a file. The location is optional: without one the file is put into the workspace",
		params: []param{
			{"url", "The URL to download"},
			{"location", "(optional) The file to write, or the folder to put the file into"},
			{"override", "(optional) If true, an existing file is overwritten. The default is false"},
		},
		flags:   toolrt.Flags{External: true, LongRunning: true},
		run:     download,
		display: named("Downloading `%s`", "url"),
		preview: previewDownload,
	},
	{
		name:        "sys.exec",
		description: "Runs a command in a shell and returns its output",
		params: []param{
			{"command", "The command line to run, with its arguments"},
			{"directory", "The folder to run it in. The default is the current folder \".\""},
		},
		flags:     toolrt.Flags{LongRunning: true},
		terminal:  true,
		headShare: 0.3,
		run:       execute,
		display:   named("Running `%s`", "command"),
		preview:   previewExec,
	},
	{
		name:        "sys.find",
		description: "Finds files and folders below a folder whose names match a pattern, in which * and ? are wildcards. The default folder is the current one",
		params: []param{
			{"pattern", "The pattern that names must match, for example *.txt"},
			{"directory", "The folder to search. The default is the current folder \".\""},
		},
		flags:   looking,
		run:     findFiles,
		display: displayFind,
		preview: touching("directory", "."),
	},
	{
		name:        "sys.getenv",
		description: "Returns the value of an environment variable",
		params:      []param{{"name", "The name of the variable"}},
		flags:       looking,
		run:         getenv,
		display:     named("Reading environment variable `%s`", "name"),
	},
	{
		name:        "sys.http.get",
		description: "Downloads a http or https URL and returns its contents",
		params:      []param{{"url", "The URL to download"}},
		flags:       toolrt.Flags{ReadOnly: true, Parallel: true, Idempotent: true, External: true},
		run:         httpGet,
		display:     named("Downloading `%s`", "url"),
		preview:     previewURL,
	},
	{
		name:        "sys.http.html2text",
		description: "Downloads a http or https URL and returns its HTML as plain text",
		params:      []param{{"url", "The URL to download"}},
		flags:       toolrt.Flags{ReadOnly: true, Parallel: true, Idempotent: true, External: true},
		run:         httpText,
		display:     named("Downloading `%s`", "url"),
		preview:     previewURL,
	},
	{
		name:        "sys.http.post",
		description: "Sends text to a http or https URL by a POST request",
		params: []param{
			{"url", "The URL to send to"},
			{"content", "The text to send"},
			{"contentType", "The content type of the text"},
		},
		flags:   toolrt.Flags{External: true},
		run:     httpPost,
		display: named("Posting to `%s`", "url"),
		preview: previewURL,
	},
	{
		name:        "sys.ls",
		description: "Lists the contents of a folder",
		params:      []param{{"dir", "The folder to list. The default is the current folder \".\""}},
		flags:       looking,
		run:         list,
		display:     func(a args) string { return quoted("Listing `%s`", a.or("dir", ".")) },
		preview:     touching("dir", "."),
	},
	{
		name:        "sys.prompt",
		description: "Asks the user for input",
		params: []param{
			{"message", "The message to show to the user"},
			{"fields", "A comma separated list of the values to ask for"},
			{"sensitive", "(true or false) Whether the input is hidden while it is typed"},
			{"metadata", "(optional) A JSON object of further data for the prompt"},
		},
		flags: looking, // asking again is all that a second run does
		raw:   true,
		run:   prompt,
	},
	{
		name:        "sys.read",
		description: "Reads the contents of a file. Only plain text files can be read, no binary ones",
		params:      []param{{"filename", "The file to read"}},
		flags:       looking,
		run:         readFile,
		display:     named("Reading `%s`", "filename"),
		preview:     touching("filename", ""),
	},
	{
		name:        "sys.remove",
		description: "Removes a file or an empty folder",
		params:      []param{{"location", "The file or folder to remove"}},
		flags:       toolrt.Flags{Destructive: true},
		run:         remove,
		display:     named("Removing `%s`", "location"),
		preview:     previewRemove,
	},
	{
		name:        "sys.stat",
		description: "Returns size, mode and time of modification of a file or folder",
		params:      []param{{"filepath", "The path of the file or folder"}},
		flags:       looking,
		run:         stat,
		display:     named("Looking at `%s`", "filepath"),
		preview:     touching("filepath", ""),
	},
	{
		name:        "sys.time.now",
		description: "Returns the current date and time in RFC 3339 format",
		flags:       looking,
		raw:         true,
		run:         timeNow,
	},
	{
		name:        "sys.write",
		description: "Writes text to a file. An existing file is overwritten, missing folders are created",
		params:      []param{{"filename", "The file to write"}, {"content", "The text to write"}},
		flags:       toolrt.Flags{Idempotent: true},
		run:         writeFile,
		display:     named("Writing `%s`", "filename"),
		preview:     previewWrite,
	},
}
