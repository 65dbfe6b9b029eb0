package command

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

const (
	// overflowSize is the length in bytes from which a value is compressed (6.2).
	overflowSize = 40_000
	// ownTotal bounds all variables that carry the call's own data, in bytes (Q34). Linux refuses
	// a program whose arguments and environment are too large.
	ownTotal = 100_000
	// decodedMax bounds what Decompress unpacks, so that a small value cannot fill the memory.
	decodedMax = 16 << 20
)

// Compress returns value in the form that tools read with "getenv": {"_gz":"<base64 of gzip>"}.
func Compress(value string) string {
	var buf bytes.Buffer
	gz := gzip.NewWriter(&buf)
	_, _ = io.WriteString(gz, value) // a bytes.Buffer takes everything
	_ = gz.Close()
	return `{"_gz":"` + base64.StdEncoding.EncodeToString(buf.Bytes()) + `"}`
}

// Decompress undoes [Compress]. A value in another form is returned as it is. The error says that
// the value claims to be compressed and is not, or that it unpacks to more than 16 MiB.
func Decompress(value string) (string, error) {
	if !strings.HasPrefix(value, `{"_gz":`) {
		return value, nil
	}
	var packed struct {
		Data []byte `json:"_gz"`
	}
	if err := json.Unmarshal([]byte(value), &packed); err != nil {
		return "", fmt.Errorf("read compressed variable: %w", err)
	}
	gz, err := gzip.NewReader(bytes.NewReader(packed.Data))
	if err != nil {
		return "", fmt.Errorf("read compressed variable: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(gz, decodedMax+1))
	if err != nil {
		return "", fmt.Errorf("read compressed variable: %w", err)
	}
	if len(text) > decodedMax {
		return "", fmt.Errorf("read compressed variable: more than %d bytes", decodedMax)
	}
	return string(text), nil
}

// fit brings the call's own variables under ownTotal: the largest are compressed first, and if
// that is not enough the second spellings go. What then is still too large stays, and the system's
// error says so.
func fit(vars []entry) []entry {
	total := 0
	for _, v := range vars {
		if v.own {
			total += len(v.name) + len(v.value) + 2
		}
	}
	packed := map[int]bool{}
	for total > ownTotal {
		i := largest(vars, packed)
		if i < 0 {
			break
		}
		packed[i] = true
		if text := Compress(vars[i].value); len(text) < len(vars[i].value) {
			total -= len(vars[i].value) - len(text)
			vars[i].value = text
		}
	}
	if total <= ownTotal {
		return vars
	}
	kept := vars[:0]
	for _, v := range vars {
		if !v.spelling {
			kept = append(kept, v)
		}
	}
	return kept
}

// largest returns the index of the longest own value that is not compressed yet, -1 if only short
// ones are left.
func largest(vars []entry, packed map[int]bool) int {
	best, size := -1, 256 // a shorter value does not get shorter
	for i, v := range vars {
		if v.own && !packed[i] && len(v.value) > size && !strings.HasPrefix(v.value, `{"_gz":"`) {
			best, size = i, len(v.value)
		}
	}
	return best
}
