package keymap

import "charm.land/bubbles/v2/key"

// The actions of the screen.
const (
	Interrupt Action = "escape"
	Cancel    Action = "cancel"
	Leave     Action = "leave"
	Calls     Action = "calls"
	Details   Action = "details"
	Redraw    Action = "redraw"
	Mode      Action = "mode"
	Suspend   Action = "suspend"
	PageUp    Action = "pageUp"
	PageDown  Action = "pageDown"
	ScrollUp  Action = "scrollUp"
	ScrollDn  Action = "scrollDown"
	Follow    Action = "follow"
	Palette   Action = "palette"
	LeaderKey Action = "leader"
	Model     Action = "model"
	ThinkLess Action = "thinkLess"
	ThinkMore Action = "thinkMore"

	LeaderSessions    Action = "leader.sessions"
	LeaderNew         Action = "leader.new"
	LeaderFork        Action = "leader.fork"
	LeaderRename      Action = "leader.rename"
	LeaderTimeline    Action = "leader.timeline"
	LeaderAgents      Action = "leader.agents"
	LeaderHandOver    Action = "leader.handOver"
	LeaderPermissions Action = "leader.permissions"
	LeaderCredentials Action = "leader.credentials"
	LeaderModel       Action = "leader.model"
	LeaderUndo        Action = "leader.undo"
	LeaderQueue       Action = "leader.queue"
	LeaderExport      Action = "leader.export"
	LeaderUsage       Action = "leader.usage"
	LeaderBackground  Action = "leader.background"
	LeaderSearch      Action = "leader.search"

	TimeBack     Action = "timeline.back"
	TimeOn       Action = "timeline.on"
	TimePrevTurn Action = "timeline.previousTurn"
	TimeNextTurn Action = "timeline.nextTurn"
	TimeFirst    Action = "timeline.first"
	TimeLast     Action = "timeline.last"
	TimeShow     Action = "timeline.show"
	TimeFork     Action = "timeline.fork"
	TimeDiff     Action = "timeline.diff"
	TimePlay     Action = "timeline.play"
	TimeNow      Action = "timeline.now"

	ListDown   Action = "list.down"
	ListUp     Action = "list.up"
	ListPgDown Action = "list.pageDown"
	ListPgUp   Action = "list.pageUp"
	ListTop    Action = "list.top"
	ListEnd    Action = "list.end"
	ListTake   Action = "list.take"

	Send     Action = "composer.send"
	Next     Action = "composer.next"
	Newline  Action = "composer.newline"
	Dequeue  Action = "composer.dequeue"
	History  Action = "composer.history"
	Editor   Action = "composer.editor"
	HelpPage Action = "composer.help"

	ChatDown     Action = "chat.down"
	ChatUp       Action = "chat.up"
	ChatTop      Action = "chat.top"
	ChatEnd      Action = "chat.end"
	ChatPrevUser Action = "chat.previousUser"
	ChatNextUser Action = "chat.nextUser"
	ChatSearch   Action = "chat.search"
	ChatNext     Action = "chat.searchNext"
	ChatPrev     Action = "chat.searchPrevious"
	ChatToggle   Action = "chat.toggle"
	ChatCopy     Action = "chat.copy"
	ChatShow     Action = "chat.show"
	ChatOpen     Action = "chat.open"
	ChatLeave    Action = "chat.leave"

	PanelDown    Action = "panel.down"
	PanelUp      Action = "panel.up"
	PanelFold    Action = "panel.fold"
	PanelUnfold  Action = "panel.unfold"
	PanelOpen    Action = "panel.open"
	PanelFollow  Action = "panel.follow"
	PanelCancel  Action = "panel.cancel"
	PanelCopy    Action = "panel.copy"
	PanelShow    Action = "panel.show"
	PanelTop     Action = "panel.top"
	PanelEnd     Action = "panel.end"
	PanelFilter  Action = "panel.filter"
	PanelNextTab Action = "panel.nextTab"
	PanelTab1    Action = "panel.tab1"
	PanelTab2    Action = "panel.tab2"
	PanelTab3    Action = "panel.tab3"
	PanelTab4    Action = "panel.tab4"
	PanelRerun   Action = "panel.rerun"

	PanelBackground Action = "panel.background"
	PanelPgUp       Action = "panel.pageUp"
	PanelPgDown     Action = "panel.pageDown"

	PickerOpen    Action = "sessions.open"
	PickerPreview Action = "sessions.preview"
	PickerRename  Action = "sessions.rename"
	PickerDelete  Action = "sessions.delete"
	PickerUndo    Action = "sessions.undo"
	PickerAll     Action = "sessions.all"
	PickerSearch  Action = "sessions.search"
	PickerNew     Action = "sessions.new"

	PickerFork     Action = "sessions.fork"
	PickerTimeline Action = "sessions.timeline"
	PickerExport   Action = "sessions.export"
	PickerSort     Action = "sessions.sort"

	PickerDown   Action = "sessions.down"
	PickerUp     Action = "sessions.up"
	PickerPgDown Action = "sessions.pageDown"
	PickerPgUp   Action = "sessions.pageUp"
	PickerTop    Action = "sessions.top"
	PickerEnd    Action = "sessions.end"
	PickerBack   Action = "sessions.back"
)

// The editing actions of the composer.
const (
	EditLeft      Action = "edit.left"
	EditRight     Action = "edit.right"
	EditUp        Action = "edit.up"
	EditDown      Action = "edit.down"
	EditWordLeft  Action = "edit.wordLeft"
	EditWordRight Action = "edit.wordRight"
	EditLineStart Action = "edit.lineStart"
	EditLineEnd   Action = "edit.lineEnd"
	EditStart     Action = "edit.start"
	EditEnd       Action = "edit.end"
	EditBackspace Action = "edit.backspace"
	EditDelete    Action = "edit.delete"
	EditKillLine  Action = "edit.killLine"
	EditKillBack  Action = "edit.killBack"
	EditKillWord  Action = "edit.killWord"
	EditKillNext  Action = "edit.killNextWord"
	EditYank      Action = "edit.yank"
	EditYankPop   Action = "edit.yankPop"
	EditUndo      Action = "edit.undo"
	EditUnfold    Action = "edit.unfold"
)

// Default returns the keys that parley comes with.
func Default() *Map {
	var rows []Binding
	for _, group := range [][]Binding{
		composerKeys(), globalKeys(), chatKeys(), panelKeys(), dialogKeys(), pickerKeys(), timelineKeys(), listKeys(), leaderKeys(), editKeys(),
	} {
		rows = append(rows, group...)
	}
	return newMap(rows)
}

func row(c Context, a Action, hint, help string, keys ...string) Binding {
	return Binding{Context: c, Action: a, Hint: hint, Help: help, Binding: key.NewBinding(key.WithKeys(keys...))}
}

func fixed(c Context, a Action, hint, help string, keys ...string) Binding {
	b := row(c, a, hint, help, keys...)
	b.Fixed = true
	return b
}

func composerKeys() []Binding {
	return []Binding{
		row(Composer, Send, "send", "send; while a turn runs: hand the text over after the current batch", "enter"),
		row(Composer, Next, "next", "answer the waiting question; while a turn runs, with text: queue it; else the next pane", "tab"),
		row(Composer, Newline, "newline", `new line (also \ and Enter; Shift+Enter needs a terminal that tells it from Enter)`, "ctrl+j", "shift+enter", "alt+enter"),
		row(Composer, Dequeue, "edit queued", "take the queued message back", "alt+up"),
		row(Composer, History, "history", "search earlier messages", "ctrl+r"),
		row(Composer, Editor, "editor", "write in the external editor ($VISUAL, $EDITOR)", "ctrl+g"),
		row(Composer, HelpPage, "keys", "this page (when the composer is empty)", "?"),
	}
}

func globalKeys() []Binding {
	return []Binding{
		row(Global, Interrupt, "interrupt", "close, else deny, else interrupt", "esc"),
		row(Global, Cancel, "clear", "clear the text, then interrupt, then twice to leave", "ctrl+c"),
		row(Global, Leave, "leave", "leave (when the composer is empty)", "ctrl+d"),
		row(Global, Calls, "calls", "call panel on or off", "ctrl+t"),
		row(Global, Details, "details", "fold or unfold the details of all calls", "ctrl+o"),
		row(Global, Mode, "mode", "approval mode: ask, edits, plan", "shift+tab"),
		row(Global, Redraw, "redraw", "draw the screen again", "ctrl+l"),
		row(Global, Palette, "palette", "all commands", "ctrl+p"),
		row(Global, LeaderKey, "leader", "the keys of Leader below come next", "ctrl+x"),
		row(Global, Model, "model", "choose the model", "alt+p"),
		row(Global, ThinkLess, "think less", "less thinking of the model (/effort)", "alt+,"),
		row(Global, ThinkMore, "think more", "more thinking of the model", "alt+."),
		row(Global, Suspend, "suspend", "suspend parley (fg brings it back)", "ctrl+z"),
		row(Global, PageUp, "page up", "scroll the chat up", "pgup"),
		row(Global, PageDown, "page down", "scroll the chat down", "pgdown"),
		row(Global, ScrollUp, "up", "scroll the chat up a line", "shift+up"),
		row(Global, ScrollDn, "down", "scroll the chat down a line", "shift+down"),
		row(Global, Follow, "end", "to the end of the chat, and follow", "alt+end", "shift+end"),
	}
}

func chatKeys() []Binding {
	return []Binding{
		row(Chat, ChatDown, "down", "next block", "j", "down"),
		row(Chat, ChatUp, "up", "previous block", "k", "up"),
		row(Chat, ChatTop, "top", "to the beginning", "g", "home"),
		row(Chat, ChatEnd, "end", "to the end, and follow", "G", "end"),
		row(Chat, ChatPrevUser, "you", "previous message of yours", "{"),
		row(Chat, ChatNextUser, "you", "next message of yours", "}"),
		row(Chat, ChatSearch, "search", "search in the chat", "/"),
		row(Chat, ChatNext, "next", "next match", "n"),
		row(Chat, ChatPrev, "previous", "previous match", "N"),
		row(Chat, ChatToggle, "unfold", "fold or unfold", "enter"),
		row(Chat, ChatOpen, "open", "open in the pager ($PAGER), or without one in the editor", "o"),
		row(Chat, ChatCopy, "copy", "copy to the clipboard", "y"),
		row(Chat, ChatShow, "panel", "show in the call panel", "."),
		row(Chat, ChatLeave, "next pane", "next pane", "tab"),
	}
}

func panelKeys() []Binding {
	return []Binding{
		row(Panel, PanelDown, "down", "next row", "j", "down"),
		row(Panel, PanelUp, "up", "previous row", "k", "up"),
		row(Panel, PanelFold, "fold", "fold, or to the row above", "h", "left"),
		row(Panel, PanelUnfold, "unfold", "unfold", "l", "right"),
		row(Panel, PanelOpen, "details", "details of the call over the whole panel, or back", "enter"),
		row(Panel, PanelFollow, "follow", "follow what happens", "f"),
		row(Panel, PanelFilter, "filter", "filter by text", "/"),
		row(Panel, PanelCancel, "cancel", "cancel the call", "x"),
		row(Panel, PanelCopy, "copy", "copy arguments and result", "y"),
		row(Panel, PanelShow, "chat", "show in the chat", "."),
		row(Panel, PanelTop, "top", "to the first row", "g", "home"),
		row(Panel, PanelEnd, "end", "to the last row", "G", "end"),
		row(Panel, PanelPgUp, "page up", "scroll the details up", "pgup"),
		row(Panel, PanelPgDown, "page down", "scroll the details down", "pgdown"),
		row(Panel, PanelNextTab, "tab", "next tab, after the last one back to the text", "tab"),
		row(Panel, PanelTab1, "calls", "calls", "1"),
		row(Panel, PanelTab2, "approvals", "approvals: what waits, what was decided, the rules in force", "2"),
		row(Panel, PanelTab3, "events", "events: what happens, and the journal", "3"),
		row(Panel, PanelTab4, "usage", "usage: tokens, cost and time by agent, model and tool", "4"),
		row(Panel, PanelRerun, "rerun", "run the call again (asks as before)", "R"),
		row(Panel, PanelBackground, "background", "move the running call to the background", "b"),
	}
}

// dialogKeys lists the keys of the questions, which the prompt package handles.
func dialogKeys() []Binding {
	return []Binding{
		fixed(Approval, "approval.once", "once", "allow this call", "y"),
		fixed(Approval, "approval.session", "session", "allow by a rule for this session", "s"),
		fixed(Approval, "approval.always", "always…", "make a rule: p project, g (then G) everywhere, n deny always", "a"),
		fixed(Approval, "approval.deny", "deny", "deny", "n", "esc"),
		fixed(Approval, "approval.reason", "reason", "deny with a reason for the model", "r"),
		fixed(Approval, "approval.edit", "edit", "edit the arguments first", "e"),
		fixed(Approval, "approval.view", "view", "show everything", "v"),
		fixed(Approval, "approval.diff", "diff", "show the change", "d"),
		fixed(Approval, "approval.explain", "explain", "why it asks", "x"),
		fixed(Approval, "approval.panel", "panel", "show the call in the panel", "."),
		fixed(Approval, "approval.wider", "wider", "a wider rule", "m"),
		fixed(Approval, QuestionPrev, "other", "the question before", "["),
		fixed(Approval, QuestionNext, "other", "the question after", "]"),
		fixed(Approval, "approval.stop", "stop", "deny, and stop the turn", "ctrl+c"),
		fixed(Approval, "approval.text", "text", "back to the text", "tab"),
		fixed(Approval, "approval.batch", "batch", "all calls of the reply", "b"),
		fixed(Batch, "batch.down", "down", "next call", "j", "down"),
		fixed(Batch, "batch.up", "up", "previous call", "k", "up"),
		fixed(Batch, "batch.restOnce", "rest once", "allow all that wait, this once", "Y"),
		fixed(Batch, "batch.restDeny", "rest deny", "deny all that wait", "N", "esc"),
		fixed(Batch, "batch.back", "back", "back; y s a n r e v m answer the chosen call as above", "enter"),
		fixed(Credential, "credential.use", "use", "use the values", "enter"),
		fixed(Credential, "credential.next", "next", "next field, after the last one back to the text", "tab"),
		fixed(Credential, "credential.keep", "keep", "where to keep it", "left", "right"),
		fixed(Credential, "credential.show", "show", "show the value for three seconds", "ctrl+r"),
		fixed(Credential, "credential.clear", "clear", "clear the field", "ctrl+u"),
		fixed(Credential, "credential.decline", "decline", "decline", "esc"),
		fixed(Resume, "resume.look", "look", "show what it had printed", "c"),
		fixed(Resume, "resume.rerun", "rerun", "run it again", "R"),
		fixed(Resume, "resume.result", "result", "give its result", "k"),
		fixed(Resume, "resume.interrupted", "interrupted", "tell the model that it was cut off", "i"),
		fixed(Resume, "resume.end", "end", "end the process that still runs", "x"),
		fixed(Resume, "resume.leave", "leave", "leave it stopped", "esc"),
	}
}

// The keys that move between waiting questions; the screen handles them.
const (
	QuestionPrev Action = "approval.previous"
	QuestionNext Action = "approval.next"
)

func pickerKeys() []Binding {
	return []Binding{
		row(Picker, PickerOpen, "resume", "go on with the session", "enter"),
		row(Picker, PickerPreview, "preview", "show what is known of it", "space"),
		row(Picker, PickerNew, "new", "start a new session", "n"),
		row(Picker, PickerRename, "rename", "rename", "r"),
		row(Picker, PickerFork, "fork", "go on in a copy", "f"),
		row(Picker, PickerTimeline, "timeline", "open it and step through it", "t"),
		row(Picker, PickerExport, "export", "write it to a file of the working folder", "e"),
		row(Picker, PickerSort, "sort", "sort by last use, beginning or title", "s"),
		row(Picker, PickerDelete, "delete", "delete (asks y or n; kept in the bin for 7 days)", "d"),
		row(Picker, PickerUndo, "undo", "take the last deleted one back", "u"),
		row(Picker, PickerAll, "all", "this folder's sessions, or all", "tab"),
		row(Picker, PickerSearch, "search", "search", "/", "ctrl+f"),
		row(Picker, PickerDown, "down", "next", "j", "down", "ctrl+n"),
		row(Picker, PickerUp, "up", "previous", "k", "up", "ctrl+p"),
		row(Picker, PickerPgDown, "page down", "a page down", "pgdown"),
		row(Picker, PickerPgUp, "page up", "a page up", "pgup"),
		row(Picker, PickerTop, "top", "to the first", "g", "home"),
		row(Picker, PickerEnd, "end", "to the last", "G", "end"),
		row(Picker, PickerBack, "back", "back, or leave", "esc", "q"),
	}
}

func timelineKeys() []Binding {
	return []Binding{
		row(Timeline, TimeBack, "step", "a step back", "left", "up", "k"),
		row(Timeline, TimeOn, "step", "a step on", "right", "down", "j"),
		row(Timeline, TimePrevTurn, "turn", "the turn before", "["),
		row(Timeline, TimeNextTurn, "turn", "the turn after", "]"),
		row(Timeline, TimeFirst, "first", "to the first step", "home", "g"),
		row(Timeline, TimeLast, "last", "to the last step", "end", "G"),
		row(Timeline, TimeShow, "show", "the conversation as it was there, over the whole page", "enter"),
		row(Timeline, TimeFork, "fork", "go on from here in a copy (from the beginning of the turn)", "f"),
		row(Timeline, TimeDiff, "since", "what has happened since", "D"),
		row(Timeline, TimePlay, "play", "play, or stop", "p"),
		row(Timeline, TimeNow, "now", "back to now", "q"),
	}
}

func listKeys() []Binding {
	return []Binding{
		row(Lists, ListDown, "down", "next", "down", "ctrl+n"),
		row(Lists, ListUp, "up", "previous", "up", "ctrl+p"),
		row(Lists, ListPgDown, "page down", "a page down", "pgdown"),
		row(Lists, ListPgUp, "page up", "a page up", "pgup"),
		row(Lists, ListTop, "top", "to the first", "home"),
		row(Lists, ListEnd, "end", "to the last", "end"),
		row(Lists, ListTake, "choose", "choose; letters narrow the list", "enter"),
	}
}

func leaderKeys() []Binding {
	return []Binding{
		row(Leader, LeaderSessions, "sessions", "choose a session", "s"),
		row(Leader, LeaderNew, "new session", "start a new session", "n"),
		row(Leader, LeaderFork, "fork", "go on in a copy of the session", "f"),
		row(Leader, LeaderRename, "rename", "give the session a title", "r"),
		row(Leader, LeaderTimeline, "timeline", "step through the session", "t"),
		row(Leader, LeaderAgents, "agents", "agents of the program", "a"),
		row(Leader, LeaderHandOver, "hand over", "ask the agent to hand over to another", "h"),
		row(Leader, LeaderPermissions, "permissions", "rules in force", "p"),
		row(Leader, LeaderCredentials, "credentials", "stored credentials", "c"),
		row(Leader, LeaderModel, "model", "choose the model", "m"),
		row(Leader, LeaderUndo, "undo edits", "take back the file changes of the last turn", "u"),
		row(Leader, LeaderQueue, "queue", "queued messages", "q"),
		row(Leader, LeaderExport, "export", "write the session to a file", "e"),
		row(Leader, LeaderUsage, "usage", "tokens, cost and time", "g"),
		row(Leader, LeaderBackground, "background", "the running command to the background; without one, what runs there", "b"),
		row(Leader, LeaderSearch, "search", "search in the chat", "/"),
	}
}

func editKeys() []Binding {
	return []Binding{
		row(Edit, EditLeft, "left", "a letter left", "left", "ctrl+b"),
		row(Edit, EditRight, "right", "a letter right", "right", "ctrl+f"),
		row(Edit, EditUp, "up", "a line up; at the upper edge: the earlier message", "up"),
		row(Edit, EditDown, "down", "a line down; at the lower edge: the later message", "down"),
		row(Edit, EditWordLeft, "word left", "a word left", "alt+b", "alt+left", "ctrl+left"),
		row(Edit, EditWordRight, "word right", "a word right", "alt+f", "alt+right", "ctrl+right"),
		row(Edit, EditLineStart, "start", "start of the line", "ctrl+a", "home"),
		row(Edit, EditLineEnd, "end", "end of the line", "ctrl+e", "end"),
		row(Edit, EditStart, "first", "start of the text", "ctrl+home", "alt+<"),
		row(Edit, EditEnd, "last", "end of the text", "ctrl+end", "alt+>"),
		row(Edit, EditBackspace, "backspace", "delete the letter before", "backspace", "shift+backspace"),
		row(Edit, EditDelete, "delete", "delete the letter after", "delete", "ctrl+d"),
		row(Edit, EditKillLine, "kill", "cut to the end of the line", "ctrl+k"),
		row(Edit, EditKillBack, "kill back", "cut to the start of the line", "ctrl+u"),
		row(Edit, EditKillWord, "kill word", "cut the word before", "ctrl+w", "alt+backspace", "ctrl+backspace"),
		row(Edit, EditKillNext, "kill next", "cut the word after", "alt+d", "alt+delete", "ctrl+delete"),
		row(Edit, EditYank, "yank", "insert what was cut last", "ctrl+y"),
		row(Edit, EditYankPop, "earlier cut", "replace it by what was cut before", "alt+y"),
		row(Edit, EditUndo, "undo", "undo", "ctrl+_", "ctrl+-", "ctrl+/", "ctrl+shift+-"),
		row(Edit, EditUnfold, "open", "put the folded paste beside the cursor into the text", "alt+o"),
	}
}
