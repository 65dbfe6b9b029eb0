package openai

import (
	"regexp"

	"parley/agent/model/internal/wire"
)

// catalogue holds window, output limit and prices in dollars per million tokens (in, out), as
// published in August 2026. Models that are not listed have unknown facts.
var catalogue = wire.Catalogue{
	"gpt-5.6-sol":   wire.Known("GPT-5.6 Sol", 1_050_000, 128_000, 5, 30),
	"gpt-5.6-terra": wire.Known("GPT-5.6 Terra", 1_050_000, 128_000, 2.5, 15),
	"gpt-5.6-luna":  wire.Known("GPT-5.6 Luna", 1_050_000, 128_000, 1, 6),
	"gpt-5.5":       wire.Known("GPT-5.5", 1_050_000, 128_000, 5, 30),
	"gpt-5.4":       wire.Known("GPT-5.4", 1_050_000, 128_000, 2.5, 15),
	"gpt-5.4-mini":  wire.Known("GPT-5.4 Mini", 400_000, 128_000, 0.75, 4.5),
	"gpt-5.4-nano":  wire.Known("GPT-5.4 Nano", 400_000, 128_000, 0.2, 1.25),
	"gpt-5.2":       wire.Known("GPT-5.2", 400_000, 128_000, 1.75, 14),
	"gpt-5.1":       wire.Known("GPT-5.1", 400_000, 128_000, 1.25, 10),
	"gpt-5":         wire.Known("GPT-5", 400_000, 128_000, 1.25, 10),
	"gpt-5-mini":    wire.Known("GPT-5 Mini", 400_000, 128_000, 0.25, 2),
	"gpt-5-nano":    wire.Known("GPT-5 Nano", 400_000, 128_000, 0.05, 0.4),
	"gpt-4.1":       wire.Known("GPT-4.1", 1_047_576, 32_768, 2, 8),
	"gpt-4.1-mini":  wire.Known("GPT-4.1 Mini", 1_047_576, 32_768, 0.4, 1.6),
	"gpt-4.1-nano":  wire.Known("GPT-4.1 Nano", 1_047_576, 32_768, 0.1, 0.4),
	"gpt-4o":        wire.Known("GPT-4o", 128_000, 16_384, 2.5, 10),
	"gpt-4o-mini":   wire.Known("GPT-4o mini", 128_000, 16_384, 0.15, 0.6),
	"o3":            wire.Known("o3", 200_000, 100_000, 2, 8),
	"o3-mini":       wire.Known("o3-mini", 200_000, 100_000, 1.1, 4.4),
	"o4-mini":       wire.Known("o4-mini", 200_000, 100_000, 1.1, 4.4),
}

// reasoners are OpenAI's models that refuse a temperature and max_tokens, by the names that OpenAI
// gives them. The "-chat" versions of GPT-5 take both.
var (
	reasoners = regexp.MustCompile(`^(o[134]|gpt-[56])([.-]|$)`)
	chatty    = regexp.MustCompile(`-chat(-|$)`)
)

func isReasoner(name string) bool { return reasoners.MatchString(name) && !chatty.MatchString(name) }

// quietWithTools are the models that take tools on this wire only when they do not reason.
var quietWithTools = map[string]bool{"gpt-6-sol": true, "gpt-6-luna": true}
