package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/toolrt"
)

// load loads a document that must be readable.
func load(t *testing.T, text string) *Document {
	t.Helper()
	doc, err := Load([]byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// one is a document of one operation.
func one(operation string) string {
	return `{"openapi":"3.0.0","info":{"title":"T","version":"1"},"servers":[{"url":"https://api.example.com/v1/"}],
		"paths":{"/a/{p}":{"post":` + operation + `}}}`
}

// 8.1: names, descriptions, servers, order.
func TestOperations8_1(t *testing.T) {
	doc := load(t, `
openapi: "3.0.1"
info: {title: Pets, version: "1"}
servers: [{url: "https://{where}.example.com/{v}", variables: {where: {enum: [eu, us]}, v: {default: v2}}}, {url: "https://other.example.com"}]
paths:
  /pets/{id}.json:
    servers: [{url: "http://path.example.com"}]
    put: {description: long, summary: short, servers: [{url: "http://op.example.com/"}]}
    get: {summary: short}
  /a-b/~x:
    get: {operationId: "the Id"}
    delete: {description: "`+strings.Repeat("ü", 600)+`"}
`)
	var got []string
	for _, o := range doc.Operations {
		got = append(got, fmt.Sprintf("%s %s %s%s read=%v %d", o.Name, o.Request.Method, o.Request.Server, o.Request.Path, o.ReadOnly(), len(o.Description)))
	}
	want := []string{
		"delete_a-b_x DELETE https://eu.example.com/v2/a-b/~x read=false 1024",
		"the Id GET https://eu.example.com/v2/a-b/~x read=true 0",
		"get_pets_idjson GET http://path.example.com/pets/{id}.json read=true 5",
		"put_pets_idjson PUT http://op.example.com/pets/{id}.json read=false 4",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
	if doc.Title != "Pets" {
		t.Error(doc.Title)
	}
}

// 8.1: where a document names no server, the host that it came from is the server.
func TestServers8_1(t *testing.T) {
	const bare = `{"openapi":"3.0.0","info":{"title":"","version":""},"paths":{"/a":{"get":{}}}%s}`
	for _, c := range []struct{ servers, origin, want string }{
		{``, "http://127.0.0.1:80/x/api.json?a=b", "http://127.0.0.1:80"},
		{``, "", "no servers found in OpenAPI spec"},
		{`,"servers":[{"url":"/v3"}]`, "https://h.example/x/api.json", "https://h.example/v3"},
		{`,"servers":[{"url":"/v3"}]`, "", "invalid server URL: /v3 (must use HTTP or HTTPS; relative URLs not supported)"},
		{`,"servers":[{"url":"ftp://x"}]`, "https://h.example/api.json", "invalid server URL: ftp://x (must use HTTP or HTTPS; relative URLs not supported)"},
		{`,"servers":[{"url":"https://a.example"},{"url":"http://b.example"}]`, "", "https://a.example"},
	} {
		doc, err := Load(fmt.Appendf(nil, bare, c.servers), c.origin)
		got := fmt.Sprint(err)
		if err == nil {
			got = doc.Operations[0].Request.Server
		}
		if got != c.want {
			t.Errorf("%s from %q: got %s, want %s", c.servers, c.origin, got, c.want)
		}
	}
}

// Version 2 is converted.
func TestSwagger8_1(t *testing.T) {
	doc := load(t, `
swagger: "2.0"
info: {title: Old, version: "1"}
host: old.example.com
basePath: /v1
schemes: [http]
securityDefinitions: {key: {type: apiKey, in: header, name: X-Key}, pw: {type: basic}}
security: [{pw: []}]
definitions: {Pet: {type: object, properties: {name: {type: string}}}}
paths:
  /pets/{id}:
    post:
      operationId: addPet
      parameters:
        - {name: id, in: path, type: integer, required: true}
        - {name: tags, in: query, type: array, items: {type: string}, collectionFormat: csv}
        - {name: pet, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}
      responses: {200: {description: ok}}
`)
	o := doc.Operations[0]
	if o.Request.Server != "http://old.example.com/v1" || o.Request.BodyContentMIME != mimeJSON {
		t.Errorf("%+v", o.Request)
	}
	const want = `{"properties":{"id":{"type":"integer"},"requestBodyContent":{"properties":{"name":{"type":"string"}},"type":"object"},` +
		`"tags":{"items":{"type":"string"},"type":"array"}},"required":["id","requestBodyContent"],"type":"object"}`
	if string(o.Parameters) != want {
		t.Errorf("got  %s\nwant %s", o.Parameters, want)
	}
	if len(o.Credentials) != 2 || o.Credentials[1] != (Credential{"old.example.compwPassword", "GPTSCRIPT_OLD_EXAMPLE_COM_PW_PASSWORD", "password"}) {
		t.Errorf("%+v", o.Credentials)
	}
}

// Q22: which type of body is taken does not depend on the order of a map, and all four are known.
func TestQ22BodyTypes(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{`{"text/plain":{},"multipart/form-data":{},"application/json":{}}`, mimeJSON},
		{`{"text/plain":{},"multipart/form-data":{},"application/x-www-form-urlencoded":{}}`, mimeForm},
		{`{"text/plain":{},"multipart/form-data":{}}`, mimeMultipart},
		{`{"text/plain":{},"image/png":{}}`, mimeText},
		{`{"application/json; charset=utf-8":{}}`, mimeJSON},
		{`{"image/png":{}}`, "the operation POST /a/{p} is left out: its body has no type that is supported"},
	} {
		doc := load(t, one(`{"requestBody":{"content":`+c.content+`}}`))
		got := ""
		if len(doc.Operations) == 1 {
			got = doc.Operations[0].Request.BodyContentMIME
		} else {
			got = strings.Join(doc.Remarks, "")
		}
		if got != c.want {
			t.Errorf("%s: got %s", c.content, got)
		}
	}
}

// 8.1: schemas in the words of JSON Schema, read-only properties out of bodies, recursion by $defs.
func TestSchemas8_1(t *testing.T) {
	text := strings.Replace(one(`{"parameters":[{"name":"p","in":"path","schema":{"type":"integer","minimum":1,"exclusiveMinimum":true,"maximum":9}},
		{"name":"q","in":"query","schema":{"type":"string","nullable":true,"enum":["a"],"x-more":1,"example":"a"}},
		{"name":"f","in":"query","content":{"application/json":{"schema":{"type":"object"}}}},
		{"name":"n","in":"header"},{"name":"b","in":"body","schema":{}}],
		"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Node"}}}}}`),
		`"paths"`, `"components":{"schemas":{"Node":{"type":"object","required":["id","next"],"additionalProperties":false,
		"properties":{"id":{"type":"string","readOnly":true},"next":{"$ref":"#/components/schemas/Node"},
		"any":{"oneOf":[{"type":"string"},{"$ref":"#/components/schemas/Other"}]}}},"Other":{"type":"boolean"}}},"paths"`, 1)
	doc := load(t, text)
	const node = `{"additionalProperties":false,"properties":{"any":{"oneOf":[{"type":"string"},{"type":"boolean"}]},"next":{"$ref":"#/$defs/Node"}},"required":["next"],"type":"object"}`
	want := `{"$defs":{"Node":` + node + `},"properties":{"f":{"type":"object"},"n":{},"p":{"exclusiveMinimum":1,"maximum":9,"type":"integer"},` +
		`"q":{"enum":["a",null],"type":["string","null"]},"requestBodyContent":` + node + `},"required":["p","requestBodyContent"],"type":"object"}`
	if got := string(doc.Operations[0].Parameters); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(doc.Remarks) != 1 || !strings.Contains(doc.Remarks[0], `it is in "body"`) {
		t.Error(doc.Remarks)
	}
}

// 8.1: how arguments are written into a request.
func TestStyles8_1(t *testing.T) {
	yes, no := true, false
	list, object := `{"p":["a","b c"]}`, `{"p":{"x":1.50,"y":"b/c"}}`
	for _, c := range []struct {
		in      string
		style   string
		explode *bool
		args    string
		want    string
	}{
		{"path", "", nil, `{"p":"a/b ?"}`, "/a/a%2Fb%20%3F"},
		{"path", "", nil, `{"p":".."}`, "/a/%2E%2E"},
		{"path", "", nil, list, "/a/a,b%20c"},
		{"path", "", nil, object, "/a/x,1.50,y,b%2Fc"},
		{"path", "simple", &yes, object, "/a/x=1.50,y=b%2Fc"},
		{"path", "label", nil, `{"p":5}`, "/a/.5"},
		{"path", "label", nil, list, "/a/.a,b%20c"},
		{"path", "label", &yes, list, "/a/.a.b%20c"},
		{"path", "label", &yes, object, "/a/.x=1.50.y=b%2Fc"},
		{"path", "matrix", nil, `{"p":true}`, "/a/;p=true"},
		{"path", "matrix", nil, list, "/a/;p=a,b%20c"},
		{"path", "matrix", &yes, list, "/a/;p=a;p=b%20c"},
		{"path", "matrix", &yes, object, "/a/;x=1.50;y=b%2Fc"},
		{"path", "", nil, `{}`, "the argument p, which is part of the path /a/{p}, is missing"},
		{"query", "", nil, `{"p":"a&b"}`, "p=a%26b"},
		{"query", "", nil, `{"p":null}`, ""},
		{"query", "form", nil, list, "p=a&p=b+c"},
		{"query", "form", &no, list, "p=a%2Cb+c"},
		{"query", "spaceDelimited", &no, list, "p=a+b+c"},
		{"query", "pipeDelimited", &no, list, "p=a%7Cb+c"},
		{"query", "", nil, object, "x=1.50&y=b%2Fc"},
		{"query", "form", &no, object, "p=x%2C1.50%2Cy%2Cb%2Fc"},
		{"query", "deepObject", nil, `{"p":{"x":1,"y":{"z":["a","b"]}}}`, "p%5Bx%5D=1&p%5By%5D%5Bz%5D=a&p%5By%5D%5Bz%5D=b"},
		{"header", "", nil, list, "a,b c"},
		{"header", "", nil, object, "x,1.50,y,b/c"},
		{"header", "", &yes, object, "x=1.50,y=b/c"},
		{"header", "", nil, `{"p":"a\r\nb: c"}`, "the argument p has several lines, which no header can hold"},
		{"cookie", "", nil, list, `p="a,b c"`},
	} {
		r := Request{Server: "http://h.example", Path: "/a", Method: "GET"}
		p := []Parameter{{Name: "p", Style: c.style, Explode: c.explode}}
		switch c.in {
		case "path":
			r.Path, r.PathParameters = "/a/{p}", p
		case "query":
			r.QueryParameters = p
		case "header":
			r.HeaderParameters = p
		default:
			r.CookieParameters = p
		}
		in, err := parseInput(c.args)
		if err != nil {
			t.Fatal(err)
		}
		req, err := (&Tool{Request: r}).request(t.Context(), in)
		got := fmt.Sprint(err)
		if err == nil {
			got = map[string]string{"path": req.URL.EscapedPath(), "query": req.URL.RawQuery, "header": req.Header.Get("p"), "cookie": req.Header.Get("Cookie")}[c.in]
		}
		if got != c.want {
			t.Errorf("%s %s %v %s: got %s, want %s", c.in, c.style, c.explode != nil && *c.explode, c.args, got, c.want)
		}
	}
}

// server answers with what it was sent.
func server(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func mirror(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	fmt.Fprintf(w, "%s %s %s %q %s %s %s", r.Method, r.RequestURI, kind, body, r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.Header.Get("Cookie"))
}

// send runs the tool of a request.
func send(t *testing.T, r Request, args string, env ...string) (toolrt.Output, error) {
	t.Helper()
	tool := &Tool{Name: "op", Request: r}
	return tool.Run(t.Context(), &toolrt.Invocation{Call: &toolrt.Call{Env: append(env, "A=b")}, Args: args, Out: io.Discard})
}

// Q22: the four types of bodies.
func TestQ22BodiesAsSent(t *testing.T) {
	url := server(t, mirror)
	for _, c := range []struct{ mime, args, want string }{
		{mimeJSON, `{"requestBodyContent":{"b":1.50,"a":"<x>"}}`, `POST / application/json "{\"a\":\"<x>\",\"b\":1.50}\n"   `},
		{mimeJSON, `{}`, `POST / application/json "{}\n"   `},
		{mimeJSON, `{"requestBodyContent":[1]}`, `POST / application/json "[1]\n"   `},
		{mimeText, `{"requestBodyContent":"a b"}`, `POST / text/plain "a b"   `},
		{mimeForm, `{"requestBodyContent":{"a":[1,2],"b":"x y"}}`, `POST / application/x-www-form-urlencoded "a=1&a=2&b=x+y"   `},
		{mimeForm, `{"requestBodyContent":"x"}`, "ERROR: got (application/x-www-form-urlencoded requires an object as the requestBodyContent) while running tool, OUTPUT: "},
		{mimeMultipart, `{"requestBodyContent":1}`, "ERROR: got (multipart/form-data requires an object as the requestBodyContent) while running tool, OUTPUT: "},
		{"", `{}`, `POST /  ""   `},
	} {
		out, err := send(t, Request{Server: url, Path: "/", Method: "POST", BodyContentMIME: c.mime}, c.args)
		if err != nil || out.Text != c.want {
			t.Errorf("%s %s: %v\ngot  %s\nwant %s", c.mime, c.args, err, out.Text, c.want)
		}
	}
	out, err := send(t, Request{Server: url, Path: "/", Method: "POST", BodyContentMIME: mimeMultipart}, `{"requestBodyContent":{"a":"x"}}`)
	if err != nil || !strings.Contains(out.Text, `name=\"a\"\r\n\r\nx\r\n`) {
		t.Errorf("%v: %s", err, out.Text)
	}
}

// Q22: an answer that is no success says so. Q30: a request that cannot be made is answered to the
// model, and ends the run only where the call is the program's own or part of something.
func TestQ22Q30Failures(t *testing.T) {
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "no pet")
		case "/picture":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte{0x89, 'P', 0xff})
		case "/away":
			http.Redirect(w, r, "http://127.0.0.1:1/x", http.StatusFound)
		}
	})
	for path, want := range map[string]string{
		"/gone": "HTTP status 404 Not Found\nno pet", "/picture": "[3 bytes of image/png, not shown]", "/empty": "",
	} {
		out, err := send(t, Request{Server: url, Path: path, Method: "GET"}, `{}`)
		if err != nil || out.Text != want || out.IsError != (path == "/gone") {
			t.Errorf("%s: %v %+v", path, err, out)
		}
	}
	away := Request{Server: url, Path: "/away", Method: "GET"}
	if out, err := send(t, away, `{}`); err != nil || !strings.HasPrefix(out.Text, "ERROR: got (failed to make request: ") ||
		!strings.HasSuffix(out.Text, "redirected to another server, which was not asked for: 127.0.0.1:1) while running tool, OUTPUT: ") {
		t.Errorf("%v %s", err, out.Text)
	}
	tool := &Tool{Name: "op", Request: away, Abort: true}
	if _, err := tool.Run(t.Context(), &toolrt.Invocation{Call: &toolrt.Call{}, Args: "{}"}); err == nil {
		t.Error("the program's own call did not end the run")
	}
}

// 8.2: the first way whose variables are all set is used.
func TestSecurity8_2(t *testing.T) {
	url := server(t, mirror)
	header := Security{Name: "k.1", Type: "apiKey", APIKeyName: "X-Key", In: "header"}
	cookie := Security{Name: "c", Type: "apiKey", APIKeyName: "sid", In: "cookie"}
	query := Security{Name: "q", Type: "apiKey", APIKeyName: "key", In: "query"}
	basic := Security{Name: "b", Type: "http", Scheme: "basic"}
	bearer := Security{Name: "t-1", Type: "http", Scheme: "bearer"}
	const pre = "GPTSCRIPT_127_0_0_1_"
	for _, c := range []struct {
		ways [][]Security
		env  []string
		want string
	}{
		{[][]Security{{header}}, []string{pre + "K_1=s"}, `GET /?a=1  ""  s `},
		{[][]Security{{header, query}, {bearer}}, []string{pre + "K_1=s", pre + "T_1=t"}, `GET /?a=1  "" Bearer t  `},
		{[][]Security{{header, query, cookie}}, []string{pre + "K_1=s", pre + "Q=q", pre + "C=c"}, `GET /?a=1&key=q  ""  s sid=c`},
		{[][]Security{{basic}}, []string{pre + "B_USERNAME=u", pre + "B_PASSWORD=p"}, `GET /?a=1  "" Basic dTpw  `},
		{nil, []string{pre + "BEARER_TOKEN=x"}, `GET /?a=1  "" Bearer x  `},
		{[][]Security{{bearer}}, []string{pre + "T_1=t", pre + "BEARER_TOKEN=x"}, `GET /?a=1  "" Bearer t  `},
		{[][]Security{{header}, {}}, nil, `GET /?a=1  ""   `},
		{[][]Security{{basic}, {bearer}}, []string{pre + "B_USERNAME=u"}, "ERROR: got (error setting up authentication: did not find the needed environment variables for any of the security options. " +
			"At least one of these sets of environment variables must be provided: [[GPTSCRIPT_127_0_0_1_B_PASSWORD] [GPTSCRIPT_127_0_0_1_T_1]]) while running tool, OUTPUT: "},
	} {
		r := Request{Server: url, Path: "/", Method: "GET", SecurityInfos: c.ways, QueryParameters: []Parameter{{Name: "a"}}}
		out, err := send(t, r, `{"a":1}`, c.env...)
		if err != nil || out.Text != c.want {
			t.Errorf("%v with %v: %v\ngot  %s\nwant %s", c.ways, c.env, err, out.Text, c.want)
		}
	}
	r := Request{Server: "http://api.example.com", Path: "/", Method: "GET", SecurityInfos: [][]Security{{header}}}
	if out, err := send(t, r, `{}`, "GPTSCRIPT_API_EXAMPLE_COM_K_1=s"); err != nil || !strings.Contains(out.Text, "is not sent over plain http") {
		t.Errorf("%v %s", err, out.Text)
	}
}

// 8.2: which ways an operation has, and what is asked for.
func TestSecurityOfOperations8_2(t *testing.T) {
	const schemes = `"components":{"securitySchemes":{"o":{"type":"oauth2","flows":{}},"k":{"type":"apiKey","in":"header","name":"X-Key"},
		"t":{"type":"http","scheme":"Bearer"},"bad name":{"type":"http","scheme":"bearer"}}},"security":[{"t":[]}],"paths"`
	for _, c := range []struct{ security, want string }{
		{``, "t; api.example.comt"},
		{`"security":[]`, ""},
		{`"security":[{"o":[]},{"k":[],"t":[]},{"k":[]}]`, "k+t,k; api.example.comk api.example.comt"},
		{`"security":[{"o":[],"k":[]},{"missing":[]},{"bad name":[]}]`, ""},
		{`"security":[{},{"k":[]}]`, "k,; "},
	} {
		o := load(t, strings.Replace(one(`{`+c.security+`}`), `"paths"`, schemes, 1)).Operations[0]
		var ways, asked []string
		for _, way := range o.Request.SecurityInfos {
			var names []string
			for _, s := range way {
				names = append(names, s.Name)
			}
			ways = append(ways, strings.Join(names, "+"))
		}
		for _, a := range o.Credentials {
			asked = append(asked, a.Name)
		}
		got := ""
		if len(ways) > 0 {
			got = strings.Join(ways, ",") + "; " + strings.Join(asked, " ")
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.security, got, c.want)
		}
	}
}

// The body of a tool holds the request, whatever is in it.
func TestBodyRoundTrip(t *testing.T) {
	r := Request{Server: "https://h", Path: "/it's <a>&b", Method: "GET", QueryParameters: []Parameter{{Name: "'"}}}
	body, err := r.Body()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseBody(body)
	if err != nil || back.Path != r.Path || back.QueryParameters[0].Name != "'" {
		t.Errorf("%s: %v %+v", body, err, back)
	}
	if _, err := ParseBody("#!sys.openapi '{'"); err == nil {
		t.Error("a broken body was read")
	}
}

// Documents that are no help: references out of them, recursion, sizes.
func TestHostileDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"file":    `{"openapi":"3.0.0","paths":{"/a":{"$ref":"/etc/passwd"}}}`,
		"remote":  one(`{"parameters":[{"$ref":"http://127.0.0.1:1/p.yaml"}]}`),
		"outside": one(`{"requestBody":{"content":{"application/json":{"schema":{"$ref":"../x.yaml#/a"}}}}}`),
		"loop":    one(`{"parameters":[{"$ref":"#/components/parameters/a"}]}`),
		"type":    one(`{"parameters":{"a":1}}`),
		"alias":   "openapi: 3.0.0\npaths: &a {x: *a}",
		"binary":  "\x00\x01openapi paths",
	} {
		if doc, err := Load([]byte(text), ""); !errors.Is(err, ErrNoDocument) {
			t.Errorf("%s: %v %+v", name, err, doc)
		}
	}
	nested := func(levels int) string {
		schema := strings.Repeat(`{"type":"array","items":`, levels) + `{}` + strings.Repeat(`}`, levels)
		return one(`{"parameters":[{"name":"d","in":"query","schema":` + schema + `}]}`)
	}
	if n := len(load(t, nested(300)).Operations[0].Parameters); n > 1<<16 {
		t.Errorf("a deep schema became %d bytes", n)
	}
	if _, err := Load([]byte(nested(9000)), ""); !errors.Is(err, errNested) {
		t.Errorf("9000 levels: %v", err)
	}
	// Each schema refers to the next twice: written out, that is 2^40.
	var schemas []string
	for i := range 40 {
		schemas = append(schemas, fmt.Sprintf(`"S%d":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/S%d"},"b":{"$ref":"#/components/schemas/S%d"}}}`, i, i+1, i+1))
	}
	schemas = append(schemas, `"S40":{"type":"string"}`)
	text := strings.Replace(one(`{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}`),
		`"paths"`, `"components":{"schemas":{`+strings.Join(schemas, ",")+`}},"paths"`, 1)
	schema := load(t, text).Operations[0].Parameters
	if len(schema) > 200_000 || !json.Valid(schema) {
		t.Errorf("a wide schema became %d bytes", len(schema))
	}
}

// A document of 10 MB is read in bounded time.
func TestLargeDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.0","info":{"title":"big","version":"1"},"servers":[{"url":"https://h.example"}],"paths":{`)
	for i := 0; b.Len() < 10<<20; i++ {
		fmt.Fprintf(&b, `"/p%d":{"get":{"operationId":"op%d","description":"%s","parameters":[{"name":"a","in":"query","schema":{"type":"string"}}],
			"responses":{"200":{"content":{"application/json":{"schema":{"description":"%s"}}}}}}},`, i, i, strings.Repeat("x", 500), strings.Repeat("y", 1500))
	}
	b.WriteString(`"/z":{"get":{}}}}`)
	doc := load(t, b.String())
	if len(doc.Operations) < 4000 {
		t.Errorf("%d operations", len(doc.Operations))
	}
}
