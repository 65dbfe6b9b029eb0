package approval

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Effect is what a rule or a verdict says of a call.
type Effect int

// The effects, from mild to strict: of several that hold for the parts of a call the highest wins.
// The zero value is Allow; a Rule is always built with an explicit effect.
const (
	Allow Effect = iota
	Ask
	Deny
)

func (e Effect) String() string {
	switch e {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	}
	return fmt.Sprintf("effect(%d)", int(e))
}

// MarshalText writes the effect as its word.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads the word.
func (e *Effect) UnmarshalText(b []byte) error {
	for _, v := range []Effect{Allow, Ask, Deny} {
		if v.String() == string(b) {
			*e = v
			return nil
		}
	}
	return fmt.Errorf("unknown effect %q: use allow, ask or deny", b)
}

// Scope says where a rule comes from and how long it lives. Of two equally specific rules the one
// with the lower scope decides (A2).
type Scope int

// The scopes, nearest first.
const (
	Once    Scope = iota // one answer; whoever adds it removes it
	Flag                 // the command line
	Session              // until the session is closed for good
	Project              // .parley/config.json
	User                 // the user's own config
	Builtin              // parley's own
)

var scopeNames = [...]string{"once", "flag", "session", "project", "user", "builtin"}

func (s Scope) String() string {
	if s >= 0 && int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return fmt.Sprintf("scope(%d)", int(s))
}

// MarshalText writes the scope as its word.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word.
func (s *Scope) UnmarshalText(b []byte) error {
	for i, n := range scopeNames {
		if n == string(b) {
			*s = Scope(i)
			return nil
		}
	}
	return fmt.Errorf("unknown scope %q", b)
}

// Rule allows, asks or denies calls of a tool (A1). Build it with [ParseRule] or take it from
// [Policy.Choices]; it is a value and may be copied.
type Rule struct {
	// ID names the rule within a policy. [Policy.Add] fills it in from scope and text when empty,
	// so that the same rule has the same ID in every process.
	ID     string
	Effect Effect
	// Tool is the tool's canonical name, or the beginning of names when Prefix is set.
	Tool   string
	Prefix bool
	// Script binds the rule to the text of a script tool; empty for none.
	Script string
	// Args must all hold.
	Args  []Condition
	Scope Scope
	// Expires ends the rule; zero is never.
	Expires time.Time
	Creator string // who made it, for lists
	Note    string
}

// Op says how a [Condition] compares.
type Op int

// The comparisons.
const (
	Equals  Op = iota // an argument's text
	Glob              // an argument's text, * and ? anything
	Regexp            // an argument's whole text
	Range             // a number between two bounds, both included
	Path              // the files of a call: ** any depth, * and ? within one name
	Host              // where a request goes: [scheme://]name[:port], *.name
	Command           // a simple command of a shell tool
	Folder            // the folder a shell command runs in; a glob as for Path
)

// Condition is one demand of a rule on a call's arguments.
type Condition struct {
	Op Op
	// Key is the argument, dotted for nested ones; unused by Path, Host, Command and Folder.
	Key   string
	Value string

	low, high float64        // Range
	re        *regexp.Regexp // Regexp, Glob
	words     pattern        // Command
}

// String returns the rule's canonical text without effect and scope. [ParseRule] reads it back.
func (r Rule) String() string {
	var b strings.Builder
	switch {
	case r.Prefix:
		b.WriteString(r.Tool + "*")
	case bareName.MatchString(r.Tool):
		b.WriteString(r.Tool)
	default:
		b.WriteString(quote(r.Tool))
	}
	if r.Script != "" {
		b.WriteString("#" + r.Script)
	}
	if len(r.Args) == 0 {
		return b.String()
	}
	b.WriteByte('(')
	for i, c := range r.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.String())
	}
	b.WriteByte(')')
	return b.String()
}

var (
	bareName  = regexp.MustCompile(`^[^\s"#(),*][^"#(),*]*[^\s"#(),*]$|^[^\s"#(),*]$`)
	barePath  = regexp.MustCompile(`^[A-Za-z0-9_./@+:~*?\-]+$`)
	bareValue = regexp.MustCompile(`^[A-Za-z0-9_./@+:\-]+$`)
	bareKey   = regexp.MustCompile(`^[A-Za-z0-9_.\-]+$`)
	numRange  = regexp.MustCompile(`^(-?[0-9]+(?:\.[0-9]+)?)\.\.(-?[0-9]+(?:\.[0-9]+)?)$`)
)

// String returns the condition as it stands in a rule.
func (c Condition) String() string {
	key := c.Key
	if !bareKey.MatchString(key) {
		key = quote(key)
	}
	bare := func(re *regexp.Regexp) string {
		if re.MatchString(c.Value) {
			return c.Value
		}
		return quote(c.Value)
	}
	switch c.Op {
	case Glob:
		return key + "~" + quote(c.Value)
	case Regexp:
		return key + "=~" + quote(c.Value)
	case Range:
		return key + "=" + c.Value
	case Path:
		return "path: " + bare(barePath)
	case Host:
		return "host: " + bare(barePath)
	case Folder:
		return "dir: " + bare(barePath)
	case Command:
		return c.words.String()
	}
	if numRange.MatchString(c.Value) {
		return key + "=" + quote(c.Value)
	}
	return key + "=" + bare(bareValue)
}

// quote writes s as a JSON string, which is how rules quote.
func quote(s string) string {
	b := new(strings.Builder)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// stableID names a rule by what it says.
func stableID(r Rule) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s", r.Scope, r.Effect, r)
	return r.Scope.String() + ":" + strconv.FormatUint(h.Sum64(), 36)
}

// ruleJSON is the stored form of a rule: its text plus what the text does not say.
type ruleJSON struct {
	ID      string    `json:"id,omitempty"`
	Effect  Effect    `json:"effect"`
	Rule    string    `json:"rule"`
	Scope   Scope     `json:"scope"`
	Expires time.Time `json:"expires,omitzero"`
	Creator string    `json:"creator,omitempty"`
	Note    string    `json:"note,omitempty"`
}

// MarshalJSON writes the rule with its canonical text.
func (r Rule) MarshalJSON() ([]byte, error) {
	return json.Marshal(ruleJSON{r.ID, r.Effect, r.String(), r.Scope, r.Expires, r.Creator, r.Note})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Rule) UnmarshalJSON(b []byte) error {
	var j ruleJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	p, err := ParseRule(j.Effect, j.Rule, j.Scope)
	if err != nil {
		return err
	}
	p.ID, p.Expires, p.Creator, p.Note = j.ID, j.Expires, j.Creator, j.Note
	*r = p
	return nil
}
