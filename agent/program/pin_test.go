package program

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestProgramJSON(t *testing.T) {
	p, _ := loadFiles(t, "app.gpt", "-- app.gpt --\nName: app\nTools: b, sys.read, x from lib/lib.gpt as y\nTemperature: 0.5\nParam: q: <what>\n\nhi\n---\nName: b\n#!x\n-- lib/lib.gpt --\nName: x\nMeta Data: k: v\nx")
	first, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := FromJSON(first)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, back) {
		t.Errorf("got %s\nwant %s", marshal(back), marshal(p))
	}
	second, err := back.JSON()
	if err != nil || string(first) != string(second) {
		t.Errorf("the bytes differ:\n%s\n%s", first, second)
	}
	// The form of 1.13 is read as well.
	if back, err = FromJSON(marshal(p)); err != nil || !reflect.DeepEqual(p, back) {
		t.Errorf("from 1.13: %v %s", err, marshal(back))
	}
	for _, bad := range []string{
		"", "{}", `{"entryToolId":"a"}`, `{"entryToolId":"a","toolSet":{"a":null}}`, `{"entryToolId":"a","toolSet":{"a":{"id":"b"}}}`,
		`{"entryToolId":"a","toolSet":{"a":{"id":"a","toolMapping":{"x":[{"toolID":"gone"}]}}}}`,
	} {
		if _, err := FromJSON([]byte(bad)); err == nil {
			t.Errorf("%s must be refused", bad)
		}
	}
}

// TestPinnedSizeIsLinear holds the size of a pinned program of many tools in one file.
func TestPinnedSizeIsLinear(t *testing.T) {
	size := func(n int) int {
		data, err := loadText(t, manyTools(n)).JSON()
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	if small, large := size(100), size(1000); large > 12*small {
		t.Errorf("%d bytes for 100 tools, %d for 1000", small, large)
	}
}

// manyTools is a program of n tools that are all reachable.
func manyTools(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Name: tool %d\nDescription: the tool of that number\nTools: tool %d, tool %d, sys.read\nParam: a: first\n\nDo the work\nof number %d.\n---\n", i, (i+1)%n, i*7%n, i)
	}
	return b.String()
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		src := []byte(manyTools(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, _, err := LoadSource(b.Context(), "f.gpt", src, Options{Dir: b.TempDir(), Builtins: testBuiltins})
				if err != nil || len(p.ToolSet) != n+1 {
					b.Fatal(err)
				}
			}
		})
	}
}
