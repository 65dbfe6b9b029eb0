package offline

// The parameter names of common values, those of GPTScript's tools first.
var (
	fileArg    = []string{"filename", "path", "file", "file_path", "filepath", "location"}
	dirArg     = []string{"dir", "directory", "path", "folder"}
	contentArg = []string{"content", "text"}
	commandArg = []string{"command", "cmd", "script"}
	patternArg = []string{"pattern", "glob", "query", "regex"}
)

// What is asked for, and where.
const (
	finding  = `(?:find|locate)(?: all)?(?: the)?(?: files)?(?: named| called| matching| like)?`
	things   = `(?:files?|folders?|director(?:y|ies)|contents?)(?: and folders)?`
	inFolder = `(?: (?:in|of|under|at|from|below)(?: the)?(?: folder| directory)? {dir}(?: folder| directory)?)`
)

// ruleTable is what the model understands. The first match counts, so narrow rules come first.
var ruleTable = []rule{
	{
		example:  "help",
		patterns: []string{`help`, `what can (?:you|i) do`, `what do you understand`, `commands`},
		say:      help,
	},
	{
		patterns: []string{
			`(?:hello|hi|hey|good (?:morning|day|evening))(?: there| parley)?`, `who are you`, `what are you`,
			`(?:please )?take over`,
		},
		say: greeting,
	},
	{
		patterns: []string{`(?:thanks|thank you|ok|okay|great|nice|good)(?: very much| a lot)?`},
		say:      func(speech) string { return "You are welcome." },
	},
	{
		example:  "show me markdown",
		patterns: []string{`(?:show|give)(?: me)?(?: some| a)? markdown(?: showcase| sample| example)?`, `markdown`},
		say:      func(speech) string { return showcase },
	},
	{
		example: "stream 300 words",
		patterns: []string{
			`(?:stream|write|say|print|give me) {count} (?P<unit>words?|lines?)`,
		},
		say: func(s speech) string { return stream(s.values["count"], s.values["unit"]) },
	},
	{
		example: "what time is it?",
		tools:   []string{"timeNow"},
		patterns: []string{
			`what(?:'s| is)? ?(?:the )?time(?: is it)?(?: now)?`,
			`(?:what )?time(?: now)?`,
			`(?:tell|show) me the time`,
		},
	},
	{
		example: "what is $HOME?",
		tools:   []string{"getenv"},
		patterns: []string{
			`(?:what is |show (?:me )?|echo )\${env}`,
			`getenv \$?{env}`,
			`(?:what is |show (?:me )?)?(?:the )?(?:environment variable|value of) \$?{env}`,
		},
		args: map[string][]string{"env": {"name", "variable"}},
	},
	{
		example: "fetch https://example.com",
		tools:   []string{"httpGet", "httpHtml2text", "fetch"},
		patterns: []string{
			`(?:fetch|get|open|read|download)(?: the)?(?: page| url)? (?P<url>https?://\S+)`,
		},
		args: map[string][]string{"url": {"url"}},
	},
	{
		example:  "download https://example.com to page.html",
		tools:    []string{"download"},
		patterns: []string{`download (?P<url>https?://\S+) (?:to|as|into) {file}`},
		args:     map[string][]string{"url": {"url"}, "file": {"location", "path"}},
	},
	{
		tools:    []string{"prompt"},
		patterns: []string{`ask me(?: for)?(?: a| an| the| my| your)? (?P<secret>password|secret|token|api key)`},
		args:     map[string][]string{"secret": {"fields"}},
		fixed:    map[string]string{"message": "Please enter it. What you type stays hidden.", "sensitive": "true"},
	},
	{
		example:  "ask me for a name",
		tools:    []string{"prompt"},
		patterns: []string{`ask me(?: for)?(?: a| an| the| my| your)? {field…}`},
		args:     map[string][]string{"field": {"fields"}},
		fixed:    map[string]string{"message": "Please answer"},
	},
	{
		example:    "ask the {agent} to read go.mod",
		named:      true,
		onlyAgents: true,
		patterns: []string{
			`(?:ask|tell|let|have|get)(?: the)? @?{tool}(?: agent)?(?: to)?[:,]? {prompt…}`,
			`(?:hand over|switch|talk|hand off|go)(?: to)(?: the)? @?{tool}(?: agent)?`,
			`(?:hand over|switch|talk|hand off|go)(?: to)(?: the)? @?{tool}(?: agent)?(?: with)?[:,]? {prompt…}`,
			`@{tool}[:,]? {prompt…}`,
		},
		args:  map[string][]string{"prompt": {promptParameter}},
		fixed: map[string]string{promptParameter: "Please take over."},
	},
	{
		named: true,
		patterns: []string{
			`(?:call|use)(?: the)?(?: tool)? {tool}`,
			`(?:call|use)(?: the)?(?: tool)? {tool} with {arguments…}`,
		},
	},
	{
		example: "list the files here",
		tools:   []string{"ls"},
		patterns: []string{
			`(?:list|show|ls)(?: me)?(?: all)?(?: of)?(?: the)? ` + things + `(?: {here}|` + inFolder + `)?`,
			`(?:what|which) ` + things + `(?: are| do i have)(?: {here}|` + inFolder + `)?`,
			`what(?:'s| is)` + inFolder,
			`(?:ls|list)`, `(?:ls|list) {dir}`,
		},
		args: map[string][]string{"dir": dirArg},
	},
	{
		example: "find *.go",
		tools:   []string{"find", "glob"},
		patterns: []string{
			finding + ` {pattern}(?: files)?`,
			finding + ` {pattern}(?: files)? (?:in|under|below) {dir}`,
		},
		args: map[string][]string{"pattern": patternArg, "dir": {"directory", "dir", "path"}},
	},
	{
		example: "grep TODO in .",
		tools:   []string{"grep"},
		patterns: []string{
			`(?:grep|search)(?: for)? {pattern}`,
			`(?:grep|look|search)(?: for)? {pattern} (?:in|under|below) {dir}`,
		},
		args: map[string][]string{"pattern": patternArg, "dir": dirArg},
	},
	{
		example:  "read go.mod",
		tools:    []string{"read", "view"},
		patterns: []string{`(?:read|show|cat|open|view|print)(?: me)?(?: the)?(?: file)? {file}`, `what does {file} say`},
		args:     map[string][]string{"file": fileArg},
	},
	{
		example: "write hello to notes.txt",
		tools:   []string{"write"},
		patterns: []string{
			`(?:write|save|put) {content…} (?:to|into|in|as)(?: the)?(?: file)? {file}`,
			`create(?: the)?(?: file)? {file} (?:with|containing) {content…}`,
		},
		args: map[string][]string{"file": fileArg, "content": contentArg},
	},
	{
		example:  "append bye to notes.txt",
		tools:    []string{"append"},
		patterns: []string{`(?:append|add) {content…} to(?: the)?(?: file)? {file}`},
		args:     map[string][]string{"file": fileArg, "content": contentArg},
	},
	{
		example:  "replace hello with bye in notes.txt",
		tools:    []string{"edit"},
		patterns: []string{`(?:replace|change) {old…} (?:with|by|to) {new…} in(?: the)?(?: file)? {file}`},
		args: map[string][]string{
			"file": fileArg, "old": {"old", "old_text", "oldText", "old_string", "search"},
			"new": {"new", "new_text", "newText", "new_string", "replace"},
		},
	},
	{
		example: "how big is go.mod?",
		tools:   []string{"stat"},
		patterns: []string{
			`how (?:big|large|old) is(?: the)?(?: file)? {file}`,
			`(?:stat|size of|info (?:on|about))(?: the)?(?: file)? {file}`,
		},
		args: map[string][]string{"file": {"filepath", "filename", "path", "file"}},
	},
	{
		example:  "delete notes.txt",
		tools:    []string{"remove"},
		patterns: []string{`(?:delete|remove|rm)(?: the)?(?: file| folder)? {file}`},
		args:     map[string][]string{"file": {"location", "filename", "path", "file"}},
	},
	{
		example: "run `go version`",
		tools:   []string{"exec", "shell"},
		patterns: []string{
			`(?:run|execute|exec)(?: the)?(?: command)? {command…}`, "`(?P<command>[^`]+)`",
			`(?P<command>(?:git|npm|cargo|python3?|node|docker|uname|whoami|pwd|echo|seq|sleep)\b.*)`,
			`(?P<command>go (?:build|doc|env|fmt|generate|help|install|list|mod|run|test|tool|version|vet|work)\b.*)`,
			`(?P<command>make(?: [\w.=-]+)?)`, `(?P<command>ls -.*)`,
		},
		args: map[string][]string{"command": commandArg},
	},
	{
		example: "finish with done",
		tools:   []string{"chatFinish"},
		patterns: []string{
			`(?:finish|conclude|hand back)(?: the chat)?(?: with {content…})?`,
			`(?:we are|i am|i'm) (?:done|finished)`,
		},
		args:  map[string][]string{"content": {"return"}},
		fixed: map[string]string{"return": "Done."},
	},
}
