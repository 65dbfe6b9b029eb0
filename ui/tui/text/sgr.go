package text

import (
	"strconv"
	"strings"
)

// CleanSGR is [Clean] for the output of commands: colours and other looks (SGR) stay, all other
// sequences are shown. Each line is whole by itself: what is on at its end is reset there and set
// again on the next one. Concealed and blinking text is shown plainly.
func CleanSGR(s string) string { return cleanSGR(s, true) }

// StripSGR is [CleanSGR] for terminals without colour: colours are left out without a trace.
func StripSGR(s string) string { return cleanSGR(s, false) }

func cleanSGR(s string, keep bool) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return Clean(s)
	}
	var b strings.Builder
	b.Grow(len(s) + 32)
	var on pen
	for line := range strings.SplitAfterSeq(s, "\n") {
		line, lf := strings.CutSuffix(line, "\n")
		line = strings.TrimSuffix(line, "\r")
		if keep {
			b.WriteString(on.start())
		}
		for line != "" {
			before, params, after, found := nextSGR(line)
			b.WriteString(Clean(before))
			line = after
			if !found {
				continue
			}
			if seq := on.add(params); keep {
				b.WriteString(seq)
			}
		}
		if keep && on.set != "" {
			b.WriteString(reset)
		}
		if lf {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

const reset = "\x1b[m"

// nextSGR finds the first "ESC [ params m" of s. Without one, before is all of s.
func nextSGR(s string) (before, params, after string, found bool) {
	for from := 0; ; {
		i := strings.Index(s[from:], "\x1b[")
		if i < 0 {
			return s, "", "", false
		}
		i += from
		j := i + 2
		for j < len(s) && (s[j] >= '0' && s[j] <= '9' || s[j] == ';' || s[j] == ':') {
			j++
		}
		if j < len(s) && s[j] == 'm' {
			return s[:i], s[i+2 : j], s[j+1:], true
		}
		from = i + 2
	}
}

// pen remembers what is on, as the sequences that set it.
type pen struct{ set string }

// maxPen bounds what a pen remembers: a program that sets looks without ever resetting them does
// not make every later line longer.
const maxPen = 128

func (p *pen) start() string { return p.set }

// add takes the parameters of one SGR sequence and returns the sequence to write, without
// parameters that hide text.
func (p *pen) add(params string) string {
	kept := keepLooks(params)
	if len(kept) == 0 {
		return ""
	}
	seq := "\x1b[" + strings.Join(kept, ";") + "m"
	for i, k := range kept {
		if k == "0" { // all off: what follows it is what is on
			p.set = ""
			if rest := kept[i+1:]; len(rest) > 0 {
				p.set = "\x1b[" + strings.Join(rest, ";") + "m"
			}
			return seq
		}
	}
	if len(p.set)+len(seq) > maxPen {
		p.set = ""
	}
	p.set += seq
	return seq
}

// keepLooks returns the parameters that change colours and weight only.
func keepLooks(params string) []string {
	var kept []string
	fields := strings.Split(params, ";")
	if len(fields) > 32 {
		return nil
	}
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		base, _, sub := strings.Cut(f, ":")
		n, err := strconv.Atoi(base)
		if base == "" && !sub {
			n, err, f = 0, nil, "0"
		}
		if err != nil {
			continue
		}
		switch {
		case (n == 38 || n == 48 || n == 58) && sub:
			kept = append(kept, f)
		case n == 38 || n == 48 || n == 58:
			k := colorFields(fields[i:])
			if k == 0 {
				return kept
			}
			kept = append(kept, fields[i:i+k]...)
			i += k - 1
		case n == 4 && sub, !sub && harmless(n):
			kept = append(kept, f)
		}
	}
	return kept
}

// colorFields is how many fields "38;5;n" or "38;2;r;g;b" takes, 0 when it is cut off.
func colorFields(f []string) int {
	n := 0
	if len(f) > 1 {
		switch f[1] {
		case "5":
			n = 3
		case "2":
			n = 5
		}
	}
	if n == 0 || len(f) < n {
		return 0
	}
	for _, v := range f[:n] {
		if c, err := strconv.Atoi(v); err != nil || c > 255 {
			return 0
		}
	}
	return n
}

// harmless reports whether an SGR parameter neither hides text (8) nor blinks (5, 6).
func harmless(n int) bool {
	return n <= 4 || n == 7 || n == 9 || n >= 21 && n <= 27 || n == 29 || n >= 30 && n <= 49 ||
		n == 53 || n == 55 || n == 59 || n >= 90 && n <= 107
}
