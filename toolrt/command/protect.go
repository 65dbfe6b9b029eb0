package command

import (
	"slices"
	"strings"
)

// providerKeys are the variables from which parley itself takes the keys of model providers, and
// its own passphrase. Commands do not get them; a tool that needs one asks for it by
// "Credentials: sys.model.provider.credential".
var providerKeys = []string{
	"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY",
	"OPENROUTER_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY",
	"TOGETHER_API_KEY", "FIREWORKS_API_KEY", "CEREBRAS_API_KEY", "PERPLEXITY_API_KEY", "COHERE_API_KEY",
	"AZURE_OPENAI_API_KEY", "AZURE_API_KEY", "HUGGINGFACE_API_KEY", "HF_TOKEN", "OLLAMA_API_KEY",
	"GPTSCRIPT_OPENAI_API_KEY", "PARLEY_API_KEY", "PARLEY_PASSPHRASE",
}

// ProviderKey reports whether a variable holds the key of a model provider or parley's passphrase.
// PARLEY_<PROVIDER>_API_KEY and GPTSCRIPT_PROVIDER_<HOST>_API_KEY count too.
func ProviderKey(name string) bool {
	name = strings.ToUpper(name)
	own := strings.HasPrefix(name, "PARLEY_") || strings.HasPrefix(name, "GPTSCRIPT_PROVIDER_")
	return slices.Contains(providerKeys, name) || own && strings.HasSuffix(name, "_API_KEY")
}

// StripProviderKeys returns environ without the keys of model providers. It is for the environment
// parley was started with: keys that a credential tool gave on purpose lie above it and stay.
func StripProviderKeys(environ []string) []string {
	kept := make([]string, 0, len(environ))
	for _, kv := range environ {
		if name, _, ok := cutVariable(kv); ok && !ProviderKey(name) {
			kept = append(kept, kv)
		}
	}
	return kept
}

// reserved reports variables that no argument may set, declared or not (Q18).
func reserved(name string) bool {
	return name == "PATH" || strings.HasPrefix(name, "GPTSCRIPT_") || strings.HasPrefix(name, "PARLEY_")
}

// hijackers are variables that make an interpreter load or run something, beside those of Q18.
var hijackers = []string{
	"HOME", "SHELL", "IFS", "ENV", "BASH_ENV", "PS4", "PROMPT_COMMAND", "NODE_OPTIONS", "NODE_PATH",
	"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB",
	"JAVA_TOOL_OPTIONS", "PATHEXT", "COMSPEC", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF",
}

// dangerous reports variables that an argument may set only where the tool declares a parameter of
// that name (Q18): they change what runs rather than what it works on.
func dangerous(name string) bool {
	return slices.Contains(hijackers, name) || strings.HasSuffix(name, "_API_KEY") ||
		strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "BASH_FUNC_")
}
