package toolrt

import "slices"

// fitBatch shortens the largest messages of a batch, down to a common level, when all together
// are too long for one request (R66). Results that are passed whole are counted, not shortened.
//
// What is recorded of a call is its message before that. The same batch taken from the record is
// shortened in the same way, since nothing but the messages counts here.
func (r *Runtime) fitBatch(calls []*Prepared, outcomes []*Outcome) {
	budget := r.batchBytes(calls[0].call)
	var sizes []int
	for i, o := range outcomes {
		if calls[i].cuttable(o) {
			sizes = append(sizes, len(o.Message))
		} else {
			budget -= len(o.Message)
		}
	}
	level := commonLevel(sizes, budget)
	for i, o := range outcomes {
		if calls[i].cuttable(o) && len(o.Message) > level {
			outcomes[i] = calls[i].shorten(o, level)
		}
	}
}

func (p *Prepared) cuttable(o *Outcome) bool {
	return o.Output != nil && !p.call.whole() && !p.spec.Flags.Delegating
}

// commonLevel is the size to which the largest of sizes must be cut so that all fit in budget, at
// least minBytes.
func commonLevel(sizes []int, budget int) int {
	slices.Sort(sizes)
	for i, size := range sizes {
		rest := len(sizes) - i
		if size*rest > budget {
			return max(budget/rest, minBytes)
		}
		budget -= size
	}
	if len(sizes) == 0 {
		return minBytes
	}
	return max(sizes[len(sizes)-1], minBytes)
}

// shorten returns o with its message cut to size bytes, from what is left of the output in it.
func (p *Prepared) shorten(o *Outcome, size int) *Outcome {
	c := *o
	cut := Cut{Head: len(o.Message)}
	if o.Cut != nil {
		cut = *o.Cut
	}
	lead, text := o.Message[:cut.Lead], o.Message[cut.Lead:]
	e := wholeText(text)
	if o.Truncated {
		e = excerpt{
			head: text[:cut.Head], tail: text[len(text)-cut.Tail:], bytes: o.OutputBytes, lines: o.OutputLines,
			headPart: cut.HeadPart, tailPart: cut.TailPart,
		}
	} else if c.OutputID == "" {
		c.OutputID = p.save(text)
	}
	limits := p.r.limits(p.call, p.spec)
	limits.Bytes = size - len(lead)
	var shorter *Cut
	text, shorter = truncate(e, limits, marker{
		id: c.OutputID, tool: p.r.opts.ReadTool, jsonText: cut.JSON,
		partial: e.bytes > p.r.policy.MaxSavedBytes,
	})
	if shorter == nil {
		return o
	}
	shorter.Lead, shorter.JSON = cut.Lead, cut.JSON
	out := *o.Output
	c.Cut, c.Truncated, c.Message = shorter, true, lead+text
	out.Text, c.Output = c.Message, &out
	return &c
}

// save keeps a whole text and returns its id, "" if it could not be kept.
func (p *Prepared) save(text string) string {
	path, err := outputPath(p.r.opts.OutputDir, p.call.OutputID)
	if err != nil {
		return ""
	}
	if _, err := saveOutput(path, text, p.r.policy.MaxSavedBytes); err != nil {
		p.r.log.Warn("the output of a call could not be saved", "call", p.call.ID, "err", err)
		return ""
	}
	return p.call.OutputID
}
