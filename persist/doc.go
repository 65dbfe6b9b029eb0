// Package persist keeps sessions in one SQLite file: their turns, messages, calls, approvals and
// the journal of effects from which an interrupted turn goes on.
//
// Start with [Open], which gives a [Store]. [Store.Create] and [Store.OpenSession] lease a session
// to this process and return its [agent.Journal], the only way to write to it; each method of the
// journal is one commit. Everything else on a Store reads (the list of sessions, the last
// screenful of a conversation, the calls of some turns), or moves sessions to the bin and out of
// it again.
//
// Several processes share the file. SQLite's own locks keep their commits apart; a lock file for
// each session ("lease") keeps two processes from writing to the same one. It is a lock of the
// operating system, so it is free at the moment its process is dead.
//
// All writes go through one goroutine (writer.go), so that writes that wait together commit
// together. Reads use connections of their own and never wait for a writer.
package persist
