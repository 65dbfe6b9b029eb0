package anthropic

import (
	"regexp"
	"strconv"

	"parley/agent/model/internal/wire"
)

// catalogue holds window, output limit and prices in dollars per million tokens (in, out), as
// published in August 2026. Models that are not listed have unknown facts.
var catalogue = wire.Catalogue{
	"claude-fable-5":    wire.Known("Claude Fable 5", 1_000_000, 128_000, 10, 50),
	"claude-mythos-5":   wire.Known("Claude Mythos 5", 1_000_000, 128_000, 10, 50),
	"claude-opus-5":     wire.Known("Claude Opus 5", 1_000_000, 128_000, 5, 25),
	"claude-opus-4-8":   wire.Known("Claude Opus 4.8", 1_000_000, 128_000, 5, 25),
	"claude-opus-4-7":   wire.Known("Claude Opus 4.7", 1_000_000, 128_000, 5, 25),
	"claude-opus-4-6":   wire.Known("Claude Opus 4.6", 200_000, 128_000, 5, 25),
	"claude-opus-4-5":   wire.Known("Claude Opus 4.5", 200_000, 64_000, 5, 25),
	"claude-opus-4-1":   wire.Known("Claude Opus 4.1", 200_000, 32_000, 15, 75),
	"claude-sonnet-5":   wire.Known("Claude Sonnet 5", 1_000_000, 128_000, 2, 10),
	"claude-sonnet-4-6": wire.Known("Claude Sonnet 4.6", 200_000, 128_000, 3, 15),
	"claude-sonnet-4-5": wire.Known("Claude Sonnet 4.5", 200_000, 64_000, 3, 15),
	"claude-haiku-4-5":  wire.Known("Claude Haiku 4.5", 200_000, 64_000, 1, 5),
}

// numbered is the name of a model with its version, which may be followed by a date.
var numbered = regexp.MustCompile(`^claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?$`)

// refusesTemperature reports the models that answer a temperature with status 400: Anthropic's from
// version 4.7 on.
func refusesTemperature(name string) bool { return version(name) >= 407 }

// adaptive is the first version that chooses the length of its thinking by an effort.
const adaptive = 406

// version returns the version in a model's name, 4.7 as 407; 0 where there is none.
func version(name string) int {
	m := numbered.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	// The numbers are digits; one too long for an int is far above any limit.
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return min(major, 1000)*100 + minor
}

// maxTokens bounds what is asked for when the request sets no limit: the wire must have one.
const maxTokens = 32_000

// outputLimit returns the limit to send.
func (m *claude) outputLimit(asked int) int64 {
	if asked > 0 {
		return int64(asked)
	}
	if known := m.Info().MaxOutput; known > 0 {
		return int64(min(known, maxTokens))
	}
	return 8192
}
