package style

import (
	"charm.land/glamour/v2/ansi"

	"parley/themes"
)

// Markdown returns Glamour's style of running text, tables and headings. Lists, quotes and code
// are laid out by package markdown with the same tokens.
func (s *Set) Markdown() ansi.StyleConfig {
	zero := uint(0)
	yes := true
	text := s.primitive(themes.Text)
	heading := s.primitive(themes.Heading)
	heading.Bold = &yes
	link := s.primitive(themes.Link)
	link.Underline = &yes
	code := s.primitive(themes.CodeString)
	if code.Color == nil { // without colour, code is told by its quotes
		code.Prefix, code.Suffix = "`", "`"
	}
	cfg := ansi.StyleConfig{
		Document:      ansi.StyleBlock{Margin: &zero},
		Heading:       ansi.StyleBlock{StylePrimitive: heading},
		Text:          text,
		Emph:          ansi.StylePrimitive{Italic: &yes},
		Strong:        ansi.StylePrimitive{Bold: &yes},
		Strikethrough: ansi.StylePrimitive{CrossedOut: &yes},
		LinkText:      ansi.StylePrimitive{Bold: &yes},
		Link:          link,
		ImageText:     text,
		Image:         link,
		Code:          ansi.StyleBlock{StylePrimitive: code},
		Table:         ansi.StyleTable{StyleBlock: ansi.StyleBlock{Margin: &zero}},
	}
	h1 := heading
	h1.Underline = &yes
	cfg.H1 = ansi.StyleBlock{StylePrimitive: h1}
	if s.Options.ASCII {
		bar, dash, cross := "|", "-", "+"
		cfg.Table.ColumnSeparator, cfg.Table.RowSeparator, cfg.Table.CenterSeparator = &bar, &dash, &cross
	}
	return cfg
}

func (s *Set) primitive(token string) ansi.StylePrimitive {
	var p ansi.StylePrimitive
	if c := s.Theme.Color(token); c != "" && !s.Options.NoColor {
		p.Color = &c
	}
	return p
}
