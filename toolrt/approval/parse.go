package approval

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// RuleError says what is wrong with the text of a rule and where.
type RuleError struct {
	Text   string
	Column int // in characters, from 1
	Msg    string
}

func (e *RuleError) Error() string {
	return fmt.Sprintf("rule %q, column %d: %s", e.Text, e.Column, e.Msg)
}

// ParseRule reads the text of a rule, as [Rule.String] writes it. Errors are [*RuleError].
func ParseRule(effect Effect, text string, scope Scope) (Rule, error) {
	p := &ruleParser{text: text}
	r := Rule{Effect: effect, Scope: scope}
	if err := p.rule(&r); err != nil {
		return Rule{}, err
	}
	return r, nil
}

// ruleParser reads a rule from left to right; pos is a byte offset into text.
type ruleParser struct {
	text string
	pos  int
}

func (p *ruleParser) fail(at int, format string, a ...any) error {
	return &RuleError{p.text, utf8.RuneCountInString(p.text[:min(at, len(p.text))]) + 1, fmt.Sprintf(format, a...)}
}

func (p *ruleParser) spaces() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
}

func (p *ruleParser) rule(r *Rule) error {
	if !utf8.ValidString(p.text) {
		return p.fail(0, "not valid UTF-8")
	}
	p.spaces()
	if err := p.name(r); err != nil {
		return err
	}
	if p.pos < len(p.text) && p.text[p.pos] == '#' {
		start := p.pos + 1
		for p.pos = start; p.pos < len(p.text) && isHash(p.text[p.pos]); p.pos++ {
		}
		if p.pos == start {
			return p.fail(start, "a hash (letters and digits) must follow #")
		}
		if r.Prefix {
			return p.fail(start-1, "a hash needs the whole name of a tool")
		}
		r.Script = p.text[start:p.pos]
	}
	p.spaces()
	if p.pos == len(p.text) {
		return nil
	}
	if p.text[p.pos] != '(' {
		return p.fail(p.pos, "expected ( or the end")
	}
	end := len(strings.TrimRight(p.text, " \t")) - 1
	if p.text[end] != ')' || end == p.pos {
		return p.fail(len(p.text), "the ) is missing")
	}
	p.pos++
	return p.conditions(r, end)
}

func isHash(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// name reads the tool's name: quoted, or up to # or the opening parenthesis.
func (p *ruleParser) name(r *Rule) error {
	start := p.pos
	if p.pos < len(p.text) && p.text[p.pos] == '"' {
		s, err := p.quoted()
		if err != nil {
			return err
		}
		if r.Tool = s; s == "" {
			return p.fail(start, "the name of a tool is missing")
		}
		return nil
	}
	for p.pos < len(p.text) && !strings.ContainsRune(`#(),"`, rune(p.text[p.pos])) {
		p.pos++
	}
	name := strings.TrimRight(p.text[start:p.pos], " \t")
	if name == "" {
		return p.fail(start, "the name of a tool is missing")
	}
	r.Tool, r.Prefix = strings.CutSuffix(name, "*")
	if i := strings.IndexByte(r.Tool, '*'); i >= 0 {
		return p.fail(start+i, "* may only end a name; quote a name that holds it")
	}
	if !r.Prefix && !bareName.MatchString(r.Tool) || strings.ContainsAny(r.Tool, "\t\n\r") {
		return p.fail(start, "quote this name")
	}
	return nil
}

// quoted reads a JSON string.
func (p *ruleParser) quoted() (string, error) {
	start := p.pos
	for i := start + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			var s string
			if err := json.Unmarshal([]byte(p.text[start:i+1]), &s); err != nil {
				return "", p.fail(start, "not a proper quoted text (JSON string)")
			}
			p.pos = i + 1
			return s, nil
		}
	}
	return "", p.fail(start, "the closing quote is missing")
}

// conditions reads what stands between the parentheses; end is where the closing one stands.
func (p *ruleParser) conditions(r *Rule, end int) error {
	shell := !r.Prefix && isShell(r.Tool)
	for {
		p.spaces()
		if p.pos >= end {
			return p.fail(p.pos, "a condition is missing")
		}
		var c Condition
		var err error
		if shell && !strings.HasPrefix(p.text[p.pos:end], "dir:") {
			c, err = p.command(end)
		} else {
			c, err = p.condition(end, shell)
		}
		if err != nil {
			return err
		}
		r.Args = append(r.Args, c)
		p.spaces()
		if p.pos == end {
			return nil
		}
		if p.text[p.pos] != ',' {
			return p.fail(p.pos, "expected , or )")
		}
		p.pos++
	}
}

// command reads the pattern of a shell tool: all the rest.
func (p *ruleParser) command(end int) (Condition, error) {
	text := strings.TrimRight(p.text[p.pos:end], " \t")
	pat, off, msg := parsePattern(text)
	if msg != "" {
		return Condition{}, p.fail(p.pos+off, "%s", msg)
	}
	p.pos = end
	return Condition{Op: Command, Value: pat.String(), words: pat}, nil
}

// condition reads one of key=value, key~glob, key=~regexp, path:, host: and dir:.
func (p *ruleParser) condition(end int, shell bool) (Condition, error) {
	start := p.pos
	key, err := p.key(end)
	if err != nil {
		return Condition{}, err
	}
	p.spaces()
	op, ok := p.operator(key, end)
	if !ok {
		return Condition{}, p.fail(p.pos, "expected one of = ~ =~ after %q, or path:, host:", key)
	}
	if shell != (op == Folder) {
		return Condition{}, p.fail(start, "a rule for commands takes dir: and a command, nothing else does")
	}
	p.spaces()
	at := p.pos
	value, quoted, err := p.value(end)
	if err != nil {
		return Condition{}, err
	}
	c := Condition{Op: op, Key: key, Value: value}
	if op == Path || op == Host || op == Folder {
		c.Key = ""
	}
	if op == Equals && !quoted && numRange.MatchString(value) {
		c.Op = Range
	}
	if msg := c.compile(); msg != "" {
		return Condition{}, p.fail(at, "%s", msg)
	}
	return c, nil
}

func (p *ruleParser) key(end int) (string, error) {
	if p.text[p.pos] == '"' {
		return p.quoted()
	}
	start := p.pos
	for p.pos < end && bareKey.MatchString(p.text[p.pos:p.pos+1]) {
		p.pos++
	}
	if p.pos == start {
		return "", p.fail(start, "the name of an argument is missing")
	}
	return p.text[start:p.pos], nil
}

func (p *ruleParser) operator(key string, end int) (Op, bool) {
	rest := p.text[p.pos:end]
	switch {
	case strings.HasPrefix(rest, "=~"):
		p.pos += 2
		return Regexp, true
	case strings.HasPrefix(rest, "="):
		p.pos++
		return Equals, true
	case strings.HasPrefix(rest, "~"):
		p.pos++
		return Glob, true
	case strings.HasPrefix(rest, ":"):
		op, ok := map[string]Op{"path": Path, "host": Host, "dir": Folder}[key]
		p.pos++
		return op, ok
	}
	return 0, false
}

// value reads a quoted text, or all up to a comma.
func (p *ruleParser) value(end int) (text string, quoted bool, err error) {
	if p.pos < end && p.text[p.pos] == '"' {
		text, err = p.quoted()
		if err == nil && p.pos > end {
			err = p.fail(end, "the closing quote is missing")
		}
		return text, true, err
	}
	start := p.pos
	for p.pos < end && p.text[p.pos] != ',' {
		p.pos++
	}
	return strings.TrimRight(p.text[start:p.pos], " \t"), false, nil
}

// compile prepares a condition for matching; it returns what is wrong with it.
func (c *Condition) compile() string {
	switch c.Op {
	case Glob:
		c.re = globText(c.Value)
	case Regexp:
		// compiled alone first: "a)|(b" must not reach out of the group
		if _, err := regexp.Compile(c.Value); err != nil {
			return "not a regular expression: " + err.Error()
		}
		c.re = regexp.MustCompile(`^(?s:` + c.Value + `)$`)
	case Range:
		m := numRange.FindStringSubmatch(c.Value)
		c.low, _ = strconv.ParseFloat(m[1], 64)
		c.high, _ = strconv.ParseFloat(m[2], 64)
		if c.low > c.high {
			return "the range is empty"
		}
	case Path, Folder:
		if c.Value == "" {
			return "a path is missing"
		}
	case Host:
		if _, ok := parseHost(c.Value); !ok {
			return "expected [scheme://]name[:port]"
		}
	}
	return ""
}

// globText compiles a glob over a whole text, in which * also stands for slashes.
func globText(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`^(?s:`)
	for _, r := range glob {
		switch r {
		case '*':
			b.WriteString(`.*`)
		case '?':
			b.WriteString(`.`)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`)$`)
	return regexp.MustCompile(b.String())
}
