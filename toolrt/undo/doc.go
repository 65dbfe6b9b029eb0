// Package undo keeps what tools do to files, so that a turn can be taken back and done again.
//
// A [Log] is the memory of one session. Before a tool changes a file it calls [Log.Begin], which
// keeps the file's bytes, mode or link, and afterwards the function that Begin returned, which notes
// what the tool left. [Log.Undo] brings the files of the newest turn back to what they were,
// [Log.Redo] takes that back. Both first look whether every file still is as it was left: one that
// somebody has changed since is a [Conflict], and without the person's word nothing is touched.
//
// Only tools that name the files they change are covered (sys.write, sys.append, sys.edit,
// sys.remove, sys.download). What a command changed is not: [ChangedDuring] finds the files that
// changed while it ran, so that they can be named.
//
// A log is a folder of the session: the bytes of files by their hash, a record for each call that
// changed something, written before the change and completed after it, and a list of the turns that
// were taken back. All files are private. The log goes with the session.
package undo
