package program

import (
	"fmt"
	"testing"
)

func TestMapArgs5_9(t *testing.T) {
	target := func(params ...string) *Tool {
		all := map[string]string{}
		for _, p := range params {
			all[p] = ""
		}
		return &Tool{ID: "f:t", Arguments: paramSchema(all)}
	}
	empty := &Tool{ID: "f:t", Arguments: []byte(`{"type":"object","properties":{}}`)}
	const prefix = "can not assign arg to context because target tool [f:t] "
	const input = `{"x":1.50,"Big":{"b":1,"a":[ 2 ]},"s":"t","n":null}`
	for _, tt := range []struct {
		target     *Tool
		arg, input string
		want       string
		err        string
	}{
		{target("p"), "", input, "", ""},
		{target("p"), " * ", input, input, ""},
		{target("p"), "*", "plain", "plain", ""},
		{target(), "v as p", input, "", ""},
		{&Tool{}, "*", input, input, ""},
		{target("p"), "v", input, `{"p":"v"}`, ""},
		{target("p"), "v as P", input, `{"p":"v"}`, ""},
		{target("City", "q"), "${x} as city and $BIG as q", input, `{"City":1.50,"q":{"b":1,"a":[2]}}`, ""},
		{target("p"), "${gone}", input, `{"p":null}`, ""},
		{target("p"), "$n as p", input, `{"p":null}`, ""},
		{target("p"), "$s", "no json", `{"p":null}`, ""},
		{target("p"), "$s", "[1]", `{"p":null}`, ""},
		{target("p", "q"), `"a  b" as p and 'c d' as q`, input, `{"p":"a  b","q":"c d"}`, ""},
		{target("p", "q"), "a as p b as q", input, `{"p":"a","q":"b"}`, ""},
		{target("foo"), "a b as foo", input, `{"foo":"b"}`, ""},
		{target("p"), "and", input, "", ""},
		{target("p"), "as p", input, "", ""},
		{target("p"), "<&> as p", input, `{"p":"<&>"}`, ""},
		{target("p", "q"), "v", input, "", prefix + `does not have one args. You must use "as" syntax to map the arg to a key [p q]`},
		{target("p"), "v as R", input, "", prefix + "does not args [r]"},
		{empty, "v", input, "", prefix + "has no defined args"},
		{target("p"), "1 as", input, "", prefix + `has invalid args "1 as": nothing after "as"`},
		{target("p"), `"1`, input, "", prefix + `has invalid args "\"1": EOF found when expecting closing quote`},
	} {
		got, err := MapArgs(tt.target, tt.arg, tt.input)
		if got != tt.want || fmt.Sprint(err) != tt.err && !(err == nil && tt.err == "") {
			t.Errorf("%q of %s: got %s, %v; want %s, %s", tt.arg, tt.input, got, err, tt.want, tt.err)
		}
	}
}
