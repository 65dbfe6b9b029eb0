package openapi

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// Whatever document it is given, the loader returns, and what it returns can be used.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(one(`{"operationId":"a","parameters":[{"name":"p","in":"path","schema":{"type":"string"}}]}`)), "")
	f.Add([]byte(`{"swagger":"2.0","info":{},"host":"h","paths":{"/a":{"get":{"parameters":[{"in":"body","name":"b","schema":{"$ref":"#/definitions/A"}}]}}},"definitions":{"A":{"properties":{"a":{"$ref":"#/definitions/A"}}}}}`), "http://h/x")
	f.Add([]byte("openapi: 3.1.0\npaths:\n  /a:\n    get:\n      requestBody: {content: {text/plain: {schema: {type: [string, 'null']}}}}\n"), "https://h")
	f.Add([]byte(`{"openapi":"3.0.0","paths":{"/a":{"$ref":"#/paths/~1a"}},"components":{"schemas":{"A":{"$ref":"#/components/schemas/A"}}}}`), "http://h")
	f.Fuzz(func(t *testing.T, data []byte, origin string) {
		doc, err := Load(data, origin)
		if err != nil {
			if doc != nil || errors.Is(err, ErrNoDocument) && err.Error() == "" {
				t.Fatal(err)
			}
			return
		}
		for _, o := range doc.Operations {
			if o.Parameters != nil && !json.Valid(o.Parameters) {
				t.Fatalf("schema of %s: %s", o.Name, o.Parameters)
			}
			body, err := o.Request.Body()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ParseBody(strings.TrimSpace(body)); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			if _, err := (&Tool{Request: o.Request}).request(t.Context(), input{}); err == nil && !strings.HasPrefix(o.Request.Server, "http") {
				t.Fatalf("a request to %s", o.Request.Server)
			}
		}
	})
}
