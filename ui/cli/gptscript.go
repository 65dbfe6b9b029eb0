package cli

import (
	"context"
	"errors"
	"fmt"
	goio "io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"parley/ui/tui/text"
)

// accepted are flags of GPTScript that do nothing here, with what parley does instead. They are
// taken so that scripts go on working.
var accepted = map[string]string{
	"disable-cache":  "replies of models are never taken from a cache",
	"cache-dir":      "replies of models are never taken from a cache",
	"confirm":        "parley always asks before calls that can change something",
	"force-chat":     "a chat goes on for as long as you write",
	"disable-tui":    "parley run is the way without a screen",
	"debug-messages": "the panel and parley history have every call and message",
	"no-trunc":       "outputs are kept whole",
	"color":          "NO_COLOR turns colours off",
}

// gptscript adds the flags that scripts for GPTScript use and parley names otherwise.
func (f *flags) gptscript(fs *pflag.FlagSet) {
	fs.StringVar(&f.model, "default-model", "", "the same as --model")
	fs.StringVar(&f.provider, "default-model-provider", "", "the provider of models that name none")
	fs.BoolVar(&f.sequential, "force-sequential", false, "the same as --sequential")
	fs.StringVar(&f.openaiKey, "openai-api-key", "", "the key for OpenAI")
	fs.StringVar(&f.baseURL, "openai-base-url", "", "the same as --base-url")
	fs.String("openai-org-id", "", "accepted")
	fs.StringVar(&f.systemTools, "system-tools-dir", "", "the `FOLDERS` for whose tools nothing is installed")
	fs.StringVar(&f.enterprise, "github-enterprise-hostname", "", "a further `HOST` for references to repositories")
	fs.BoolVar(&f.debug, "debug", false, "tell commands by GPTSCRIPT_DEBUG that they are looked at closely")
	hidden := []string{"default-model", "default-model-provider", "force-sequential", "openai-api-key", "openai-base-url", "openai-org-id",
		"system-tools-dir", "github-enterprise-hostname", "debug"}
	for name, instead := range accepted {
		if name == "cache-dir" || name == "color" {
			fs.String(name, "", "accepted; "+instead)
		} else {
			fs.Bool(name, false, "accepted; "+instead)
		}
		hidden = append(hidden, name)
	}
	hide(fs, hidden)
}

// gptscriptRun adds those of them that belong to commands which run a program.
func (f *flags) gptscriptRun(fs *pflag.FlagSet) {
	fs.StringVar(&f.dumpState, "dump-state", "", "write the whole chat as JSON to `FILE` at the end")
	fs.BoolVar(&f.listTools, "list-tools", false, "print the tools of the program, or the built-in ones, without their bodies")
	fs.BoolVar(&f.listModels, "list-models", false, "the same as parley models")
	hide(fs, []string{"dump-state", "list-tools", "list-models"})
}

func hide(fs *pflag.FlagSet, names []string) {
	for _, name := range names {
		if err := fs.MarkHidden(name); err != nil {
			panic(err) // a flag that was just added
		}
	}
}

// fromVariables are the flags that GPTSCRIPT_<NAME> sets where the command line does not (9.1). The
// variable of --input has another name, because tools find their input in GPTSCRIPT_INPUT.
var fromVariables = []string{
	"quiet", "chdir", "sub-tool", "chat-state", "save-chat-state-file", "force-sequential", "workspace",
	"events-stream-to", "default-model", "default-model-provider", "credential-context", "credential-override",
	"ports", "system-tools-dir", "github-enterprise-hostname", "input", "debug", "dump-state",
}

// fromEnvironment sets flags from GPTScript's variables.
func (f *flags) fromEnvironment(fs *pflag.FlagSet, getenv func(string) string) error {
	for _, name := range fromVariables {
		variable := "GPTSCRIPT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if name == "input" {
			variable += "_FILE"
		}
		flag, value := fs.Lookup(name), getenv(variable)
		if flag == nil || flag.Changed || value == "" || f.givenOtherwise(fs, name) {
			continue
		}
		if err := fs.Set(name, value); err != nil {
			return usagef("%s=%q: %w", variable, value, err)
		}
	}
	return nil
}

// givenOtherwise reports whether the command line has parley's own name of a flag.
func (f *flags) givenOtherwise(fs *pflag.FlagSet, name string) bool {
	own := map[string]string{"force-sequential": "sequential", "default-model": "model"}[name]
	flag := fs.Lookup(own)
	return own != "" && flag != nil && flag.Changed
}

// misplaced tells of words after the program that look like flags: they are part of its input, as in
// GPTScript, but seldom meant so.
func misplaced(io streams, fs *pflag.FlagSet, words []string) {
	for _, word := range words {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !strings.HasPrefix(word, "-") || name == "" {
			continue
		}
		flag := fs.Lookup(name)
		if !strings.HasPrefix(word, "--") {
			flag = nil
			if len(name) == 1 {
				flag = fs.ShorthandLookup(name)
			}
		}
		if flag != nil {
			fmt.Fprintf(io.err, "· %s is part of the input: flags stand before the program\n", text.Strict(word))
		}
	}
}

// maxInput bounds an input that is read from a file or stdin, in bytes.
const maxInput = 16 << 20

// readInput returns the input of a run: the text of --input, if there is any, else the given one.
func (f *flags) readInput(io streams, given string) (string, error) {
	if f.inputFile == "" {
		return given, nil
	}
	from := io.in
	if f.inputFile != "-" {
		dir, err := workingDir(f.chdir)
		if err != nil {
			return "", usageError{err}
		}
		file, err := os.Open(expand(dir, f.inputFile))
		if err != nil {
			return "", usagef("--input: %w", err)
		}
		defer func() { _ = file.Close() }() // opened for reading
		from = file
	}
	data, err := goio.ReadAll(goio.LimitReader(from, maxInput+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the input from %s: %w", f.inputFile, err)
	case len(data) > maxInput:
		return "", usagef("the input in %s is larger than %d MB", f.inputFile, maxInput>>20)
	case len(data) == 0:
		return given, nil
	}
	return string(data), nil
}

// resultFile is where -o sends the result, "" for stdout. --output takes a file as well, where its
// value cannot be meant for one of the forms.
func (f *flags) resultFile() string {
	to := f.outputFile
	if to == "" && !slices.Contains(outputForms, f.output) && strings.ContainsAny(f.output, `./\-`) {
		to = f.output
	}
	if to == "-" {
		return ""
	}
	return to
}

// form is the form of the output.
func (f *flags) form() string {
	if f.output == "" || !slices.Contains(outputForms, f.output) {
		return "text"
	}
	return f.output
}

// outputForms are the values of --output.
var outputForms = []string{"text", "json", "events"}

// withResult runs what prints a result to stdout, into the file of -o if there is one: that is
// replaced when the whole result is there.
func withResult(ctx context.Context, io streams, f *flags, run func(ctx context.Context, io streams) error) error {
	to := f.resultFile()
	if to == "" {
		return run(ctx, io)
	}
	dir, err := workingDir(f.chdir)
	if err != nil {
		return usageError{err}
	}
	var result strings.Builder
	io.out = &result
	err = run(ctx, io)
	if result.Len() == 0 && err != nil {
		return err
	}
	return errors.Join(err, writeFile(expand(dir, to), []byte(result.String())))
}
