//go:build !race

package toolrt

const underRace = false
