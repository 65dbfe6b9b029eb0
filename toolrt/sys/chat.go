package sys

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parley/toolrt"
)

var errNoHost = errors.New("nothing here can answer: the call does not belong to a running program")

// timeNow is sys.time.now.
func timeNow(context.Context, *toolrt.Invocation, args) (toolrt.Output, error) {
	return toolrt.Output{Text: time.Now().Format(time.RFC3339)}, nil
}

// chatFinish is sys.chat.finish: it raises the value of "return", or the raw input without one.
func chatFinish(_ context.Context, inv *toolrt.Invocation, _ args) (toolrt.Output, error) {
	message := argument(inv.Args, "return")
	if message == "" {
		message = inv.Args
	}
	return toolrt.Output{}, &toolrt.ChatFinish{Message: message}
}

// abort is sys.abort: it ends the run with the message, or the raw input if that is no object.
func abort(_ context.Context, inv *toolrt.Invocation, _ args) (toolrt.Output, error) {
	if _, err := object(inv.Args); err != nil {
		return toolrt.Output{}, &toolrt.Abort{Message: inv.Args}
	}
	return toolrt.Output{}, &toolrt.Abort{Message: argument(inv.Args, "message")}
}

// argument returns one argument as text, "" if it is not there or cannot be read.
func argument(arguments, name string) string {
	fields, err := object(arguments)
	if err != nil {
		return ""
	}
	raw, ok := field(fields, name)
	if !ok {
		return ""
	}
	if value, err := scalar(raw); err == nil {
		return value
	}
	return string(raw) // an object or array as it was written
}

func chatCurrent(ctx context.Context, inv *toolrt.Invocation, _ args) (toolrt.Output, error) {
	return ask(ctx, inv, "sys.chat.current", toolrt.Host.Current)
}

func chatHistory(ctx context.Context, inv *toolrt.Invocation, _ args) (toolrt.Output, error) {
	return ask(ctx, inv, "sys.chat.history", toolrt.Host.History)
}

func callContext(ctx context.Context, inv *toolrt.Invocation, _ args) (toolrt.Output, error) {
	return ask(ctx, inv, "sys.context", toolrt.Host.Context)
}

// ask returns what the program around the call says of itself.
func ask(ctx context.Context, inv *toolrt.Invocation, tool string, what func(toolrt.Host, context.Context) (json.RawMessage, error)) (toolrt.Output, error) {
	if inv.Call.Host == nil {
		return toolrt.Output{}, broken(tool, errNoHost)
	}
	answer, err := what(inv.Call.Host, ctx)
	if err != nil {
		return toolrt.Output{}, broken(tool, err)
	}
	return toolrt.Output{Text: string(answer)}, nil
}
