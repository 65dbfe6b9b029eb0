package style

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/themes"
)

func load(t *testing.T, name string, o Options) *Set {
	t.Helper()
	theme, err := themes.Load(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return New(theme, o)
}

// styles are all styles of a set by name.
func styles(s *Set) map[string]lipgloss.Style {
	out := map[string]lipgloss.Style{}
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			if st, ok := v.Field(i).Interface().(lipgloss.Style); ok {
				out[v.Type().Field(i).Name] = st
			}
		}
	}
	return out
}

var colour = regexp.MustCompile(`\x1b\[([0-9;]*;)?(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]`)

func TestA01NoColorHasNoColour(t *testing.T) {
	for _, s := range []*Set{load(t, "dark", Options{NoColor: true}), load(t, "light", Options{NoColor: true}), load(t, "mono", Options{})} {
		for name, st := range styles(s) {
			out := st.Render("x")
			if colour.MatchString(out) {
				t.Errorf("%s without colour is %q", name, out)
			}
		}
		if s.Chroma() != nil || s.Markdown().Link.Color != nil {
			t.Error("code or links have colours")
		}
		if ansi.Strip(s.Selection.Render("x")) != "x" || s.Selection.Render("x") == "x" {
			t.Error("a selection cannot be seen")
		}
	}
}

func TestColoursComeFromTheTheme(t *testing.T) {
	s := load(t, "dark", Options{})
	if got := s.Accent.Render("x"); !strings.Contains(got, "38;2;124;183;255") {
		t.Errorf("accent is %q", got)
	}
	if s.Chroma() == nil || s.Markdown().Link.Color == nil {
		t.Error("code or links have no colours")
	}
}

func TestASCIIHasOnlyASCII(t *testing.T) {
	g := load(t, "dark", Options{ASCII: true}).Glyphs
	v := reflect.ValueOf(g)
	for i := range v.NumField() {
		for _, s := range texts(v.Field(i)) {
			for _, r := range s {
				if r > '~' {
					t.Errorf("%s holds %q", v.Type().Field(i).Name, r)
				}
			}
		}
	}
	one := load(t, "dark", Options{}).Glyphs
	for _, s := range append([]string{one.Folded, one.Unfolded, one.Pending, one.Tree, one.Dot, one.Mask, one.Prompt, one.Cursor, one.Up, one.Down, one.BarFull, one.BarEmpty}, one.Spinner...) {
		if ansi.StringWidth(s) != 1 {
			t.Errorf("%q is not one cell", s)
		}
	}
}

func texts(v reflect.Value) []string {
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}
	case reflect.Slice:
		return v.Interface().([]string)
	case reflect.Struct:
		var out []string
		for i := range v.NumField() {
			out = append(out, texts(v.Field(i))...)
		}
		return out
	}
	return nil
}

func TestReducedMotionStandsStill(t *testing.T) {
	if n := len(load(t, "dark", Options{ReducedMotion: true}).Glyphs.Spinner); n != 1 {
		t.Errorf("%d pictures", n)
	}
}

func TestStatesAreTold(t *testing.T) {
	s := load(t, "dark", Options{})
	plain := s.State("//").Render("x")
	for _, word := range []string{"ok", "run", "ASK", "$", "xx", "no"} {
		if s.State(word).Render("x") == plain {
			t.Errorf("%s looks like nothing special", word)
		}
	}
}
