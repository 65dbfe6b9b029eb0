package style

import (
	"github.com/alecthomas/chroma/v2"

	"parley/themes"
)

// Chroma returns the style that code is highlighted with, nil when there are no colours. It is
// built when first asked for.
func (s *Set) Chroma() *chroma.Style { return s.chroma() }

func chromaStyle(t themes.Theme, o Options) *chroma.Style {
	entries := chroma.StyleEntries{}
	for kind, token := range codeTokens {
		if c := t.Color(token); c != "" {
			entries[kind] = c
		}
	}
	if o.NoColor || len(entries) == 0 {
		return nil
	}
	st, err := chroma.NewStyle("parley", entries)
	if err != nil { // cannot be: a theme's colours are checked when it is read
		return nil
	}
	return st
}

var codeTokens = map[chroma.TokenType]string{
	chroma.Text:              themes.Code,
	chroma.Keyword:           themes.CodeKeyword,
	chroma.KeywordType:       themes.CodeType,
	chroma.NameBuiltin:       themes.CodeFunction,
	chroma.NameFunction:      themes.CodeFunction,
	chroma.NameClass:         themes.CodeType,
	chroma.NameTag:           themes.CodeKeyword,
	chroma.NameAttribute:     themes.CodeType,
	chroma.NameDecorator:     themes.CodeFunction,
	chroma.NameConstant:      themes.CodeNumber,
	chroma.LiteralString:     themes.CodeString,
	chroma.LiteralNumber:     themes.CodeNumber,
	chroma.Comment:           themes.CodeComment,
	chroma.CommentPreproc:    themes.CodeKeyword,
	chroma.Operator:          themes.CodeOperator,
	chroma.Punctuation:       themes.CodeOperator,
	chroma.GenericInserted:   themes.DiffAdd,
	chroma.GenericDeleted:    themes.DiffRemove,
	chroma.GenericSubheading: themes.DiffHunk,
}
