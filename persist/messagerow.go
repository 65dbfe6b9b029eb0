package persist

import (
	"database/sql"

	"parley/agent/record"
)

// messageColumns are read by scanMessage, in this order.
const messageColumns = `seq, conversation, is_notice, place, turn, agent, shown, label, model, time_ms, body`

// messageKey returns what tells a message from the others of its session, beside its index.
func messageKey(m record.Message) (conversation string, notice bool) {
	return m.Conversation, m.Notice != ""
}

func encodeBody(m record.Message) (string, error) {
	if m.Notice != "" {
		return m.Notice, nil
	}
	return jsonText("message", m.Message)
}

func scanMessage(row scanner) (record.Message, error) {
	var (
		m      record.Message
		notice bool
		at     sql.NullInt64
		body   string
	)
	err := row.Scan(&m.Seq, &m.Conversation, &notice, &m.Index, &m.Turn, &m.Agent, &m.Shown, &m.Label, &m.Model, &at, &body)
	if err != nil {
		return record.Message{}, err
	}
	m.Time = fromMillis(at)
	if notice {
		m.Notice = body
		return m, nil
	}
	return m, fromJSON("a message of "+m.Conversation, body, &m.Message)
}
