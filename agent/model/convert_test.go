package model_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"parley/agent/model"
)

func call(id, name, arguments string) model.Part {
	return model.Part{ToolCall: &model.ToolCall{ID: id, Function: model.Function{Name: name, Arguments: arguments}}}
}

func results(calls ...model.Part) []model.Message {
	var out []model.Message
	for _, c := range calls {
		m := model.TextMessage(model.ToolRole, "of "+c.ToolCall.Function.Name)
		m.ToolCall = c.ToolCall
		out = append(out, m)
	}
	return out
}

func TestQ45OnlyTheUserMessageOfNoChatIsLeftOut(t *testing.T) {
	empty := func(role model.Role) model.Message { return model.TextMessage(role, "{}") }
	tests := map[string]struct {
		message model.Message
		chat    bool
		sent    bool
	}{
		"user":            {empty(model.User), false, false},
		"user with space": {model.TextMessage(model.User, " {} \n"), false, false},
		"user of a chat":  {empty(model.User), true, true},
		"tool":            {empty(model.ToolRole), false, true},
		"assistant":       {empty(model.Assistant), false, true},
		"system":          {empty(model.System), false, true},
		"empty user":      {model.TextMessage(model.User, ""), false, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := model.WireMessages(model.Request{Messages: []model.Message{test.message}, Chat: test.chat}, "x")
			if sent := len(got) == 1; sent != test.sent {
				t.Errorf("sent: %v", sent)
			}
		})
	}
}

func TestPromptParameterIsSentAsItsText(t *testing.T) {
	for text, want := range map[string]string{
		`{"defaultPromptParameter":"do it"}`:         "do it",
		`{ "defaultPromptParameter" : "a\nb" }`:      "a\nb",
		`{"defaultPromptParameter":""}`:              `{"defaultPromptParameter":""}`,
		`{"defaultPromptParameter":7}`:               `{"defaultPromptParameter":7}`,
		`{"defaultPromptParameter":"a","other":"b"}`: `{"defaultPromptParameter":"a","other":"b"}`,
		`{"defaultPromptParameter":"a"`:              `{"defaultPromptParameter":"a"`,
		` {"defaultPromptParameter":"a"}`:            ` {"defaultPromptParameter":"a"}`,
		`say {"defaultPromptParameter":"a"} to me`:   `say {"defaultPromptParameter":"a"} to me`,
		`{"x":"defaultPromptParameter"}`:             `{"x":"defaultPromptParameter"}`,
	} {
		m := model.TextMessage(model.User, text)
		if got := model.WireMessages(model.Request{Messages: []model.Message{m}}, "x")[0].Text; got != want {
			t.Errorf("%s is sent as %s", text, got)
		}
		if m.Text() != text {
			t.Errorf("the message itself changed to %s", m.Text())
		}
	}
}

func TestImageLinesAtTheEndBecomeImages(t *testing.T) {
	const a, b = "data:image/png;base64,AAAA", "data:image/png;base64,BBBB"
	for text, want := range map[string]struct {
		text   string
		images []string
	}{
		"look\n" + a + "\n" + b: {"look", []string{a, b}},
		a:                       {"", []string{a}},
		a + "\nlook":            {a + "\nlook", nil},
		"see " + a:              {"see " + a, nil},
		"x\n" + a + "\n":        {"x\n" + a + "\n", nil},
		a + "\nx\n" + b:         {a + "\nx", []string{b}},
	} {
		got := model.WireMessages(model.Request{Messages: []model.Message{model.TextMessage(model.User, text)}}, "x")[0]
		if got.Text != want.text || strings.Join(got.Images, " ") != strings.Join(want.images, " ") {
			t.Errorf("%q: got %q with %q", text, got.Text, got.Images)
		}
	}
}

func TestForeignReasoningIsLeftOut(t *testing.T) {
	m := model.TextMessage(model.Assistant, "x")
	m.Reasoning = []model.Reasoning{{Provider: "a", Text: "1"}, {Provider: "b", Text: "2"}, {Provider: "a", Text: "3"}}
	got := model.WireMessages(model.Request{Messages: []model.Message{m}}, "a")[0].Reasoning
	if !reflect.DeepEqual(got, []model.Reasoning{{Provider: "a", Text: "1"}, {Provider: "a", Text: "3"}}) {
		t.Errorf("got %+v", got)
	}
}

func TestT10Q11CallIDsAreFilledAndUnique(t *testing.T) {
	one, two, again := call("a", "one", "{}"), call("a", "two", "{}"), call("a", "one", "{}")
	none, noneToo := call("", "three", "{}"), call("", "three", "{}")
	messages := []model.Message{{Role: model.Assistant, Content: []model.Part{one, two, none, noneToo}}}
	messages = append(messages, results(one, two, none, noneToo)...)
	messages = append(messages, model.Message{Role: model.Assistant, Content: []model.Part{again}})
	messages = append(messages, results(again)...)

	before, _ := json.Marshal(messages)
	got := model.WireMessages(model.Request{Messages: messages}, "x")
	if after, _ := json.Marshal(messages); string(after) != string(before) {
		t.Error("the messages were changed")
	}
	hash := model.CallID(none.ToolCall.Function)
	asked := []string{}
	answered := []string{}
	for _, w := range got {
		for _, c := range w.Calls {
			asked = append(asked, c.ID)
		}
		if w.Role == model.ToolRole {
			answered = append(answered, w.CallID)
		}
	}
	want := []string{"a", "a_2", hash, hash + "_2", "a_3"}
	if !reflect.DeepEqual(asked, want) || !reflect.DeepEqual(answered, want) {
		t.Errorf("asked %q, answered %q, want %q", asked, answered, want)
	}
	if len(hash) != len("call_12345678") || hash == model.CallID(model.Function{Name: "three", Arguments: "{ }"}) {
		t.Errorf("invented id %q", hash)
	}
}

func TestT10InventedNamesAreSentInAFormThatProvidersTake(t *testing.T) {
	for name, want := range map[string]string{
		"read": "read", "sys.read": "sys_read", "": "unnamed", "löschen\x1b": "l_schen_", strings.Repeat("n", 70): strings.Repeat("n", 64),
	} {
		call := model.ToolCall{ID: "c", Function: model.Function{Name: name, Arguments: "{}"}}
		req := model.Request{Messages: []model.Message{
			{Role: model.Assistant, Content: []model.Part{{ToolCall: &call}}}, {Role: model.ToolRole, ToolCall: &call},
		}}
		out := model.WireMessages(req, "p")
		if got := out[0].Calls[0].Function.Name; got != want {
			t.Errorf("call %q is sent as %q, not %q", name, got, want)
		}
		if got := out[1].CallName; got != want {
			t.Errorf("the answer to %q is sent as %q, not %q", name, got, want)
		}
		if call.Function.Name != name {
			t.Errorf("the name %q in the record was changed", name)
		}
	}
}

func TestAnAnswerWithoutItsCallKeepsItsID(t *testing.T) {
	lone := results(call("z", "x", ""))[0]
	if got := model.WireMessages(model.Request{Messages: []model.Message{lone}}, "x")[0]; got.CallID != "z" || got.CallName != "x" {
		t.Errorf("got %+v", got)
	}
}

// FuzzWireMessages converts conversations of foreign text: answers must name a call that was asked.
func FuzzWireMessages(f *testing.F) {
	f.Add([]byte(`[{"role":"user","content":[{"text":"{}"}]},{"role":"assistant","content":[{"toolCall":{"id":"a","function":{"name":"n"}}}]},{"role":"tool","toolCall":{"id":"a","function":{"name":"n"}},"content":[{"text":"x"}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var messages []model.Message
		if json.Unmarshal(data, &messages) != nil {
			return
		}
		used := map[string]bool{}
		for _, w := range model.WireMessages(model.Request{Messages: messages}, "x") {
			for _, c := range w.Calls {
				if c.ID == "" || used[c.ID] {
					t.Errorf("id %q is empty or used twice", c.ID)
				}
				used[c.ID] = true
			}
		}
	})
}

func TestR07CleanKeepsOneBoundedLine(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                       "plain",
		" two\r\n\tlines ":            "two lines",
		"a\x00b\x07c\x7f":             "abc",
		"\x1b]0;title\x07x":           "]0;titlex",
		"c1 \u0085\u009b31m":          "c1 31m",
		"bidi \u202e\u2066\u200bdone": "bidi done",
		"bad \xff utf8":               "bad \uFFFD utf8",
		"日本 🎉":                        "日本 🎉",
	} {
		if got := model.Clean(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if n := len([]rune(model.Clean(strings.Repeat("é", 1<<20)))); n > 2001 {
		t.Errorf("%d runes are left", n)
	}
}

// BenchmarkWireMessages converts conversations in which each call has the same id, as servers give
// that count the calls of each reply from the start. Budget: the cost of a message does not grow.
func BenchmarkWireMessages(b *testing.B) {
	for _, rounds := range []int{100, 10_000} {
		b.Run(strconv.Itoa(rounds), func(b *testing.B) {
			var messages []model.Message
			for range rounds {
				c := call("call_1", "ls", `{"dir":"."}`)
				messages = append(messages, model.Message{Role: model.Assistant, Content: []model.Part{c}})
				messages = append(messages, results(c)...)
			}
			for b.Loop() {
				model.WireMessages(model.Request{Messages: messages, Chat: true}, "openai")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(messages)), "ns/message")
		})
	}
}
