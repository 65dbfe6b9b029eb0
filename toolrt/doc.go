// Package toolrt is the tool runtime: it takes the tool calls of one model reply, decides when each
// may run, runs them under a [Policy], and gives back one [Outcome] per call, in call order,
// whatever happened: success, failure, denial, timeout, cancel, panic.
//
// Start with [Runtime.ExecuteBatch]. What a call goes through:
//
//	received ─► checked ─► asked (Approver) ─► its turn ─► gate ─► recorded (Recorder) ─► running ─► outcome
//	            arguments.go, schema.go        batch.go    gate.go                        run.go      shape.go
//
// The first steps are taken for all calls as soon as the batch begins, in call order; a call starts
// when it is allowed and at its turn. The order is decided by batch, the permits by turnstile: two
// state machines without I/O. Everything a tool writes is cleaned, redacted, saved and bounded on
// its way (stream.go, capture.go, truncate.go).
//
// The runtime does not know models, sessions or screens. The agent hands it calls whose [Tool] is
// resolved already, and three interfaces: [Approver], [Recorder] and [Observer].
package toolrt
