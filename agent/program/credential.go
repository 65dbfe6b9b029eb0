package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/shlex"
)

// ParseCredential reads the reference of a credential tool as [Program.Credentials] returns it:
// TARGET [as ALIAS] [checked with VALUE] [with V as P and …] (5.10), in this order and with the
// quoting rules of a shell after the target. name is the credential's name: the alias, else the
// target's text, which may hold spaces and "from" (Q43). alias is "" when there is none. An
// argument written ${x} is replaced by x of the input if that is a JSON object that has it, as
// text (Q15); otherwise it stays as it is.
func ParseCredential(ref Reference, input string) (name, alias, checked string, args map[string]string, err error) {
	text := strings.TrimSpace(ref.Reference)
	rest := strings.TrimSpace(ref.Arg)
	name = strings.TrimSpace(strings.TrimSuffix(text, rest))
	words, err := shlex.Split(rest)
	if err != nil {
		return "", "", "", nil, fmt.Errorf("credential %q: %w", text, err)
	}
	c := credentialWords{words: words}
	alias, checked, args, err = c.parse()
	if err != nil {
		return "", "", "", nil, fmt.Errorf("credential %q: %w", text, err)
	}
	if alias != "" {
		name = alias
	}
	values := objectKeys(input)
	for param, v := range args {
		key, ok := strings.CutPrefix(v, "${")
		if key, closed := strings.CutSuffix(key, "}"); ok && closed {
			if raw, found := values[key]; found {
				args[param] = valueText(raw)
			}
		}
	}
	return name, alias, checked, args, nil
}

// credentialWords are the words after the target that are not read yet.
type credentialWords struct{ words []string }

func (c *credentialWords) take(word string) bool {
	if len(c.words) == 0 || c.words[0] != word {
		return false
	}
	c.words = c.words[1:]
	return true
}

func (c *credentialWords) next(missing string) (string, error) {
	if len(c.words) == 0 {
		return "", errors.New(missing)
	}
	word := c.words[0]
	c.words = c.words[1:]
	return word, nil
}

func (c *credentialWords) parse() (alias, checked string, args map[string]string, err error) {
	if c.take("as") {
		if alias, err = c.next("expected alias after 'as'"); err != nil {
			return "", "", nil, err
		}
	}
	if c.take("checked") {
		if !c.take("with") {
			return "", "", nil, errors.New("expected 'checked with some_value'")
		}
		if checked, err = c.next("expected 'checked with some_value'"); err != nil {
			return "", "", nil, err
		}
	}
	if len(c.words) == 0 {
		return alias, checked, nil, nil
	}
	if !c.take("with") {
		return "", "", nil, fmt.Errorf("expected 'with' but got %s", c.words[0])
	}
	args, err = c.parseArgs()
	return alias, checked, args, err
}

// parseArgs reads V as P { and V as P }.
func (c *credentialWords) parseArgs() (map[string]string, error) {
	args := map[string]string{}
	for missing := "expected args after 'with'"; ; missing = "expected an arg after 'and'" {
		v, err := c.next(missing)
		if err != nil {
			return nil, err
		}
		if !c.take("as") {
			return nil, fmt.Errorf("expected 'as' after %s", v)
		}
		param, err := c.next("expected arg name after 'as'")
		if err != nil {
			return nil, err
		}
		args[param] = v
		if len(c.words) == 0 {
			return args, nil
		}
		if !c.take("and") {
			return nil, fmt.Errorf("expected 'and' but got %s", c.words[0])
		}
	}
}

// valueText writes a JSON value as text (6.2): strings as they are, numbers as they are written,
// objects and arrays compact with sorted keys.
func valueText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && !bytes.Equal(raw, []byte("null")) {
		return s
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	return string(marshal(v))
}
