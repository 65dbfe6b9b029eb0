// Package tui is parley on the full screen: a Bubble Tea program that shows a chat, its calls and
// its questions, and sends what the person wants. It runs no tool, no model and no SQL: it speaks
// to sessions through [Chat] and [Backend], hears of them through monitor events, and is asked
// through [Questions]. Start from [Run].
//
// The root (root.go) routes messages and owns size and focus. Each subject has a file:
//
//	session.go, load.go   opening a session, going on with it, reading its messages
//	turn.go, events.go    sending, handing over, queueing, interrupting; what happens meanwhile
//	questions.go          questions from the runner; asking.go: which one is shown, and when it
//	                      takes keys
//	keys.go, chatkeys.go  which key goes where; what Esc and Ctrl+C mean now
//	commands.go           slash commands, with cmd_*.go by their subject
//	suggest.go, leader.go completion of commands, files and names; the leader key and the palette
//	choice.go, reader.go  lists to choose from and pages to read; help.go, editor.go, lists.go
//	timeline.go           stepping through a session; timelinekeys.go its keys
//	batch.go              all calls of a reply in one question
//	abilities.go          what a chat or a backend may know beside what it must
//	layout.go, parts.go   the three widths, and what stands where; status.go, hints.go, note.go
//	keep.go               what comes back with a session: draft, queue, panel
//	tasks.go, fault.go    commands that wait or do I/O, and what happens when something panics
//	idle.go               no work while nothing happens
//
// The parts are packages of their own: composer, transcript, panel, picker and prompt draw
// themselves and take keys; keymap says which key does what; style, text and markdown are what they
// draw with.
package tui
