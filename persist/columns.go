package persist

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// millis is the stored form of a time; the zero time is NULL.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// fromMillis is the time of a stored value, in UTC.
func fromMillis(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

// rawText is the stored form of JSON text; nil is NULL.
func rawText(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}

func fromRawText(text sql.NullString) json.RawMessage {
	if !text.Valid {
		return nil
	}
	return json.RawMessage(text.String)
}

// jsonText is the stored form of a value; what says which it is in an error. Angle brackets stay
// as they are, or code in messages would take up to six times its size.
func jsonText(what string, value any) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("encode %s: %w", what, err)
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

func fromJSON(what, text string, value any) error {
	if err := json.Unmarshal([]byte(text), value); err != nil {
		return fmt.Errorf("%w: decode %s: %w", ErrNotDatabase, what, err)
	}
	return nil
}
