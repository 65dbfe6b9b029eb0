package toolrt

import "testing"

func TestSeenNoticesChanges(t *testing.T) {
	var s Seen
	one, two := Sum{1}, Sum{2}
	if s.Changed("/f", one) || s.Knows("/f") {
		t.Error("a file that was never seen counts as changed")
	}
	s.Note("/f", one)
	if s.Changed("/f", one) || !s.Changed("/f", two) || s.Changed("/g", two) || !s.Knows("/f") {
		t.Error("a change was not told from none")
	}
	s.Note("/f", two)
	if s.Changed("/f", two) || !s.Changed("/f", one) {
		t.Error("what was seen last does not count")
	}
	var none *Seen
	none.Note("/f", one)
	if none.Changed("/f", two) || none.Knows("/f") {
		t.Error("nil remembers something")
	}
}

func TestNamesOutput(t *testing.T) {
	for message, want := range map[string]bool{
		"a\n[... 3 lines, 40 bytes left out of 9 lines, 90 bytes; saved as t1_1_0, read it with readOutput ...]\nb": true,
		"[... 3 lines, 40 bytes left out of 9 lines, 90 bytes; saved as t1_1.2_0, first and last part only ...]":    true,
		"[... 3 lines, 40 bytes left out of 9 lines, 90 bytes; saved as t1_1_0 ...]":                                true,
		"a\n[... 3 lines, 40 bytes left out of 9 lines, 90 bytes; the rest was not kept ...]\nb":                    false,
		`{"error":"it took too long","kind":"timeout","full_output_id":"t1_1_0"}`:                                   true,
		`{"error":"it took too long","kind":"timeout"}`:                                                             false,
		"the text was left out of the page; saved as draft":                                                         false,
		"": false,
	} {
		if got := NamesOutput(message); got != want {
			t.Errorf("NamesOutput(%q) = %t", message, got)
		}
	}
}
