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

// caseTests names the tests that hold the 64 cases of the tool runtime's specification, where design.md
// differs for ours. Some are held by several.
var caseTests = map[int]string{
	1: "TestR1SeedEmptyBatchReturnsEmpty", 2: "TestR2R43EveryCallHasItsOutcome", 3: "TestR3RemovedToolStillRunsInItsBatch",
	4: "TestR4RepeatedAndEmptyIDs", 5: "TestT10R6R7R9Arguments", 6: "TestT09R8CutOffArgumentsDoNotRun", 7: "TestT10R6R7R9Arguments",
	8: "TestT10R6R7R9Arguments", 9: "TestR10TooLargeArguments", 10: "TestR5NumbersAreExact", 11: "TestR12AtMostFiveProblems",
	12: "TestR11UnusableSchemas", 13: "TestR13UnknownTools",
	14: "TestSeedZeroConcurrencyDoesNotHang", 15: "TestR18ConcurrencyIsBounded", 16: "TestR15ResultsInCallOrder",
	17: "TestR16InOrderAndConcurrentFirst", 18: "TestR16R17WriteOverlapsNone", 19: "TestR17TwoBatchesShareTheGate",
	20: "TestR19ExclusiveIsNotStarved", 21: "TestR20DelegatingCallsHoldNothing", 22: "TestR20R22QuestionsInCallOrderAndEarly",
	23: "TestR24R25TimeoutWithPartialOutput", 24: "TestR24WaitsDoNotCount", 25: "TestR26OwnDeadlineIsAFailure",
	26: "TestR21R27R28Cancel TestR39EventsOfEachCall", 27: "TestR29R30AbandonedCalls", 28: "TestR29R30AbandonedCalls",
	29: "TestR31T03CancelEndsTheTree", 30: "TestR32PanicsAreCaught", 31: "TestR33GoexitIsLikeAPanic", 32: "TestR34R35Outputs",
	33: "TestR36StopTurn", 34: "TestR37ProgressIsJoined",
	35: "TestR44StopOnFailure", 36: "TestR44LowestIndexIsNamed TestR14R44UnknownToolStopsOnlyWhatFollows", 37: "TestR47R49ErrorTextComesBack",
	38: "FuzzErrorMessage", 39: "TestR47TextIsSentAsText", 40: "TestR45TurnThatCannotBeWalkedAgain",
	41: "TestR52TimesAreReal", 42: "TestR51PendingRowsInCallOrder", 43: "TestR53StoreThatFailsAtTheEnd", 44: "TestR54StoreThatFailsBeforeTheStart",
	45: "TestR55CancelledCallsAreRecorded TestR56WithoutARecorderTheSame",
	46: "TestR58WithinTheLimitsNothingChanges TestR60R62OneLineMore TestR57TerminalOutput", 47: "TestR60OneLongLineOfWideCharacters",
	48: "TestR58R59R60R61R62Property", 49: "TestR62FailedSaveIsNotClaimed", 50: "TestR63R64IDsStayInTheFolder",
	51: "TestR67R69R70SecretsStayWithTheTool", 52: "TestT05R66HugeOutputStaysSmall",
	53: "TestD01StopAfterEveryCommit", 54: "TestD01StopAfterEveryCommit",
	55: "TestCase55EqualCallsAreALoop TestCase55ChangingResultsAreNoLoop", 56: "TestA6A7A8P01P04Corpus TestA11PartsSayWhichOneAsks",
	57: "TestA6A7A8P01P04Corpus", 58: "TestA6A7A8P01P04Corpus", 59: "TestP05GrantCoversWhatItsLabelSays",
	60: "TestA13A17R46Denials TestP09A13Denials", 61: "TestA14EditIsJudgedAgain TestA14EditedArguments", 62: "TestA16FirstAnswerWins",
	63: "TestA13A17R46Denials", 64: "TestA4UntrustedProjectFileOnlyNarrows",
}

// Each rule of the tool runtime and of approvals stands in the name of a test, and each of its cases
// has one.
func TestEveryRuleHasATest(t *testing.T) {
	names, screen := testNames(t)
	// R-01 and the like of the screen are cases from the field, not rules.
	inside := strings.Join(names, "\n")
	names = append(names, screen...)
	all := strings.Join(names, "\n")
	for _, series := range []struct {
		letter string
		last   int
		names  string
	}{{"R", 71, inside}, {"A", 19, all}} {
		for n := 1; n <= series.last; n++ {
			if !regexp.MustCompile(fmt.Sprintf(`(?m)%s%d(\D|$)`, series.letter, n)).MatchString(series.names) {
				t.Errorf("no test has %s%d in its name", series.letter, n)
			}
		}
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for n := 1; n <= 64; n++ {
		if caseTests[n] == "" {
			t.Errorf("case %d has no test", n)
		}
		for _, name := range strings.Fields(caseTests[n]) {
			if !known[name] {
				t.Errorf("case %d: there is no test %s", n, name)
			}
		}
	}
}

// testNames lists the tests and scripts of the repository, those of the screen apart; a script's name is
// its file's in capitals.
func testNames(t *testing.T) (names, screen []string) {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".txtar"):
			names = append(names, strings.ToUpper(strings.TrimSuffix(d.Name(), ".txtar")))
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range function.FindAllStringSubmatch(string(text), -1) {
				if strings.HasPrefix(filepath.ToSlash(path), "ui/tui/") {
					screen = append(screen, m[1])
				} else {
					names = append(names, m[1])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, screen
}
