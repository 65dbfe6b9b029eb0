package openai

import "testing"

func TestOllamaAddress(t *testing.T) {
	for host, want := range map[string]string{
		"": "http://localhost:11434/v1", "0.0.0.0": "http://localhost:11434/v1", "0.0.0.0:9": "http://localhost:9/v1",
		":9": "http://localhost:9/v1", "box": "http://box:11434/v1", "http://box:9/": "http://box:9/v1",
		"https://ai.example.com": "https://ai.example.com/v1", "https://x/ollama": "https://x/ollama/v1",
	} {
		if got := ollamaAddress(host); got != want {
			t.Errorf("%q: got %s, want %s", host, got, want)
		}
	}
}
