package wire

import "testing"

// A key is taken out of a server's error text; one that is part of ordinary words is not.
func TestK05KeyInErrorText(t *testing.T) {
	const body = `{"error":{"message":"Incorrect API key: sk-0123456789, look it up"}}`
	for key, want := range map[string]string{
		"sk-0123456789": "Incorrect API key: ‹secret:openai›, look it up",
		"k":             "Incorrect API key: sk-0123456789, look it up",
		"":              "Incorrect API key: sk-0123456789, look it up",
	} {
		err := Failure{Provider: "openai", Secret: key, Status: 401, Body: []byte(body)}.Error()
		if err.Message != want {
			t.Errorf("key %q: %q, want %q", key, err.Message, want)
		}
	}
}
