package credential

import (
	"regexp"
	"sync"
)

// patterns find what looks like a secret although nobody said that it is one (R68). They compile at
// their first use.
var patterns = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?s)(-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----).*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`),
		regexp.MustCompile(`()\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9_-]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{30,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*)()`),
		regexp.MustCompile(`(?i)(\b(?:proxy-)?authorization"?\s*[:=]\s*"?(?:(?:basic|bearer|token)\s+)?)[^\s"',;]{6,}()`),
		regexp.MustCompile(`(\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"']{1,100}:)[^\s/@"']+(@)`),
		regexp.MustCompile(`(?i)(\b[a-z0-9_.-]*(?:secret|password|passwd|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token)"?\s*[=:]\s*"?)[^\s"',;&‹]{4,}()`),
	}
})

// MaskPatterns replaces what looks like a secret: private keys, tokens by their usual beginnings,
// authorization headers, passwords in addresses, and values assigned to names such as secret. It is
// for logs; a text that a model works with would be broken by it.
func MaskPatterns(text string) string {
	for _, p := range patterns() {
		text = p.ReplaceAllString(text, "${1}‹secret›${2}")
	}
	return text
}
