package notebook

import (
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func withParameters(source string) *Notebook {
	return &Notebook{
		fields: map[string]any{},
		Cells: []*Cell{
			NewMarkdown("a", "# Title"), newCode("b", source, tagParameters), newCode("c", "%%\nuse(epsilon)"),
		},
	}
}

const declared = `%noautoget
// What may be set.
var epsilon = 1.0
var (
	rows, cols int = 3, 4
	name       = "census"
	private    = true
	grid       = []float64{0.1, 1}
	delta      = 1e-6 * 2
)
const seed = 7
`

func TestInject(t *testing.T) {
	for _, c := range []struct {
		name, value, want string
	}{
		{"epsilon", "0.5", "var epsilon float64 = 0.5"},
		{"epsilon", "2", "var epsilon float64 = 2"},
		{"epsilon", "-1e-3", "var epsilon float64 = -1e-3"},
		{"rows", "10", "var rows int = 10"},
		{"cols", "2*3", "var cols int = 2*3"},
		{"name", "adult", `var name string = "adult"`},
		{"name", `say "x"`, `var name string = "say \"x\""`},
		{"name", `"adult"`, `var name string = "adult"`},
		{"name", "", `var name string = ""`},
		{"private", "false", "var private bool = false"},
		{"grid", "[]float64{1, 2}", "var grid []float64 = []float64{1, 2}"},
	} {
		nb := withParameters(declared)
		if err := nb.Inject(map[string]string{c.name: c.value}); err != nil {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
			continue
		}
		if len(nb.Cells) != 4 || !nb.Cells[2].HasTag(TagInjected) {
			t.Fatalf("%s: no injected cell in its place", c.name)
		}
		if got := nb.Cells[2].Source(); got != "// Parameters\n"+c.want {
			t.Errorf("%s=%s: %q", c.name, c.value, got)
		}
	}
}

func TestInjectReplacesAnEarlierInjection(t *testing.T) {
	nb := withParameters(declared)
	for _, value := range []string{"0.5", "0.25"} {
		must.Do(nb.Inject(map[string]string{"epsilon": value}))
	}
	if len(nb.Cells) != 4 || !strings.Contains(nb.Cells[2].Source(), "0.25") {
		t.Errorf("cells: %d, %q", len(nb.Cells), nb.Cells[2].Source())
	}
	content, err := nb.Encode()
	if err != nil ||
		!strings.Contains(string(content), "\"papermill\": {\n   \"parameters\": {\n    \"epsilon\": 0.25\n   }") {
		t.Errorf("metadata: %v\n%s", err, content)
	}
}

func TestInjectRefuses(t *testing.T) {
	for _, c := range []struct {
		source, name, value, want string
	}{
		{declared, "sigma", "1", `no parameter "sigma"`},
		{declared, "seed", "1", `no parameter "seed"`}, // a constant
		{declared, "rows", "2.5", "no value of type int"},
		{declared, "rows", "many", "no value of type int"},
		{declared, "epsilon", "", "no value of type float64"},
		{declared, "epsilon", "1); var y = (2", "no value of type float64"},
		{declared, "epsilon", `"1"`, "no value of type float64"},
		{declared, "private", "yes", "no value of type bool"},
		{declared, "grid", "[1, 2]", "no value of type []float64"},
		{"var x = ", "x", "1", "expected"},
		{"var x = 1\nfunc f() {}", "x", "1", "line 2: only var declarations"},
		{"var x = later()", "x", "1", "undefined: later"},
	} {
		err := withParameters(c.source).Inject(map[string]string{c.name: c.value})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%q: %v, want %q", c.name, c.value, err, c.want)
		}
	}
	if err := (&Notebook{}).Inject(map[string]string{"x": "1"}); err == nil ||
		!strings.Contains(err.Error(), `tag the cell`) {
		t.Errorf("without parameters: %v", err)
	}
	if err := (&Notebook{}).Inject(nil); err != nil {
		t.Errorf("nothing to inject: %v", err)
	}
}

func TestDeclares(t *testing.T) {
	nb := withParameters("var full, n = false, 3")
	for name, want := range map[string]bool{"full": true, "n": true, "other": false} {
		if got := nb.Declares(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if withParameters("func full() {}").Declares("full") || new(Notebook).Declares("full") {
		t.Error("what is no variable is declared")
	}
}
