package toolrt

import (
	"errors"
	"strings"
	"time"
)

// presented is a text as the model reads it.
type presented struct {
	text string
	excerpt
	cut *Cut
	id  string // of the saved text
}

// describe notes in o what the message does not show.
func (t presented) describe(o *Outcome) {
	o.Truncated = t.cut != nil && t.cut.Head+t.cut.Tail < int(t.excerpt.bytes)
	o.OutputBytes, o.OutputLines = t.excerpt.bytes, t.excerpt.lines
	o.Cut, o.OutputID = t.cut, t.id
}

// with is t with a line of the runtime's own behind it.
func (t presented) with(note string) presented {
	before := len(t.text)
	if t.text != "" && !strings.HasSuffix(t.text, "\n") {
		t.text += "\n"
	}
	t.text += note
	if t.cut != nil {
		t.cut.Tail += len(t.text) - before
	}
	return t
}

// present bounds a result's text for the model, and keeps the whole of it if it had to be cut, or
// if more was printed than is the result. printed says that it was written to Out.
func (p *Prepared) present(text excerpt, out *stream, printed bool) presented {
	limits := p.r.limits(p.call, p.spec)
	lead := ""
	if changed := p.changedArguments(); changed != "" {
		lead = "[The user changed the arguments of this call to: " + changed + "]\n"
		limits.Bytes -= len(lead)
		limits.Lines -= int(countLines(lead))
	}
	json := false
	if !text.fits(limits) && text.whole && !printed {
		if laid, ok := layOutJSON(text.head); ok {
			text, json = wholeText(laid), true
		}
	}
	t := presented{excerpt: text}
	mark := marker{tool: p.r.opts.ReadTool, jsonText: json}
	if text.fits(limits) && (!printed || out.printed() <= text.bytes) {
		p.dropFile(out)
	} else {
		mark.id, mark.partial = p.keepFile(text, out, printed)
	}
	t.id = mark.id
	t.text, t.cut = truncate(text, limits, mark)
	if t.cut != nil {
		t.cut.JSON = json
	}
	if lead != "" {
		if t.cut == nil {
			t.cut = &Cut{Head: len(t.text)}
		}
		t.cut.Lead = len(lead)
		t.text = lead + t.text
	}
	return t
}

// keepFile leaves the call's whole output in its file and returns the file's id, "" if there is
// none, and whether its middle is missing.
func (p *Prepared) keepFile(text excerpt, out *stream, printed bool) (id string, partial bool) {
	path, err := outputPath(p.r.opts.OutputDir, p.call.OutputID)
	if err != nil {
		return "", false
	}
	if printed && out.file != nil && out.file.total > 0 && !out.cleaner.binary {
		ok, err := out.file.finish()
		if err != nil {
			p.r.log.Warn("the output of a call could not be saved", "call", p.call.ID, "err", err)
		}
		if ok {
			return p.call.OutputID, out.file.partial()
		}
		return "", false
	}
	p.dropFile(out)
	if !text.whole {
		return "", false
	}
	partial, err = saveOutput(path, text.head, p.r.policy.MaxSavedBytes)
	if err != nil {
		p.r.log.Warn("the output of a call could not be saved", "call", p.call.ID, "err", err)
		return "", false
	}
	return p.call.OutputID, partial
}

// clearLeftovers removes what an execution of the same call left that a crash cut off.
func (p *Prepared) clearLeftovers(file *outputFile) {
	if err := errors.Join(file.remove(), removeFile(file.path+".proc")); err != nil {
		p.r.log.Warn("what an earlier run of a call had saved could not be removed", "call", p.call.ID, "err", err)
	}
}

// dropFile removes what was saved as it came.
func (p *Prepared) dropFile(out *stream) {
	if out.file == nil {
		return
	}
	if err := out.file.remove(); err != nil {
		p.r.log.Warn("the output file of a call could not be removed", "call", p.call.ID, "err", err)
	}
}

// form is what the call's output is. The result of a script that goes on to a filter, or is the
// program's own, stays as it is.
func (p *Prepared) form() TextForm {
	if p.spec.Form == FormScript && p.call.whole() && p.call.Category != "context" {
		return FormText
	}
	return p.spec.Form
}

// captureOptions are those of the call's stream and captures: they keep as much of each end as
// the model may read.
func (p *Prepared) captureOptions() CaptureOptions {
	keep := p.r.limits(p.call, p.spec).Bytes
	if p.call.whole() || keep > p.r.policy.MaxWholeBytes {
		keep = p.r.policy.MaxWholeBytes
	}
	return CaptureOptions{Form: p.form(), Redactor: p.r.redactor, Keep: keep, Raw: p.call.secret()}
}

func (p *Prepared) newStream() *stream {
	if p.call.secret() {
		return newStream(p.captureOptions(), nil, nil)
	}
	var file *outputFile
	if path, err := outputPath(p.r.opts.OutputDir, p.call.OutputID); err == nil {
		file = &outputFile{path: path, limit: p.r.policy.MaxSavedBytes}
		p.clearLeftovers(file)
	}
	var show func(string)
	if p.r.opts.Observer != nil {
		show = func(chunk string) { p.r.opts.Observer.Output(p.call, chunk) }
	}
	return newStream(p.captureOptions(), file, show)
}

// noteProcess is the Process of an Invocation.
func (p *Prepared) noteProcess(pgid int, started time.Time) {
	p.group.Store(int64(pgid))
	path, err := outputPath(p.r.opts.OutputDir, p.call.OutputID)
	if err != nil {
		return
	}
	if err := noteProcess(path, Process{PGID: pgid, Started: started}); err != nil {
		p.r.log.Warn("the process of a call could not be noted; after a crash it will not be found", "call", p.call.ID, "err", err)
	}
}

func (p *Prepared) forgetProcesses() {
	path, err := outputPath(p.r.opts.OutputDir, p.call.OutputID)
	if err != nil {
		return
	}
	if err := removeFile(path + ".proc"); err != nil {
		p.r.log.Warn("the note of a call's process could not be removed", "call", p.call.ID, "err", err)
	}
}
