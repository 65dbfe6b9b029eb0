package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
)

// knownParts are the parts of a result that the library reads; one that it does not would lose the
// whole result.
var knownParts = map[string]bool{"text": true, "image": true, "audio": true, "resource_link": true, "resource": true}

// repair returns a message with what the library would refuse as a whole made harmless: unknown
// parts of results become texts that name them, tools that cannot be read are left out. remark is
// told of the tools. A message in which nothing has to be repaired is returned as it is.
func repair(message []byte, remark func(string)) []byte {
	result := bytes.Contains(message, []byte(`"result"`))
	if !result || !bytes.Contains(message, []byte(`"content"`)) && !bytes.Contains(message, []byte(`"tools"`)) {
		return message
	}
	var outer map[string]json.RawMessage
	var inner map[string]json.RawMessage
	if json.Unmarshal(message, &outer) != nil || json.Unmarshal(outer["result"], &inner) != nil {
		return message
	}
	changed := false
	if fixed, ok := repairList(inner["content"], func(part json.RawMessage) (any, bool) { return repairPart(part) }); ok {
		inner["content"], changed = fixed, true
	}
	if raw, has := inner["content"]; has && string(bytes.TrimSpace(raw)) == "null" {
		inner["content"], changed = json.RawMessage("[]"), true
	}
	if fixed, ok := repairList(inner["tools"], func(tool json.RawMessage) (any, bool) { return repairTool(tool, remark) }); ok {
		inner["tools"], changed = fixed, true
	}
	if !changed {
		return message
	}
	return encoded(outer, inner, message)
}

func encoded(outer, inner map[string]json.RawMessage, message []byte) []byte {
	result, err := json.Marshal(inner)
	if err != nil {
		return message
	}
	outer["result"] = result
	text, err := json.Marshal(outer)
	if err != nil {
		return message
	}
	return text
}

// repairList passes each element through fix, which returns what takes its place, nil for nothing.
// ok says that something changed.
func repairList(raw json.RawMessage, fix func(json.RawMessage) (any, bool)) (_ json.RawMessage, ok bool) {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return raw, false
	}
	out := make([]any, 0, len(list))
	for _, item := range list {
		fixed, changed := fix(item)
		ok = ok || changed
		if fixed != nil {
			out = append(out, fixed)
		}
	}
	if !ok {
		return raw, false
	}
	text, err := json.Marshal(out)
	if err != nil {
		return raw, false
	}
	return text, true
}

func textPart(format string, args ...any) any {
	return map[string]string{"type": "text", "text": fmt.Sprintf(format, args...)}
}

func repairPart(raw json.RawMessage) (any, bool) {
	var part struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Data     json.RawMessage `json:"data"`
		Resource json.RawMessage `json:"resource"`
	}
	if json.Unmarshal(raw, &part) != nil || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return textPart("[a part that cannot be read is left out]"), true
	}
	switch {
	case part.Type == "":
		return textPart("[a part without a type is left out]"), true
	case !knownParts[part.Type]:
		return textPart("[a part of the unknown type %s is left out]", strconv.Quote(cut(part.Type, 100))), true
	case part.Type == "text" && !isText(part.Text):
		return textPart("[a part of type text without text is left out]"), true
	case (part.Type == "image" || part.Type == "audio") && !isBase64(part.Data):
		return textPart("[a part of type %s whose data cannot be read is left out]", part.Type), true
	case part.Type == "resource" && !isResource(part.Resource):
		return textPart("[a part of type resource that cannot be read is left out]"), true
	}
	return raw, false
}

// isText reports whether a value, which is valid JSON, is a text.
func isText(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

func isBase64(raw json.RawMessage) bool {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil
}

func isResource(raw json.RawMessage) bool {
	var r struct {
		URI      string          `json:"uri"`
		MIMEType string          `json:"mimeType"`
		Text     string          `json:"text"`
		Blob     json.RawMessage `json:"blob"`
	}
	return len(raw) > 0 && json.Unmarshal(raw, &r) == nil && r.URI != "" && (len(r.Blob) == 0 || isBase64(r.Blob))
}

// repairTool keeps of a tool what is used here, in types that can be read.
func repairTool(raw json.RawMessage, remark func(string)) (any, bool) {
	var tool map[string]json.RawMessage
	if json.Unmarshal(raw, &tool) != nil || tool == nil {
		remark("a tool that is no object is left out")
		return nil, true
	}
	var name string
	if json.Unmarshal(tool["name"], &name) != nil || name == "" {
		remark("a tool without a name is left out")
		return nil, true
	}
	kept := map[string]json.RawMessage{"name": tool["name"], "inputSchema": tool["inputSchema"]}
	if len(tool["inputSchema"]) == 0 {
		kept["inputSchema"] = json.RawMessage("null")
	}
	for _, key := range []string{"description", "title"} {
		if isText(tool[key]) {
			kept[key] = tool[key]
		}
	}
	if a := repairAnnotations(tool["annotations"]); a != nil {
		kept["annotations"] = a
	}
	return kept, true
}

// repairAnnotations keeps the annotations that have the types they must have.
func repairAnnotations(raw json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &all) != nil || all == nil {
		return nil
	}
	kept := map[string]any{}
	for _, key := range []string{"destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint"} {
		var b bool
		if v, ok := all[key]; ok && json.Unmarshal(v, &b) == nil {
			kept[key] = b
		}
	}
	var title string
	if json.Unmarshal(all["title"], &title) == nil && title != "" {
		kept["title"] = title
	}
	text, err := json.Marshal(kept)
	if err != nil || len(kept) == 0 {
		return nil
	}
	return text
}
