// Package agent runs a program as a chat. A [Session] is one saved chat: it takes the person's
// messages, walks each turn through the runner and keeps the journal, so that a turn that was cut
// off goes on where it stopped.
//
// A turn is straight code: start a call or go on with it, run its contexts, filters and
// credentials, ask the model, run the calls of the reply through the tool runtime, and again until
// the agent waits for the person or the program has finished. Whatever must not be repeated (a
// completion, an execution, an answer of a person) goes through one door, turn.do, which commits
// the begin before and the result after, and returns a recorded result without running anything.
// The runner itself is deterministic given those results: no clock, random number or map order
// decides what it does, so a turn that is walked again takes the same path.
//
// The order of events of one call, as emitted to the monitor:
//
//	runStart
//	  callStart
//	    callStart … callFinish        input filters, credentials, contexts
//	    callChat (request)            a completion
//	      callProgress …
//	    callChat (response)
//	    callSubCalls
//	      callStart … callFinish      each call of the reply
//	    callContinue
//	    …                             again until there is an answer
//	    callStart … callFinish        output filters
//	  callFinish
//	runFinish
//
// The package knows no screen: it speaks through the monitor and asks through [Authorizer] and
// [Prompter].
package agent
