package persist

import (
	"database/sql"

	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

// callColumns are read by scanCall, in this order.
const callColumns = `path, parent, turn, label, round, place, wire_id, tool, tool_id, is_agent, is_chat, category,
	display, input, status, result, error, decision, exit_code, is_truncated, output_bytes, output_lines,
	output_id, created_ms, started_ms, finished_ms, usage`

// callJSON has the parts of a call that are stored as JSON; nil is NULL.
type callJSON struct{ decision, usage any }

func encodeCall(c record.Call) (callJSON, error) {
	var e callJSON
	if c.Decision != nil {
		text, err := jsonText("decision about "+c.Path, c.Decision)
		if err != nil {
			return e, err
		}
		e.decision = text
	}
	if c.Usage != (model.Usage{}) {
		text, err := jsonText("usage of "+c.Path, c.Usage)
		if err != nil {
			return e, err
		}
		e.usage = text
	}
	return e, nil
}

// callDetails are the values of a call's columns that stand in no index, in the order of callColumns
// without the others.
func callDetails(c record.Call, e callJSON) []any {
	var exitCode any
	if c.ExitCode != nil {
		exitCode = *c.ExitCode
	}
	values := make([]any, 0, 28) // six more for the key and its like
	return append(values, c.Label, c.WireID, c.Tool, c.ToolID, c.Agent, c.Chat, c.Category, c.Display, c.Input,
		string(c.Status), c.Result, c.Error, e.decision, exitCode, c.Truncated, c.OutputBytes, c.OutputLines, c.OutputID,
		millis(c.Created), millis(c.Started), millis(c.Finished), e.usage)
}

func scanCall(row scanner) (record.Call, error) {
	var (
		c                          record.Call
		decision, usage            sql.NullString
		exitCode                   sql.NullInt64
		created, started, finished sql.NullInt64
	)
	err := row.Scan(&c.Path, &c.Parent, &c.Turn, &c.Label, &c.Round, &c.Index, &c.WireID, &c.Tool, &c.ToolID,
		&c.Agent, &c.Chat, &c.Category, &c.Display, &c.Input, &c.Status, &c.Result, &c.Error, &decision, &exitCode,
		&c.Truncated, &c.OutputBytes, &c.OutputLines, &c.OutputID, &created, &started, &finished, &usage)
	if err != nil {
		return record.Call{}, err
	}
	c.Created, c.Started, c.Finished = fromMillis(created), fromMillis(started), fromMillis(finished)
	if exitCode.Valid {
		code := int(exitCode.Int64)
		c.ExitCode = &code
	}
	if decision.Valid {
		c.Decision = new(toolrt.Decision)
		if err := fromJSON("the decision about "+c.Path, decision.String, c.Decision); err != nil {
			return record.Call{}, err
		}
	}
	if usage.Valid {
		if err := fromJSON("the usage of "+c.Path, usage.String, &c.Usage); err != nil {
			return record.Call{}, err
		}
	}
	return c, nil
}
