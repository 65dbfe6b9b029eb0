package sys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"parley/toolrt"
)

var errNoWorkspace = errors.New("there is no workspace to download to; name a location")

// download is sys.download: the contents of a URL in a file. The old file stays until the new one
// is complete (Q21); the call's timeout bounds it.
func download(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	address := a["url"]
	shown, err := downloadTarget(inv.Call, a)
	if err != nil {
		return toolrt.Output{}, broken("sys.download", err)
	}
	target := ResolvePath(inv.Call.Dir, shown)
	defer files.lock(target)()
	switch info, err := os.Stat(target); {
	case err == nil && (info.IsDir() || a["override"] != "true"):
		return failed("file %s already exists and can not be overwritten", shown), nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return failed("failed to stat file %s: %v", shown, asGiven(err, shown)), nil
	}
	encoded, err := encodeURL(address)
	if err != nil {
		return failed("failed to download %s: %v", address, err), nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, encoded, nil)
	if err != nil {
		return failed("failed to download %s: %v", address, err), nil
	}
	resp, err := newClient().Do(req)
	if err != nil {
		return failed("failed to download %s: %v", address, err), ctx.Err()
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode > 299 {
		return failed("invalid status code [%d] downloading [%s]: %s", resp.StatusCode, address, resp.Status), nil
	}
	kept, err := keep(inv, target)
	if err != nil {
		return failed("failed to create [%s]: %v", shown, err), nil
	}
	defer kept()
	var copying error
	err = replace(target, func(w io.Writer) error {
		_, copying = io.Copy(w, resp.Body)
		return copying
	})
	switch {
	case copying != nil:
		return failed("failed copying data from [%s] to [%s]: %v", address, shown, copying), ctx.Err()
	case err != nil:
		return failed("failed to create [%s]: %v", shown, asGiven(err, shown)), nil
	}
	out := text("Downloaded %s to %s", address, shown)
	out.FilesTouched = []string{target}
	return out, nil
}

// downloadTarget returns the file to write, as it is told to the model: a new one in the workspace
// without a location, and in the location if that is a folder.
func downloadTarget(call *toolrt.Call, a args) (string, error) {
	dir := call.Workspace
	if location := a["location"]; location != "" {
		info, err := os.Stat(absolute(call.Dir, location))
		if err != nil || !info.IsDir() {
			return location, nil
		}
		dir = location
	}
	if dir == "" {
		return "", errNoWorkspace
	}
	ending := ""
	if u, err := url.Parse(a["url"]); err == nil {
		ending = path.Ext(u.Path)
	}
	return filepath.Join(dir, fmt.Sprintf("gpt-download%s%s", strings.ReplaceAll(uuid.NewString(), "-", "")[:12], cleanEnding(ending))), nil
}

// cleanEnding keeps a file name's ending only if it is harmless.
func cleanEnding(ending string) string {
	for _, r := range strings.TrimPrefix(ending, ".") {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return ""
		}
	}
	if len(ending) > 16 {
		return ""
	}
	return ending
}

func previewDownload(call *toolrt.Call, a args, p *toolrt.Preview) {
	p.URL = a["url"]
	switch location := a["location"]; {
	case location != "":
		p.Paths = []string{ResolvePath(call.Dir, location)}
	case call.Workspace != "":
		p.Paths = []string{ResolvePath(call.Workspace, ".")}
	}
	if len(p.Paths) > 0 {
		p.Basis = basis(p.Paths[0], nil)
	}
}
