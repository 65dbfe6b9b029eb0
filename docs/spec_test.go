package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The specification of .gpt programs numbers the defects that are not to be repeated (Q1 to Q46), and has
// ten groups of test vectors (V11_1 to V11_10: parsing, normalisation, collisions, references, messages,
// commands, filters, sys.call, chat finish and limit, sharing). Each has a test with its number in its
// name: a Go test, or a script of testdata/script.
func TestEveryNumberOfTheSpecificationHasATest(t *testing.T) {
	found := map[string]bool{}
	names := regexp.MustCompile(`func Test(\w+)\(`)
	numbers := regexp.MustCompile(`Q[0-9]+|V11_[0-9]+`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != ".":
			return filepath.SkipDir
		case strings.HasSuffix(path, ".txtar"):
			for _, n := range numbers.FindAllString(strings.ToUpper(d.Name()), -1) {
				found[n] = true
			}
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, name := range names.FindAllStringSubmatch(string(text), -1) {
				for _, n := range numbers.FindAllString(name[1], -1) {
					found[n] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(prefix string, last int) {
		for i := 1; i <= last; i++ {
			if n := fmt.Sprint(prefix, i); !found[n] {
				t.Errorf("no test has %s in its name", n)
			}
		}
	}
	check("Q", 46)
	check("V11_", 10)
}
