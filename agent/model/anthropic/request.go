package anthropic

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"parley/agent/model"
)

// jsonOnly stands in for the response format that this wire lacks.
const jsonOnly = "Answer with one JSON object and nothing else."

// params returns the request in Anthropic's form (4.2).
func (m *claude) params(req model.Request, messages []model.WireMessage) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: sdk.Model(m.name), MaxTokens: m.outputLimit(req.MaxTokens)}
	extra := map[string]any{}
	if req.Temperature != nil && req.Effort == "" && !refusesTemperature(m.name) {
		// as a number of JSON, or the library would write 0.7 as 0.699999988079071
		extra["temperature"] = json.Number(strconv.FormatFloat(float64(*req.Temperature), 'f', -1, 32))
	}
	if m.base.String() == defaultAddress {
		// Marks what came before as worth keeping for the next round. Other servers may not know it.
		p.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	m.think(&p, extra, req.Effort)
	p.SetExtraFields(extra)
	for _, w := range messages {
		if w.Role == model.System {
			p.System = append(p.System, texts(w.Text)...)
			continue
		}
		p.Messages = appendTurn(p.Messages, w)
	}
	if req.JSONResponse {
		p.System = append(p.System, texts(jsonOnly)...)
	}
	for _, t := range req.Tools {
		p.Tools = append(p.Tools, tool(t))
	}
	return p
}

// think asks for thinking. Newer models choose its length by an effort, older ones want it in tokens,
// which count against the limit of the output.
func (m *claude) think(p *sdk.MessageNewParams, extra map[string]any, effort model.Effort) {
	budget := map[model.Effort]int64{model.EffortLow: 2048, model.EffortMedium: 8192, model.EffortHigh: 24576}[effort]
	switch {
	case budget == 0:
	case version(m.name) >= adaptive:
		extra["thinking"] = map[string]string{"type": "adaptive"}
		extra["output_config"] = map[string]string{"effort": string(effort)}
	default:
		p.MaxTokens = max(p.MaxTokens, budget+4096)
		p.Thinking = sdk.ThinkingConfigParamOfEnabled(budget)
	}
}

// texts returns a block of text, none for a blank text, which the wire refuses.
func texts(text string) []sdk.TextBlockParam {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []sdk.TextBlockParam{{Text: text}}
}

// appendTurn adds a message. Messages of one side that follow each other become one: the results
// of all calls must come in a single message.
func appendTurn(turns []sdk.MessageParam, w model.WireMessage) []sdk.MessageParam {
	blocks := contentBlocks(w)
	if len(blocks) == 0 {
		return turns // an empty reply stays in the history, but the wire has no form for it
	}
	last := len(turns) - 1
	switch {
	case w.Role == model.Assistant && last >= 0 && turns[last].Role == sdk.MessageParamRoleAssistant:
		turns[last].Content = append(turns[last].Content, blocks...)
	case w.Role == model.Assistant:
		turns = append(turns, sdk.NewAssistantMessage(blocks...))
	case last >= 0 && turns[last].Role == sdk.MessageParamRoleUser:
		turns[last].Content = append(turns[last].Content, blocks...)
	default:
		turns = append(turns, sdk.NewUserMessage(blocks...))
	}
	return turns
}

func contentBlocks(w model.WireMessage) []sdk.ContentBlockParamUnion {
	if w.Role == model.ToolRole {
		return []sdk.ContentBlockParamUnion{{OfToolResult: toolResult(w)}}
	}
	var blocks []sdk.ContentBlockParamUnion
	for _, r := range w.Reasoning {
		switch {
		case r.Redacted != "":
			blocks = append(blocks, sdk.NewRedactedThinkingBlock(r.Redacted))
		case r.Signature != "": // a block that was cut off has none and would be refused
			blocks = append(blocks, sdk.NewThinkingBlock(r.Signature, r.Text))
		}
	}
	for _, t := range texts(w.Text) {
		blocks = append(blocks, sdk.ContentBlockParamUnion{OfText: &t})
	}
	for _, image := range w.Images {
		blocks = append(blocks, sdk.ContentBlockParamUnion{OfImage: picture(image)})
	}
	for _, c := range w.Calls {
		blocks = append(blocks, sdk.NewToolUseBlock(wireID(c.ID), model.ObjectArguments(c.Function.Arguments), c.Function.Name))
	}
	return blocks
}

func toolResult(w model.WireMessage) *sdk.ToolResultBlockParam {
	result := &sdk.ToolResultBlockParam{ToolUseID: wireID(w.CallID)}
	if w.IsError {
		result.IsError = sdk.Bool(true)
	}
	for _, t := range texts(w.Text) {
		result.Content = append(result.Content, sdk.ToolResultBlockParamContentUnion{OfText: &t})
	}
	for _, image := range w.Images {
		result.Content = append(result.Content, sdk.ToolResultBlockParamContentUnion{OfImage: picture(image)})
	}
	return result
}

// picture returns the block of a PNG given as a data URL.
func picture(dataURL string) *sdk.ImageBlockParam {
	_, data, _ := strings.Cut(dataURL, ",")
	return sdk.NewImageBlockBase64("image/png", strings.TrimSpace(data)).OfImage
}

var notInID = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// wireID returns an id with only the characters that the wire takes. Ids of other providers may
// have more.
func wireID(id string) string { return notInID.ReplaceAllString(id, "_") }

func tool(t model.Tool) sdk.ToolUnionParam {
	one := sdk.ToolParam{Name: t.Name}
	if t.Description != "" {
		one.Description = sdk.String(t.Description)
	}
	if len(t.Parameters) > 0 && json.Valid(t.Parameters) {
		one.InputSchema = param.Override[sdk.ToolInputSchemaParam](t.Parameters)
	} else {
		one.InputSchema = sdk.ToolInputSchemaParam{Properties: map[string]any{}}
	}
	return sdk.ToolUnionParam{OfTool: &one}
}
