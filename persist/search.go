package persist

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/agent/record"
)

// Hit is a message found by [Store.Search].
type Hit struct {
	Session record.Session
	Message record.Message
	// Snippet is the part of the message around the first word found, on one line.
	Snippet string
}

// SearchQuery chooses messages.
type SearchQuery struct {
	// Text has the words that all stand in the message, in any order and whatever their case or
	// accents; the last may be the beginning of one.
	Text    string
	Session string // id; "" means all sessions
	Dir     string // working folder; "" means all
	// IncludeDeleted searches the bin too.
	IncludeDeleted bool
	Limit          int // at most so many; zero means 100
}

// Search returns the messages that q chooses, newest first. A turn is found once it has ended.
func (s *Store) Search(ctx context.Context, q SearchQuery) ([]Hit, error) {
	match := matchExpression(q.Text)
	if match == "" {
		return nil, nil
	}
	if s.writer != nil {
		if err := s.indexAll(ctx); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	where, args := "search MATCH ?", []any{match}
	if q.Session != "" {
		where, args = where+" AND sessions.id = ?", append(args, q.Session)
	}
	if q.Dir != "" {
		where, args = where+" AND dir = ?", append(args, q.Dir)
	}
	if !q.IncludeDeleted {
		where += " AND deleted_ms IS NULL"
	}
	columns := qualified("sessions", sessionColumns) + ", " + qualified("messages", messageColumns)
	hits, err := viewList(ctx, s, `SELECT `+columns+` FROM search JOIN messages ON messages.id = search.rowid
		JOIN sessions ON sessions.num = messages.session WHERE `+where+` ORDER BY search.rowid DESC LIMIT ?`,
		append(args, q.Limit), scanHit)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	words := strings.FieldsFunc(q.Text, notWord)
	for i := range hits {
		hits[i].Session = s.truthful(hits[i].Session)
		hits[i].Snippet = snippet(indexedText(hits[i].Message), words)
	}
	return hits, nil
}

// scanHit reads a session and a message from one row.
func scanHit(row scanner) (Hit, error) {
	session, err := scanSession(partOf{row: row, after: columnCount(messageColumns)})
	if err != nil {
		return Hit{}, err
	}
	message, err := scanMessage(partOf{row: row, before: columnCount(sessionColumns)})
	return Hit{Session: session.Session, Message: message}, err
}

// matchExpression turns what a person typed into a query of the index: each word quoted, so that
// no sign of the query language counts. "" means that there is no word in it.
func matchExpression(text string) string {
	words := strings.FieldsFunc(text, notWord)
	if len(words) == 0 {
		return ""
	}
	return `"` + strings.Join(words, `" "`) + `"*`
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }

// indexedText is what is found of a message: its text and the arguments of its calls.
func indexedText(m record.Message) string {
	text := m.Message.Text()
	for _, call := range m.Message.Calls() {
		text += "\n" + call.Function.Name + " " + call.Function.Arguments
	}
	return text
}

// indexTurns adds the messages of up to limit turns that have ended to the index and returns how
// many turns it were. num is the session's number, 0 for all.
func indexTurns(ctx context.Context, t *statements, num int64, limit int) (int, error) {
	type key struct{ session, turn int64 }
	turns, err := collect(ctx, t, `SELECT session, number FROM turns
		WHERE is_indexed = 0 AND status <> 'open' AND (?1 = 0 OR session = ?1) ORDER BY session, number LIMIT ?2`,
		[]any{num, limit}, func(row scanner) (k key, err error) { return k, row.Scan(&k.session, &k.turn) })
	if err != nil {
		return 0, err
	}
	for _, k := range turns {
		if err := indexTurn(ctx, t, k.session, k.turn); err != nil {
			return 0, fmt.Errorf("index turn %d: %w", k.turn, err)
		}
	}
	return len(turns), nil
}

func indexTurn(ctx context.Context, t *statements, session, turn int64) error {
	type text struct {
		id   int64
		body string
	}
	texts, err := collect(ctx, t, `SELECT id, `+messageColumns+` FROM messages
		WHERE session = ? AND turn = ? AND is_notice = 0`, []any{session, turn},
		func(row scanner) (text, error) {
			var found text
			if err := (partOf{row: row, after: columnCount(messageColumns)}).Scan(&found.id); err != nil {
				return text{}, err
			}
			m, err := scanMessage(partOf{row: row, before: 1})
			found.body = indexedText(m)
			return found, err
		})
	if err != nil {
		return err
	}
	for _, text := range texts {
		if _, err := t.exec(ctx, `INSERT OR REPLACE INTO search (rowid, body) VALUES (?, ?)`, text.id, text.body); err != nil {
			return err
		}
	}
	_, err = t.exec(ctx, `UPDATE turns SET is_indexed = 1 WHERE session = ? AND number = ?`, session, turn)
	return err
}

// indexBatch bounds the turns that one commit indexes, so that other writes get between.
const indexBatch = 20

// indexAll adds what the ends of turns have not (a crash, a fork, an older database).
func (s *Store) indexAll(ctx context.Context) error {
	waiting, _, err := viewRow(ctx, s, `SELECT EXISTS (SELECT 1 FROM turns WHERE is_indexed = 0 AND status <> 'open')`,
		nil, func(row scanner) (some bool, err error) { return some, row.Scan(&some) })
	for err == nil && waiting {
		err = s.write(ctx, &request{run: func(ctx context.Context, t *statements) error {
			n, err := indexTurns(ctx, t, 0, indexBatch)
			waiting = n == indexBatch
			return err
		}})
	}
	return err
}

// indexEnded adds the turn that has just ended, without keeping anybody waiting. If it fails, the
// next search does it.
func (j *journal) indexEnded() {
	j.store.writer.post(&request{run: func(ctx context.Context, t *statements) error {
		_, err := indexTurns(ctx, t, j.num, indexBatch)
		return err
	}})
}

// unindex removes a session's messages from the index.
func unindex(ctx context.Context, t *statements, num int64) error {
	_, err := t.exec(ctx, `DELETE FROM search WHERE rowid IN (SELECT id FROM messages WHERE session = ?)`, num)
	return err
}

// snippetRunes is how much of a message a snippet shows.
const snippetRunes = 160

// snippet cuts the part of text around the first of the words, white space joined. Words found
// only by another case or without accents give the beginning of the text.
func snippet(text string, words []string) string {
	text = strings.Join(strings.Fields(text), " ")
	lower := strings.ToLower(text)
	start := 0
	if len(lower) == len(text) { // else the places differ
		for _, word := range words {
			if i := strings.Index(lower, strings.ToLower(word)); i >= 0 {
				start = max(0, i-snippetRunes/4)
				break
			}
		}
	}
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	runes := []rune(text[start:])
	cut := string(runes[:min(len(runes), snippetRunes)])
	if start > 0 {
		cut = "…" + cut
	}
	if len(runes) > snippetRunes {
		cut += "…"
	}
	return cut
}
