package text

import (
	"strings"
	"testing"
)

func TestShortHash(t *testing.T) {
	long := strings.Repeat("7ad5e1f0", 8)
	for in, want := range map[string]string{
		"balance#" + long: "balance#7ad5e1f0", "balance#" + long + "(who=me)": "balance#7ad5e1f0(who=me)",
		"sys.exec(echo #face)": "sys.exec(echo #face)", "sys.exec(echo #123456789)": "sys.exec(echo #123456789)", "plain": "plain", "a#": "a#",
	} {
		if got := ShortHash(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
