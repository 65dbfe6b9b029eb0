package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"parley/agent"
)

// remote asks the person at the parley that runs this process as the command of a tool, through its
// prompt server (7.3).
type remote struct{ url, token string }

// newRemote returns who asks through the environment's prompt server, nil when there is none.
func newRemote(getenv func(string) string) *remote {
	url := getenv(agent.PromptURLVariable)
	if url == "" {
		return nil
	}
	return &remote{url: strings.TrimSuffix(url, "/"), token: getenv(agent.PromptTokenVariable)}
}

// Authorize asks about a call of this process.
func (r *remote) Authorize(ctx context.Context, q agent.ApprovalQuestion) (ans agent.ApprovalAnswer, err error) {
	q.Placed()
	err = r.post(ctx, "/authorize", q, &ans)
	return ans, err
}

// Prompt asks for values.
func (r *remote) Prompt(ctx context.Context, q agent.InputQuestion) (agent.InputAnswer, error) {
	values := map[string]string{}
	err := r.post(ctx, "/", q.Question, &values)
	return agent.InputAnswer{Values: values}, err
}

// provider asks for the use of a model's provider.
func (r *remote) provider(ctx context.Context, ref string) (lent agent.Lent, err error) {
	err = r.post(ctx, "/provider", map[string]string{"model": ref}, &lent)
	return lent, err
}

func (r *remote) post(ctx context.Context, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("ask the parley that runs this: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the parley that runs this: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Content-Type", "application/json")
	// The address is this machine's: no proxy has a say in it.
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the parley that runs this: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	err = errors.Join(err, resp.Body.Close())
	switch {
	case err != nil:
		return fmt.Errorf("ask the parley that runs this: %w", err)
	case resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusNotFound:
		return agent.ErrNobody
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("ask the parley that runs this: %s", strings.TrimSpace(string(text)))
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("ask the parley that runs this: %w", err)
	}
	return nil
}
