package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

func TestFormulasAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"a $x$ b":                     "a ① b",
		"$$x$$":                       "①",
		"$$\nx\n$$ and $y$":           "① and ①",
		"\\begin{align}x\\end{align}": "①",
		"it costs $5 and $6":          "it costs $5 and $6",
		"from $5 to $x$":              "from $5 to ①",
		"\\$x$y$":                     "$x①",
		"code `$x$` and $y$":          "code `$x$` and ①",
		"```\n$x$\n```\n$y$":          "```\n$x$\n```\n①",
		"a $ x $ b":                   "a $ x $ b",
		"$x\ny$":                      "①",
		"$x\n\ny$":                    "$x\n\ny$",
		"$\\nobody$":                  "②",
		"":                            "",
	} {
		f := &formulas{}
		got := mark.ReplaceAllStringFunc(f.take(text), func(m string) string {
			switch html := string(f.put([]byte(m))); {
			case html == "$":
				return "$"
			case strings.HasPrefix(html, `<code class="tex">`):
				return "②"
			}
			return "①"
		})
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What folds out is Markdown inside, which a converter would take for HTML and leave as it is: it sees marks instead,
// which stand in paragraphs of their own, and the tags come back without these.
func TestFoldsComeBack(t *testing.T) {
	const fold = "<details><summary>Solutions</summary>\n\n1. *a*\n\n</details>\n"
	f := &formulas{}
	text := f.take(fold + "\n`</details>`\n")
	if strings.Contains(text, "<details>") || !strings.Contains(text, "1. *a*") ||
		!strings.Contains(text, "`</details>`") {
		t.Fatalf("%q", text)
	}
	marks := mark.FindAllString(text, -1)
	html := "<p>" + marks[0] + "</p>\n<ol><li><em>a</em></li></ol>\n<p>" + marks[1] + "</p>"
	want := "<details><summary>Solutions</summary>\n<ol><li><em>a</em></li></ol>\n</details>"
	if got := string(f.put([]byte(html))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFormulasComeBack(t *testing.T) {
	nb := must.Get(notebook.Parse([]byte(`{"nbformat":4,"cells":[
		{"cell_type":"markdown","source":"# $x$ and $y_1$","metadata":{}},
		{"cell_type":"code","source":"$z$","metadata":{},"outputs":[
			{"output_type":"display_data","data":{"text/markdown":"so $v$"}}]}]}`)))
	shown, f := must.Two(takeFormulas(nb))
	if nb.Cells[0].Source() != "# $x$ and $y_1$" || shown.Cells[1].Source() != "$z$" {
		t.Error("more than the shown text is changed")
	}
	if out := shown.Cells[1].Outputs()[0].Text; string(f.put([]byte(out)))[:9] != "so <math>" {
		t.Errorf("the output: %s", out)
	}
	heading := strings.TrimPrefix(shown.Cells[0].Source(), "# ")
	address := strings.ReplaceAll(heading, " ", "-")
	page := `<h1 id="` + address + `">` +
		heading + `<a href="#` + address + `">`
	got := string(f.put([]byte(page)))
	if strings.Count(got, "<math>") != 2 || strings.Contains(got, "dpnbFORMULA") {
		t.Errorf("the page: %s", got)
	}
	if !strings.HasPrefix(got, `<h1 id="formula0-and-formula1"><math>`) ||
		!strings.HasSuffix(got, `<a href="#formula0-and-formula1">`) {
		t.Errorf("the heading: %s", got)
	}
	if got := string(f.put([]byte("dpnbFORMULA99X"))); got != "dpnbFORMULA99X" {
		t.Errorf("a word that looks like a mark: %s", got)
	}
}

// TestEveryFormulaIsConverted reads the notebooks and the pages of the project.
func TestEveryFormulaIsConverted(t *testing.T) {
	testscale.Slow(t)
	var texts []string
	for _, pattern := range []string{"../../notebooks/*.ipynb", "../../docs/*.md", "../../docs/theory/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(paths))
		}
		for _, path := range paths {
			content := must.Get(os.ReadFile(path))
			if filepath.Ext(path) == ".md" {
				texts = append(texts, string(content))
				continue
			}
			nb := must.Get(notebook.Parse(content))
			for _, c := range nb.Cells {
				c.MapProse(func(s string) string { texts = append(texts, s); return s })
			}
		}
	}
	for _, text := range texts {
		for _, m := range formulaPattern.FindAllStringSubmatch(text, -1) {
			f := &formulas{}
			if shown := string(f.put([]byte(f.take(m[0])))); strings.Contains(shown, `class="tex"`) {
				t.Errorf("not converted: %s", m[0])
			}
		}
	}
}
