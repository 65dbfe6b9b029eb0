//go:build race

package toolrt

// underRace says that the race detector is on: a byte then costs some ten times as much.
const underRace = true
