// Package approval decides whether a tool call may run: by rules, by protected targets, by the
// session's mode. It asks nobody and changes nothing; the only thing it looks at outside its
// arguments is where paths lead (links, and whether two names are one file).
//
// Start with [New], give it the rules that [Load] read, and call [Policy.Judge] for each call. The
// [Verdict] says allow, ask or deny, by what, and in a sentence why. When a person then wants a
// rule of their answer, [Policy.Choices] lists the rules that would have covered the call, narrow
// to wide, and [Policy.Add] puts one in force at once.
//
// # Rules
//
// A rule is written as the tool's name and, in parentheses, what its arguments must be:
//
//	sys.exec(go test *)                          the command "go test" with exactly one more word
//	sys.exec(git log **)                         "git log" with any rest
//	sys.exec(dir: /srv/site, make deploy)        the same for commands in a folder outside
//	sys.write(path: src/**)                      files below src of the working folder
//	sys.http.get(host: api.github.com)           https requests to that host
//	github.create_issue(owner=acme, repo=shop)   these two arguments, any others
//	github.*                                     every tool whose name begins so
//	build#3f2a…                                  the script tool "build" with exactly that text
//
// Conditions are key=value (equal), key~glob, key=~regexp (the whole value), key=1..5 (a number
// range), path:, host: and dir:. All must hold.
//
// # Order of decisions
//
//	a deny rule            deny
//	plan mode              deny whatever is not read-only
//	a protected target     ask, whatever rule or mode (A9)
//	ask and allow rules    the most specific one (A2)
//	a safe tool            allow
//	the mode               allow or ask
//
// # Shell commands
//
// A command is parsed, once as Bash and once as POSIX shell reads it, and taken apart into its
// simple commands and redirections, through wrappers such as env, sudo, xargs and sh -c (A6 to A8).
// Each part is judged by itself and the strictest verdict holds. Whatever cannot be read for
// certain (a variable in command position, a function that hides a command, code fed to an
// interpreter, text that does not parse) asks, and no rule changes that. A rule for commands holds
// in the working folder and the workspace; cd is followed.
package approval
