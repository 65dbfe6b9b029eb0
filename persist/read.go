package persist

import (
	"context"
	"fmt"
	"math"
	"slices"

	"parley/agent"
	"parley/agent/record"
)

// ShownMessages returns up to limit messages of the conversation on screen, with its notices,
// oldest first: the last ones before the place before, or the newest when it is 0. It costs the
// same however long the session is.
func (s *Store) ShownMessages(ctx context.Context, session string, before int64, limit int) ([]record.Message, error) {
	num, err := s.number(ctx, session)
	if err != nil {
		return nil, err
	}
	if before <= 0 {
		before = math.MaxInt64
	}
	list, err := viewList(ctx, s, `SELECT `+messageColumns+` FROM messages
		WHERE session = ? AND (shown = 1 OR is_notice = 1) AND seq < ? ORDER BY seq DESC LIMIT ?`,
		[]any{num, before, limit}, scanMessage)
	if err != nil {
		return nil, fmt.Errorf("messages of session %s: %w", session, err)
	}
	slices.Reverse(list)
	return list, nil
}

// ConversationMessages returns up to limit messages of a conversation, oldest first: the last ones
// before the index before, or the newest when it is 0.
func (s *Store) ConversationMessages(ctx context.Context, session, conversation string, before, limit int) ([]record.Message, error) {
	num, err := s.number(ctx, session)
	if err != nil {
		return nil, err
	}
	if before <= 0 {
		before = math.MaxInt32
	}
	list, err := viewList(ctx, s, `SELECT `+messageColumns+` FROM messages
		WHERE session = ? AND conversation = ? AND is_notice = 0 AND place < ? ORDER BY place DESC LIMIT ?`,
		[]any{num, conversation, before, limit}, scanMessage)
	if err != nil {
		return nil, fmt.Errorf("messages of session %s: %w", session, err)
	}
	slices.Reverse(list)
	return list, nil
}

// Turn returns one turn of a session, or [agent.ErrNotFound].
func (s *Store) Turn(ctx context.Context, session string, number int) (record.Turn, error) {
	num, err := s.number(ctx, session)
	if err != nil {
		return record.Turn{}, err
	}
	turn, found, err := viewRow(ctx, s, `SELECT `+turnColumns+` FROM turns WHERE session = ? AND number = ?`,
		[]any{num, number}, scanTurn(session))
	if err == nil && !found {
		err = agent.ErrNotFound
	}
	if err != nil {
		return record.Turn{}, fmt.Errorf("turn %d of session %s: %w", number, session, err)
	}
	return turn, nil
}

// TurnCalls returns the calls that started in the turns from to to, both included, in the order in
// which they were stored: parents before children.
func (s *Store) TurnCalls(ctx context.Context, session string, from, to int) ([]record.Call, error) {
	num, err := s.number(ctx, session)
	if err != nil {
		return nil, err
	}
	return s.calls(ctx, num, from, to)
}

func (s *Store) calls(ctx context.Context, num int64, from, to int) ([]record.Call, error) {
	list, err := viewList(ctx, s, `SELECT `+callColumns+` FROM calls WHERE session = ? AND turn BETWEEN ? AND ?
		ORDER BY id`, []any{num, from, to}, scanCall)
	if err != nil {
		return nil, fmt.Errorf("calls of turns %d to %d: %w", from, to, err)
	}
	return list, nil
}

// CallsOfMessage returns the calls that the reply of that round made, in the order of the reply.
// parent is the path of the call whose conversation it is.
func (s *Store) CallsOfMessage(ctx context.Context, session, parent string, round int) ([]record.Call, error) {
	num, err := s.number(ctx, session)
	if err != nil {
		return nil, err
	}
	list, err := viewList(ctx, s, `SELECT `+callColumns+` FROM calls WHERE session = ? AND parent = ? AND round = ?
		ORDER BY place, id`, []any{num, parent, round}, scanCall)
	if err != nil {
		return nil, fmt.Errorf("calls of round %d of %s: %w", round, parent, err)
	}
	return list, nil
}

// Call returns one call, or [agent.ErrNotFound].
func (s *Store) Call(ctx context.Context, session, path string) (record.Call, error) {
	num, err := s.number(ctx, session)
	if err != nil {
		return record.Call{}, err
	}
	call, found, err := viewRow(ctx, s, `SELECT `+callColumns+` FROM calls WHERE session = ? AND path = ?`,
		[]any{num, path}, scanCall)
	if err == nil && !found {
		err = agent.ErrNotFound
	}
	if err != nil {
		return record.Call{}, fmt.Errorf("call %s of session %s: %w", path, session, err)
	}
	return call, nil
}

// Text returns the text of that hash, whichever session brought it, or [agent.ErrNotFound].
func (s *Store) Text(ctx context.Context, hash string) (string, error) {
	body, found, err := viewRow(ctx, s, `SELECT body FROM texts WHERE hash = ?`, []any{hash},
		func(row scanner) (body string, err error) { return body, row.Scan(&body) })
	if err == nil && !found {
		err = agent.ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("text %s: %w", hash, err)
	}
	return body, nil
}

// number returns the number of a session's row, or [agent.ErrNotFound].
func (s *Store) number(ctx context.Context, id string) (num int64, err error) {
	num, found, err := viewRow(ctx, s, `SELECT num FROM sessions WHERE id = ?`, []any{id},
		func(row scanner) (num int64, err error) { return num, row.Scan(&num) })
	if err == nil && !found {
		err = agent.ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("session %q: %w", id, err)
	}
	return num, nil
}
