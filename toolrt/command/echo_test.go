package command

import "testing"

func TestQ20Echo(t *testing.T) {
	for body, want := range map[string]string{
		"#!sys.echo\nhello ${x}\n": "hello ${x}\n",
		"#!sys.echo\n\n\n a":       "\n\n a",
		"#!sys.echo":               "",
		"#!sys.echo text":          "text",
		"#!sys.echo  two":          " two",
		"#!sys.echo\r\nwin":        "win",
	} {
		out, err := Echo{Body: body}.Run(t.Context(), nil)
		if err != nil || out.Text != want {
			t.Errorf("%q: got %q, %v, want %q", body, out.Text, err, want)
		}
	}
}
