package persist

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"parley/agent/model"
	"parley/agent/record"
)

// roleVariable tells a copy of the test binary to be another process of parley.
const roleVariable = "PERSIST_TEST_ROLE"

// roles are what such a process can do with the database args[0].
var roles = map[string]func(args []string) error{
	"write": roleWrite,
	"hold":  roleHold,
	"lease": roleLease,
}

func runRole(role string, args []string) int {
	if err := roles[role](args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// startRole starts a process in that role. Its standard output is read through the scanner.
func startRole(t *testing.T, role string, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	// Standard input is open for as long as the test wants the process to live.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd, bufio.NewScanner(stdout)
}

// roleWrite makes a session and stores messages args[2]... as one turn of effects: it prints the
// session's id, then each message's index once it is committed. A count of 0 goes on for ever.
func roleWrite(args []string) error {
	ctx := context.Background()
	count, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	s, err := Open(ctx, args[0], Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	j, err := s.Create(ctx, record.Session{Dir: "/work"})
	if err != nil {
		return err
	}
	defer j.Close()
	if err := j.BeginTurn(ctx, record.Turn{Number: 1, Input: "go"}, record.Rows{}); err != nil {
		return err
	}
	fmt.Println(j.Session().ID)
	for i := 0; count == 0 || i < count; i++ {
		e := entry(1, "0", i)
		if err := j.Begin(ctx, e, record.Rows{Durable: i%2 == 0}); err != nil {
			return err
		}
		e.Result = json.RawMessage(`{"text":"done"}`)
		rows := record.Rows{
			Messages: []record.Message{shown(1, i, model.Assistant, fmt.Sprint("reply ", i))},
			Durable:  i%2 == 0,
		}
		if err := j.Finish(ctx, e, rows); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return j.EndTurn(ctx, record.Turn{Number: 1, Status: record.TurnDone}, record.Rows{})
}

// roleHold holds the database's write lock from its first line of output until its input ends.
func roleHold(args []string) error {
	ctx := context.Background()
	s, err := Open(ctx, args[0], Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	return s.write(ctx, &request{run: func(context.Context, *statements) error {
		fmt.Println("held")
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		return nil
	}})
}

// roleLease opens the session args[1] with a turn running until its input ends.
func roleLease(args []string) error {
	ctx := context.Background()
	s, err := Open(ctx, args[0], Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	j, err := s.OpenSession(ctx, args[1])
	if err != nil {
		return err
	}
	defer j.Close()
	if err := j.BeginTurn(ctx, record.Turn{Number: 1, Input: "go"}, record.Rows{}); err != nil {
		return err
	}
	fmt.Println("leased")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return nil
}
