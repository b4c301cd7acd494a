package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// Full reaches the notebooks that offer it, and no others.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	write := func(name, source string) string {
		path := filepath.Join(dir, name)
		text := `{"nbformat":4,"nbformat_minor":5,"metadata":{"language_info":{"name":"go"}},"cells":[
			{"cell_type":"code","id":"a","metadata":{"tags":["parameters"]},"execution_count":null,"outputs":[],
			"source":["` + source + `"]}]}`
		must.Do(os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	offers, not := write("offers.ipynb", "var full = false"), write("not.ipynb", "var seed = 1")
	for _, c := range []struct {
		o        Options
		injected []bool
	}{
		{Options{Notebooks: []string{offers, not}, Full: true}, []bool{true, false}},
		{Options{Notebooks: []string{offers, not}}, []bool{false, false}},
		{Options{Notebooks: []string{offers}, Full: true, Parameters: map[string]string{"full": "false"}},
			[]bool{true}},
	} {
		jobs := must.Get(load(c.o))
		for i, j := range jobs {
			if got := len(j.nb.Cells) == 2 && j.nb.Cells[1].HasTag(notebook.TagInjected); got != c.injected[i] {
				t.Errorf("%+v: %s injected %v", c.o, j.name, got)
			}
			want := c.o.Parameters["full"]
			if c.o.Full && want == "" && c.injected[i] {
				want = "true"
			}
			if j.parameters["full"] != want {
				t.Errorf("%s: full = %q, want %q", j.name, j.parameters["full"], want)
			}
		}
	}
	if _, err := load(Options{Notebooks: []string{offers}, Full: true, Update: true}); err == nil {
		t.Error("outputs of the long experiments may be committed")
	}
}
