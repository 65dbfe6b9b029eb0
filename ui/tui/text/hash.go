package text

import "strings"

// hashShown is how many digits of a hash are enough for a person to tell it from others.
const hashShown = 8

// ShortHash leaves of each hash of a rule's text ("balance#7ad5...") its first digits.
func ShortHash(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "#")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
		if n < 0 {
			n = len(after)
		}
		b.WriteString("#" + after[:min(n, hashShown)])
		if n < 2*hashShown { // no hash: all of it counts
			b.WriteString(after[min(n, hashShown):n])
		}
		s = after[n:]
	}
}
