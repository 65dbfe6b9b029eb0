package cli

import _ "embed"

// assistant is the program of the chat that is opened without a file.
//
//go:embed assistant.gpt
var assistant []byte

// assistantName is the agent that it begins with: the screen shows it before the program is read.
const assistantName = "assistant"

// greeting is shown before the first message to the embedded program; no model is asked for it.
const greeting = `This is parley: a chat with an assistant that works in this folder through tools.
Whatever can change something is put to you first. Try "list the files here" or "what can you do?".`

// configSchema is the JSON Schema of the settings.
//
//go:embed config.schema.json
var configSchema string
