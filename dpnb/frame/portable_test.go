package frame

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Python finds portable expressions in the texts in which package regexp finds the originals.
func TestPortablePatterns(t *testing.T) {
	texts := []string{"", "a", "ab", "Ab", "AB", "abab", "b.c", "b-c", "bxc", "a\nb", "b\n", "\na", "new york",
		"New York!", "york_new", "Zürich", "ZÜRICH", "straße", "ſtrasse", "Kelvin", "K", "42", "٤٢", "a42",
		"x]y", `x\y`, "x^y", "a\rb", "é", "日本", "  a", "aaa", "aaaa", "{1}", "tab\there", "O'Neil", "\x01", "\x7f",
		"\U0010ffff", "𝒳", "\ue000", "\ufffd", "\ud7ff"}
	var cases [][2]string
	want := []bool{}
	for _, match := range []string{"a", "^a$", "(?i)ab", "(?i)zürich", "(?i)strasse", "(?i)k", `b.c`, `b\.c`, `(?s)a.b`,
		"a.b", "(?m)^b$", "(?m)a$", `\bnew\b`, `\Bew`, `\d+`, `^\D+$`, `\w\W\w`, `\p{L}{3}`, `\P{L}`, `[^a-z]`, `[^\n]`,
		`[\]\\^-]`, `[[:upper:]]`, `a{2,3}$`, `^a{4}`, `(?:ab)+$`, `(ab)*c|x`, "a??b", `\Aa\z`, `[^\x00-\x{10FFFF}]`,
		`(?U)a+`, `\pN`, `[\x01\x7f]`, `\Q{1}\E`, `O'N`, "[&~-]", "", `(?i)[é]`, `\p{Greek}|\p{Han}`, `\x{10FFFF}`,
		`[\x{10000}-\x{10FFFF}]`, `(|a)b`, `a{0}b`, `^(?:ab){0}$`, `(?:a*)*b`,
		`\pC`, `\p{Cs}`, `[^\x{D7FF}]`, `[\x{E000}-\x{10FFFF}]`, `^[\x00-\x{D900}]*$`} {
		p := must.Get(Pattern{Match: match}.Portable())
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
	asked := must.Get(json.Marshal(cases))
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

// A text that stands for a missing value is in a column with patterns what it is in any other, with space around it
// too; a name that is written as no number is a text.
func TestMissingTextsOfPatterns(t *testing.T) {
	table := must.Get(ReadCSV(strings.NewReader("job,y\nNA,1\n\" NA \",1\nNan,1\nnat,1\n,1\n"),
		&CSVSettings{Missing: []string{"NA"}}))
	for _, f := range []Field{
		CategoricalField("job", "name", "-").Categorised(Pattern{"(?i)^na", "name"}).OrMissing(),
		CategoricalField("job", "Nan", "nat").OrMissing().OrElse("nat")} {
		schema := &Schema{Fields: []Field{f, NumericField("y", 0, 1)}}
		d := must.Get(NewDesign(table, schema, DesignSettings{Label: "y", Task: Number, NoBias: true}))
		row := make([]float64, len(d.Features))
		for i, missing := range []float64{1, 1, 0, 0, 1} {
			if d.Rows.Row(row, i); row[len(row)-1] != missing || row[0]+row[1] != 1-missing {
				t.Errorf("record %d is %v of %v", i, row, d.Features)
			}
		}
	}
}
