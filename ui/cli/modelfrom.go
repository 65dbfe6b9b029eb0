package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"parley/agent/model"
)

// openFrom opens the model of "Model: NAME from PROVIDER" (4.9), where PROVIDER is the address of a
// server that speaks OpenAI's protocol. Its key is in GPTSCRIPT_PROVIDER_<HOST>_API_KEY; a server on
// this machine needs none.
func (a *app) openFrom(name, provider string, o model.Options) (model.Model, error) {
	u, err := url.Parse(provider)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("model %q: its provider %q is no address; "+
			"write NAME from https://HOST/v1, or choose one of parley's own with --model PROVIDER/NAME; a program's Model: line may name a tool", name, provider)
	}
	variable := "GPTSCRIPT_PROVIDER_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(u.Hostname())) + "_API_KEY"
	o.BaseURL = provider
	o.Keys = func(context.Context, string) (string, error) {
		key := a.io.getenv(variable)
		if key != "" {
			a.redactor.Add("the key for "+u.Hostname(), key)
		}
		return key, nil
	}
	// The name may hold slashes of its own: it is never taken for a provider's.
	return a.models.Open("openai/"+name, "", o)
}

// openVia opens the model of "Model: NAME from TOOL" (4.9): its requests go to the server of that
// tool, on this machine, without a key.
func (a *app) openVia(name string, through func(http.RoundTripper) http.RoundTripper) (model.Model, error) {
	o := a.modelOptions()
	o.BaseURL, o.Keys = "http://localhost/v1", nil
	o.Transport = through(a.transport())
	return a.models.Open("openai/"+name, "", o)
}
