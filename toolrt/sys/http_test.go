package sys

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/toolrt"
)

func server(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/text", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello %s", r.URL.RawQuery) })
	mux.HandleFunc("/a.tar", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "tar") })
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<h1>Title</h1><p>Text") })
	mux.HandleFunc("/deep", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("<div>", 600)) })
	mux.HandleFunc("/blank", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, " \n") })
	mux.HandleFunc("/teapot", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	mux.HandleFunc("/created", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "part")
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("Content-Type"), body)
	})
	mux.HandleFunc("/silent", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/text?b=1", http.StatusFound) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func TestHTTPGet(t *testing.T) {
	u := server(t)
	call := toolrt.Call{}
	get := func(path, want string, isError bool) {
		t.Helper()
		check(t, call, "sys.http.get", pairs("url", u+path), strings.ReplaceAll(want, "URL", u+path), isError)
	}
	get("/text?b=x y&a=ü", "hello a=%C3%BC&b=x+y", false)
	get("/moved", "hello b=1", false)
	check(t, call, "sys.http.get", pairs("url", u+"/blank"), "URL "+u+"/blank has no contents", false)
	get("/teapot", "failed to download URL: 418 I'm a teapot", true)
	get("/created", "failed to download URL: 201 Created", true)
	check(t, call, "sys.http.get", pairs("url", u+"/cut"), "Failed to fetch URL "+u+"/cut: unexpected EOF", true)
	check(t, call, "sys.http.get", pairs("url", ":bad"), `Failed to fetch URL :bad: parse ":bad": missing protocol scheme`, true)
	check(t, call, "sys.http.get", `{}`, `Failed to fetch URL : Get "": unsupported protocol scheme ""`, true)
}

func TestQ21PostReturnsTheAnswer(t *testing.T) {
	u := server(t)
	call := toolrt.Call{}
	check(t, call, "sys.http.post", pairs("url", u+"/echo", "content", "héllo", "contentType", "text/x"), "Wrote 6 to "+u+"/echo\nPOST text/x héllo", false)
	check(t, call, "sys.http.post", pairs("url", u+"/silent", "content", "a"), "Wrote 1 to "+u+"/silent", false)
	check(t, call, "sys.http.post", pairs("url", u+"/teapot"), "Failed to post URL "+u+"/teapot: 418 I'm a teapot", true)
	if _, err := run(t, call, "sys.http.post", pairs("url", ":bad")); err == nil {
		t.Error("a malformed URL is no result")
	}
}

func TestRedirectIntoPrivateNetwork(t *testing.T) {
	request := func(url string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	public, local := request("http://192.0.2.1/"), request("http://127.0.0.1/")
	for _, target := range []string{"http://127.0.0.1/x", "http://10.1.2.3/", "http://[::1]/", "http://169.254.169.254/latest"} {
		if err := checkRedirect(request(target), []*http.Request{public}); err == nil {
			t.Errorf("public to %s was followed", target)
		}
		if err := checkRedirect(request(target), []*http.Request{local}); err != nil {
			t.Errorf("local to %s: %v", target, err)
		}
	}
	if err := checkRedirect(request("http://192.0.2.2/"), []*http.Request{public}); err != nil {
		t.Errorf("public to public: %v", err)
	}
}

func TestQ21DownloadKeepsTheOldFile(t *testing.T) {
	unixOnly(t)
	u := server(t)
	dir, ws := t.TempDir(), t.TempDir()
	call := toolrt.Call{Dir: dir, Workspace: ws}
	check(t, call, "sys.download", pairs("url", u+"/text?a=1", "location", "f"), "Downloaded "+u+"/text?a=1 to f", false)
	if got := content(t, dir+"/f"); got != "hello a=1" {
		t.Errorf("got %q", got)
	}
	check(t, call, "sys.download", pairs("url", u+"/text", "location", "f"), "file f already exists and can not be overwritten", true)
	check(t, call, "sys.download", pairs("url", u+"/text", "location", "f", "override", "true"), "Downloaded "+u+"/text to f", false)
	if got := content(t, dir+"/f"); got != "hello " {
		t.Errorf("got %q", got)
	}
	check(t, call, "sys.download", pairs("url", u+"/teapot", "location", "g"), "invalid status code [418] downloading ["+u+"/teapot]: 418 I'm a teapot", true)
	check(t, call, "sys.download", pairs("url", u+"/text", "location", "no/g"), "failed to create [no/g]: open no/g: no such file or directory", true)
	check(t, call, "sys.download", pairs("url", u+"/text", "location", "f/g"), "failed to stat file f/g: stat f/g: not a directory", true)
	check(t, call, "sys.download", pairs("url", u+"/cut", "location", "f", "override", "true"), "failed copying data from ["+u+"/cut] to [f]: unexpected EOF", true)
	if got := content(t, dir+"/f"); got != "hello " {
		t.Errorf("Q21: the old file is gone, got %q", got)
	}
	if left, _ := filepath.Glob(dir + "/.parley*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	check(t, call, "sys.download", pairs("url", ":bad", "location", "g"), `failed to download :bad: parse ":bad": missing protocol scheme`, true)

	if err := os.Mkdir(dir+"/d", 0o755); err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]string{"": "Downloaded " + u + "/a.tar?x=.exe to " + ws + "/", "d": "Downloaded " + u + "/a.tar?x=.exe to d/"} {
		out, err := run(t, call, "sys.download", pairs("url", u+"/a.tar?x=.exe", "location", location))
		found, _ := filepath.Glob(filepath.Join(ws, "gpt-download*.tar"))
		if location != "" {
			found, _ = filepath.Glob(filepath.Join(dir, location, "gpt-download*.tar"))
		}
		if err != nil || len(found) != 1 || out.Text != want+filepath.Base(found[0]) {
			t.Errorf("location %q: got %q, %v, files %q", location, out.Text, err, found)
		}
	}
	call.Workspace = ""
	if _, err := run(t, call, "sys.download", pairs("url", u+"/text")); err == nil {
		t.Error("no workspace and no location is no result")
	}
	for ending, want := range map[string]string{".tar": ".tar", ".a/b": "", ".": ".", "": "", ".`x": "", "." + strings.Repeat("x", 20): ""} {
		if got := cleanEnding(ending); got != want {
			t.Errorf("cleanEnding(%q) = %q", ending, got)
		}
	}
}
