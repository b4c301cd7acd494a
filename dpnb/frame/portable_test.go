package frame

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Python finds portable expressions in the texts in which package regexp finds the originals.
func TestPortablePatterns(t *testing.T) {
	texts := []string{"", "a", "ab", "Ab", "AB", "abab", "b.c", "b-c", "bxc", "a\nb", "b\n", "\na", "new york",
		"New York!", "york_new", "Zürich", "ZÜRICH", "straße", "ſtrasse", "Kelvin", "K", "42", "٤٢", "a42",
		"x]y", `x\y`, "x^y", "a\rb", "é", "日本", "  a", "aaa", "aaaa", "{1}", "tab\there", "O'Neil", "\x01", "\x7f",
		"\U0010ffff", "𝒳"}
	var cases [][2]string
	want := []bool{}
	for _, match := range []string{"a", "^a$", "(?i)ab", "(?i)zürich", "(?i)strasse", "(?i)k", `b.c`, `b\.c`, `(?s)a.b`,
		"a.b", "(?m)^b$", "(?m)a$", `\bnew\b`, `\Bew`, `\d+`, `^\D+$`, `\w\W\w`, `\p{L}{3}`, `\P{L}`, `[^a-z]`, `[^\n]`,
		`[\]\\^-]`, `[[:upper:]]`, `a{2,3}$`, `^a{4}`, `(?:ab)+$`, `(ab)*c|x`, "a??b", `\Aa\z`, `[^\x00-\x{10FFFF}]`,
		`(?U)a+`, `\pN`, `[\x01\x7f]`, `\Q{1}\E`, `O'N`, "[&~-]", "", `(?i)[é]`, `\p{Greek}|\p{Han}`, `\x{10FFFF}`,
		`[\x{10000}-\x{10FFFF}]`, `(|a)b`, `(?:a*)*b`} {
		p, err := Pattern{Match: match}.Portable()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			cases = append(cases, [2]string{p.Match, text})
			want = append(want, regexp.MustCompile(match).MatchString(text))
		}
	}
	if _, err := (Pattern{Match: "("}).Portable(); err == nil {
		t.Error("( is an expression")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	asked, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-W", "error", "-c", `import json, re, sys
print(json.dumps([re.search(m, v) is not None for m, v in json.load(sys.stdin)]))`)
	cmd.Stdin = strings.NewReader(string(asked))
	out, err := cmd.CombinedOutput()
	var got []bool
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, c := range cases {
		if got[i] != want[i] {
			t.Errorf("%q in %q: %v in Python, %v in Go", c[0], c[1], got[i], want[i])
		}
	}
}
