package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"path/filepath"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

//go:embed index.html.tmpl
var indexSource string

var indexTemplate = template.Must(template.New("index").Parse(indexSource))

// indexRow is one line of the index; a notebook that has no report yet has no
// verdict.
type indexRow struct {
	Name, Title, Verdict, Failure string
	Seconds                       float64
}

// writeIndex lists all notebooks with what is recorded about their reports.
func writeIndex(o Options) error {
	page := struct {
		CSS                     template.CSS
		Passed, Failed, Missing int
		Rows                    []indexRow
	}{CSS: template.CSS(indexCSS)}
	for _, path := range notebooksOfIndex(o) {
		row := indexRow{Name: Name(path), Title: Name(path)}
		r, _ := readRecord(o.Out, row.Name, "")
		switch {
		case r.Name == "":
			page.Missing++
			if nb, err := notebook.ReadFile(path); err == nil && nb.Title() != "" {
				row.Title = nb.Title()
			}
		case r.Failure != nil:
			page.Failed++
			row.Failure = r.Failure.Error()
		default:
			page.Passed++
		}
		if r.Name != "" {
			row.Title, row.Verdict, row.Seconds = r.Title, r.Verdict(), r.Seconds
		}
		page.Rows = append(page.Rows, row)
	}
	var out bytes.Buffer
	if err := indexTemplate.Execute(&out, page); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(o.Out, "index.html"), out.Bytes())
}

// notebooksOfIndex returns all notebooks of the project, and those that were named
// from elsewhere.
func notebooksOfIndex(o Options) []string {
	var list []string
	seen := map[string]bool{}
	for _, path := range append(o.All[:len(o.All):len(o.All)], o.Notebooks...) {
		if !seen[Name(path)] {
			seen[Name(path)] = true
			list = append(list, path)
		}
	}
	return list
}
