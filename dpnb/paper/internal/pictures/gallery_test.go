package pictures

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// drawn says of each cell of the notebooks with a picture who holds what it draws: "room: names" is TestPictures of a
// paper's room, which calls the names; "because …" is why nothing is held.
var drawn = map[string]string{
	"00#answer-639":         private,
	"00#cost":               "because the mean accuracies are in the notebook's own output, which is compared",
	"00#promise-show":       own,
	"01#releases":           own,
	"01#tradeoff":           own,
	"01#apart-plot":         own,
	"01#compose-show":       own,
	"01#figure-one-left":    "rkw23: Figure1",
	"01#figure-one-right":   "rkw23: Figure1",
	"01#two-errors":         "rkw23: TwoErrors",
	"01#fig3":               "rkw23: Figure3",
	"01#rdp-lambda":         "rkw23: RenyiCurves",
	"01#rdp":                "rkw23: RenyiBesideDescent",
	"01#noise-show":         "rkw23: Needed",
	"02#tilts":              own,
	"02#ridge-plot":         own,
	"02#law-plot":           own,
	"02#glm-plot":           "rkw23: Turning",
	"02#price":              "rkw23: Price",
	"02#adult":              "rkw23: Compare",
	"02#synthetic":          "rkw23: Compare",
	"02#rates":              "rkw23: Rates",
	"02#cost":               "rkw23: Gradients",
	"02#risk-plot":          "rkw23: Risk",
	"02#risk-steep":         "rkw23: Risk",
	"02#coverage":           "ours: CoverageFigure",
	"02#geometry-rows":      own,
	"02#geometry-ellipses":  own,
	"02#compare":            "because its table beside it is compared",
	"03#linear-plot":        "qop: PlaneFigure",
	"03#quadratic-plot":     "qop: PlaneFigure",
	"03#ratio":              "qop: DensityRatio",
	"03#parts":              "qop: Parts",
	"03#neighbours":         "qop: NeighboursFigure",
	"03#sides":              "qop: SidesFigure",
	"03#broken-plot":        "qop: LabelErrorFigure",
	"03#eigenvalues":        "qop: EigenvaluesFigure",
	"03#figure-one":         "qop: BoundFigure",
	"03#surface":            "qop: BoundSurface",
	"03#risk":               "qop: RiskFigure",
	"03#figure-two-printed": "qop: RunBoxes AsPrinted",
	"03#figure-two-equal":   "qop: RunBoxes",
	"03#walk":               "qop: WalkFigure",
	"03#accountings":        "qop: AccountingsFigure",
	"04#figure1":            own,
	"04#set":                "cop: Plane",
	"04#figure2":            "cop: Plane",
	"04#signs":              "cop: Signs Overlap",
	"04#attack":             own,
	"04#optimum":            own,
	"04#figure6":            "cop: Plane",
	"04#figure3":            "cop: Figure3",
	"04#figure4":            "cop: Figure4",
	"04#equal-curvature":    "cop: Gaps",
	"04#equal-cost":         "cop: Prices Gaps",
	"04#figure5":            "cop: Reproduce Compared",
	"04#figure7-plot":       "cop: Reproduce",
	"04#rents":              own,
	"04#rents-intervals":    own,
	"05#tail-plot":          own,
	"05#steps-plot":         "heavytail: StepsFigure",
	"05#extension-plot":     own,
	"05#bias-plot":          own,
	"05#algorithm3-plot":    own,
	"05#algorithm4-plot":    own,
	"05#slopes":             "heavytail: SlopesFigure",
	"05#algorithm5-plot":    own,
	"05#primitive":          "heavytail: PrimitiveFigure",
	"05#floor":              "heavytail: FloorFigure",
	"05#jacobian-plot":      "heavytail: JacobianFigure",
	"05#density":            "heavytail: DensityFigure",
	"05#rate-run":           "heavytail: RateFigure",
	"05#onset":              "heavytail: OnsetFigure",
	"05#dimension-plot":     "heavytail: DimensionFigure",
	"05#misjudged":          "heavytail: MisjudgedFigure",
	"06#plain-scatter":      "dtz24: PlainFigure",
	"06#plain-curves":       "dtz24: PlainFigures",
	"06#designs":            "dtz24: UniversalityFigure",
	"06#law-plot":           "dtz24: LawFigure",
	"06#fig12-plot":         "dtz24: LossFigures",
	"06#fig3-plot":          "dtz24: DrawFigure",
	"06#fig4-plot":          "dtz24: DrawFigure",
	"06#fig5-plot":          "dtz24: DrawFigure",
	"06#fig6-plot":          "dtz24: DrawFigure",
	"06#spike":              "dtz24: SmallRidge",
	"06#double-plot":        "dtz24: SmallRidge",
	"06#curve":              "dtz24: CostFigure",
	"06#frontier-plot":      "dtz24: NewFrontier",
	"06#frontier-map":       "dtz24: NewFrontier",
	"06#lambda-plot":        "dtz24: RidgeFigure",
	"06#path":               "dtz24: PathFigure",
	"06#steps-plot":         "dtz24: StepsFigure",
	"06#cgmt-plot":          "dtz24: MinimaxFigure",
	"06#cgmt-size":          "dtz24: MinimaxGrowth",
	"06#adult-plot":         "because it needs Adult, and its table beside it is compared",
	"07#chart":              "ours: WhichChart",
	"07#labels":             table,
	"07#values":             table,
	"07#median":             table,
	"07#live":               "because it is drawn as the three above, of one population",
	"08#tracing-dots":       own,
	"08#tracing":            "ours: AttackFigure Tracing",
	"08#fit":                "ours: AttackFigure FitAttack",
	"08#faults":             "ours: CurvesFigure",
	"08#threshold-show":     own,
	"08#losses-show":        "ours: LossesFigure",
	"09#count":              private,
	"10#sizes":              scaled,
	"10#model":              scaled,
	"09#histogram":          private,
	"09#quantiles":          private,
	"09#groups":             private,
	"09#crosstab":           private,
	"09#measured":           private,
	"09#beside":             private,
	"11#typical":            shapes,
	"11#truth":              shapes,
	"11#census-unsure":      shapes,
	"11#ebm-plot":           own,
	"11#rate":               "ours: RateFigure",
	"11#edited-shape":       shapes,
	"11#held-plot":          shapes,
	"11#products-plot":      own,
	"11#surface":            shapes,
}

const (
	own     = "because the notebook draws it itself, from numbers that it computes before the reader's eyes"
	private = "because it draws the table beside it, and package explore tests its figures"
	shapes  = "because it draws the shapes beside it, whose values and bands package learn tests"
	scaled  = "because it draws measured times and the table beside it, which is compared"
	table   = "because it draws which.tsv, which TestWhichTable of package ours holds"
)

// TestGallery finds each picture of the notebooks in the list, and the functions that draw it in its room's test.
func TestGallery(t *testing.T) {
	root := errata.Root(t)
	cells, err := withPictures(filepath.Join(root, "notebooks"))
	if err != nil || len(cells) < 80 {
		t.Fatalf("%d cells with pictures: %v", len(cells), err)
	}
	read := func(room string) string {
		text := must.Get(os.ReadFile(filepath.Join(root, "dpnb", "paper", room, "pictures_test.go")))
		return string(text)
	}
	for _, p := range problems(cells, drawn, read) {
		t.Error(p)
	}
}

// withPictures returns the cells of the notebooks in a folder that show a picture, or one of several, as 04#figure1.
func withPictures(folder string) (cells []string, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.ipynb"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		nb, err := notebook.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, c := range nb.Cells {
			if len(c.Pictures()) > 0 || strings.Contains(c.Source(), "figure.Turn(") {
				cells = append(cells, filepath.Base(file)[:2]+"#"+c.ID())
			}
		}
	}
	return cells, nil
}

// problems returns what the list lacks, what it has too much, and what a room's test does not call.
func problems(cells []string, list map[string]string, read func(room string) string) (all []string) {
	for _, c := range cells {
		if list[c] == "" {
			all = append(all, c+" has a picture: nothing holds what it draws, and no reason is given")
		}
	}
	for _, c := range slices.Sorted(maps.Keys(list)) {
		room, names, ok := strings.Cut(list[c], ": ")
		if !slices.Contains(cells, c) {
			all = append(all, c+" has no picture")
		}
		if !ok || strings.HasPrefix(list[c], "because ") {
			continue
		}
		for _, name := range strings.Fields(names) {
			if text := read(room); !strings.Contains(text, name+"(") && !strings.Contains(text, name+"{") {
				all = append(all, c+": TestPictures of "+room+" does not call "+name)
			}
		}
	}
	return all
}

// What is missing is noticed: a picture without a line, a line without a picture, a function that is not called.
func TestGalleryCheckSees(t *testing.T) {
	read := func(string) string { return "seen.Figure(Drawn(3))" }
	for _, c := range []struct {
		cells []string
		list  map[string]string
		want  int
	}{
		{[]string{"01#a", "01#b"}, map[string]string{"01#a": "room: Drawn", "01#b": "because of nothing"}, 0},
		{[]string{"01#a", "01#b"}, map[string]string{"01#a": "room: Drawn"}, 1},
		{[]string{"01#a"}, map[string]string{"01#a": "room: Drawn", "01#b": own}, 1},
		{[]string{"01#a"}, map[string]string{"01#a": "room: Drawn Other"}, 1},
	} {
		if got := problems(c.cells, c.list, read); len(got) != c.want {
			t.Errorf("%v: %v, want %d", c.list, got, c.want)
		}
	}
}
