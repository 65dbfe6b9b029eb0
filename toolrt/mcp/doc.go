// Package mcp connects to MCP servers and runs their tools: servers that are commands of this
// machine, spoken to over stdin and stdout, and servers behind a URL (section 8.3 of the program
// format). Start with [Servers], which holds the connections of one session: one for each distinct
// [Config], made when it is first needed and ended with the session.
//
// What servers send is foreign. Messages are repaired where one bad part would lose the rest,
// descriptions are cleaned and bounded, schemas are made safe, and what was left out is said.
package mcp
