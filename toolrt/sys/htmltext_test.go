package sys

import (
	"strings"
	"testing"
	"unicode/utf8"

	"parley/toolrt"
)

func TestHTMLText(t *testing.T) {
	for _, tt := range []struct{ name, html, want string }{
		{"words", "<p>a\n  <b>b</b>c <i> d</i></p>", "a bc d"},
		{"paragraphs", "<div>a</div><div>b</div><p>c</p><p>d<br>e<br><br>f</p>", "a\nb\n\nc\n\nd\ne\n\nf"},
		{"headings", "<h1>One  two</h1>x<h2>é</h2><h3>abc</h3><h4>d</h4>", "*******\nOne two\n*******\n\nx\n\n-\né\n-\n\nabc\n---\n\nd"},
		{"links", `see <a href="http://x/">this</a>, <a href="#top">up</a> <a href="javascript:x()">no</a>`, "see this ( http://x/ ), up no"},
		{"lists", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>", "* a\n* b\n\n  * c"},
		{"hidden", "<head><title>t</title></head><script>x</script><style>y</style>seen<!-- no -->", "seen"},
		{"preformatted", "<pre>a\n  b\n\nc</pre>d", "a\n  b\n\nc\n\nd"},
		{"quote", "<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"},
		{"table", "<table><tr><th>Name</th><th>n</th></tr><tr><td>日本</td><td>1<br>2</td></tr><tr><td>x</td></tr></table>",
			"+------+---+\n| Name | n |\n+------+---+\n| 日本 | 1 |\n|      | 2 |\n+------+---+\n| x    |   |\n+------+---+"},
		{"page of tables", "<table><tr><td><table><tr><td>in</td></tr></table></td><td>out</td></tr></table>", "+----+\n| in |\n+----+\n\nout"},
		{"wide cells", "<table><tr><td>" + strings.Repeat("word ", 40) + "</td></tr></table>", strings.TrimSpace(strings.Repeat("word ", 40))},
		{"plain text", "no tags & <b", "no tags &"},
		{"image", `<img alt="a picture"><img src="x">`, "a picture"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := htmlText(tt.html); err != nil || got != tt.want {
				t.Errorf("got\n%s\n%v, want\n%s", got, err, tt.want)
			}
		})
	}
}

func TestHTML2Text(t *testing.T) {
	u := server(t)
	call := toolrt.Call{}
	check(t, call, "sys.http.html2text", pairs("url", u+"/page"), "*****\nTitle\n*****\n\nText", false)
	check(t, call, "sys.http.html2text", pairs("url", u+"/teapot"), "failed to download "+u+"/teapot: 418 I'm a teapot", true)
	check(t, call, "sys.http.html2text", pairs("url", u+"/deep"), "Failed to fetch URL "+u+"/deep: read HTML: html: open stack of elements exceeds 512 nodes", true)
}

func FuzzHTMLText(f *testing.F) {
	for _, seed := range []string{"<p>a<table><tr><td>b", "<ul><li><pre>\n\n", "<blockquote><h1>\xff</h1>", "<a href=x><table><caption>c", "<br><br><hr><td>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		text, err := htmlText(document)
		if err == nil && utf8.ValidString(document) && !utf8.ValidString(text) {
			t.Fatalf("%q became %q", document, text)
		}
	})
}
