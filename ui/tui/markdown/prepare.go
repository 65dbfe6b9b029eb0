package markdown

import (
	"html"
	"regexp"
	"strings"

	"parley/ui/tui/text"
)

// Stand-ins for signs that the Markdown parser must not see: they are put back after drawing. The
// code points are private ones; where a text holds them itself they are replaced.
const (
	standInAmp   = '\uf8fe'
	standInLess  = '\uf8fd'
	standInColon = '\uf8fc'
	standIns     = string(standInAmp) + string(standInLess) + string(standInColon)
)

var (
	prepared = strings.NewReplacer(string(standInAmp), "\ufffd", string(standInLess), "\ufffd", string(standInColon), "\ufffd")
	restored = strings.NewReplacer(string(standInAmp), "&", string(standInLess), "<", string(standInColon), ":")
	entity   = regexp.MustCompile(`&(#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});?`)
	html1    = regexp.MustCompile(`<[A-Za-z/!?]`)
	autolink = regexp.MustCompile(`^<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+)>`)
)

// prepare makes one line of source safe to parse and draw: cleaned, tabs as spaces, HTML as plain
// text, and no entity that would turn into a control or hidden sign once decoded.
func prepare(line string) string {
	line = text.Expand(text.Clean(line), 4)
	if strings.ContainsAny(line, standIns) {
		line = prepared.Replace(line)
	}
	if strings.IndexByte(line, '&') >= 0 {
		line = entity.ReplaceAllStringFunc(line, func(e string) string {
			decoded := html.UnescapeString(e)
			if decoded == text.Clean(decoded) && !strings.ContainsAny(decoded, "\n\t"+standIns) {
				return e
			}
			return string(standInAmp) + e[1:]
		})
	}
	if strings.IndexByte(line, '<') >= 0 {
		line = hideHTML(line)
	}
	return line
}

// hideHTML replaces each "<" that would begin a tag, a comment or the like.
func hideHTML(line string) string {
	var b strings.Builder
	for {
		at := html1.FindStringIndex(line)
		if at == nil {
			b.WriteString(line)
			return b.String()
		}
		b.WriteString(line[:at[0]])
		if autolink.MatchString(line[at[0]:]) {
			b.WriteByte('<')
		} else {
			b.WriteRune(standInLess)
		}
		line = line[at[0]+1:]
	}
}
