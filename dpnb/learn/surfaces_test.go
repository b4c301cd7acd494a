package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// fourPeople are records that differ in two columns alone, from one value to another in each: (0, 0), (0, 1), (1, 0)
// and (1, 1).
func fourPeople(m *Model, a, b *Shape, i, j [2]int) (columns []frame.Column) {
	for _, name := range m.Columns() {
		f, _ := m.encoding.Field(name)
		c := frame.Column{Name: name, Kind: f.Kind}
		for k := range 4 {
			switch {
			case name == a.Column():
				give(&c, f, a.places[i[k/2]])
			case name == b.Column():
				give(&c, f, b.places[j[k%2]])
			case f.Kind == frame.Categorical:
				c.Texts = append(c.Texts, f.Levels[0])
			default:
				c.Numbers = append(c.Numbers, f.Lower+0.3*(f.Upper-f.Lower))
			}
		}
		columns = append(columns, c)
	}
	return columns
}

// What a surface has between two places is by how much the linear forms of rows of the typical norm differ, and beyond
// that of its columns by themselves by how much more the one column makes at one value of the other than at another; a
// thousandth more would be seen. So it is of crosses of two numbers, waves among them, and of a number and a category,
// and the bands are about these values.
func TestSurfacesAreDifferencesOfPredictions(t *testing.T) {
	testscale.InTurn(t)
	people, given := visitors(t, 800), Simulate(4, 1e-6)
	terms := []Option{Cross("age", "size"), Cross("income", "ward"), Cross("visits", "count"), Periodic("count", 9)}
	number := people.Drop("ill")
	for name, fit := range map[string]func() (*Model, error){
		"Huber": func() (*Model, error) {
			return Huber{Noise: Seed(1)}.Fit(Regression(number, "score", terms...), given)
		},
		"plain": func() (*Model, error) { return Huber{}.FitWithoutPrivacy(Regression(number, "score", terms...)) },
		"in units": func() (*Model, error) {
			return Linear{Noise: Seed(1)}.Fit(Regression(number, "score", append(terms, InUnits())...), given)
		},
		"pure": func() (*Model, error) {
			return Huber{Noise: Seed(1), Pure: true}.Fit(Regression(number, "score", terms...), Simulate(4, 0))
		},
	} {
		m, err := fit()
		if err != nil {
			t.Fatal(name, err)
		}
		rng, tried := noise.NewSeeded(5), 0
		for _, two := range [][2]string{{"age", "size"}, {"ward", "income"}, {"visits", "count"}} {
			s := m.Surface(two[0], two[1])
			if s.Err() != nil {
				t.Fatal(name, s.Err())
			}
			if beyond := s.Beyond(); beyond != beyond.Beyond() || beyond.Importance() > 0 == (s.Importance() == 0) {
				t.Errorf("%s, %v: %v beyond, %v", name, two, beyond.Importance(), s.Importance())
			}
			n := len(s.b.places)
			for range 40 {
				i := [2]int{rng.IntN(len(s.a.places)), rng.IntN(len(s.a.places))}
				j := [2]int{rng.IntN(n), rng.IntN(n)}
				rows, short := typicalRows(t, m, fourPeople(m, s.a, s.b, i, j))
				if !short {
					continue
				}
				tried++
				at := m.margins(rows)
				form := func(s *Surface, k int) float64 { return s.forms[i[k/2]*n+j[k%2]] }
				same := func(what string, got, want float64) {
					t.Helper()
					if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
						t.Fatalf("%s, %v: %s %v, of predictions %v", name, two, what, got, want)
					}
				}
				same("a difference of", form(s, 3)-form(s, 0), at[3]-at[0])
				more := s.Beyond()
				same("beyond its columns", form(more, 0)-form(more, 1)-form(more, 2)+form(more, 3),
					at[0]-at[1]-at[2]+at[3])
				// All of it is the two shapes and what is beyond.
				own := s.a.places[i[0]].form(s.a.own) + s.b.places[j[0]].form(s.b.own)
				if !s.a.term.Bent && !s.b.term.Bent {
					same("with its shapes", own+form(more, 0), form(s, 0))
				}
			}
			for _, of := range []*Surface{s, s.Beyond()} {
				for k, v := range of.noise {
					if !(math.Abs(v.Estimate-of.forms[k]) <= 1e-9) || !(v.Lower < v.Estimate) {
						t.Fatalf("%s, %v: a band from %v about %v of %v", name, two, v.Lower, v.Estimate, of.forms[k])
					}
				}
			}
		}
		if tried < 20 {
			t.Errorf("%s: %d rows are not clipped", name, tried)
		}
		if has := m.Surface("age", "size").why == nil; has != (name == "Huber" || name == "in units") {
			t.Errorf("%s: a band is known: %v (%v)", name, has, m.Surface("age", "size").why)
		}
	}
}

// Of products of columns a surface is the linear form of rows of the typical norm whose products have theirs.
func TestSurfacesOfProducts(t *testing.T) {
	testscale.Slow(t)
	number := visitors(t, 6000).Drop("ill", "count", "visits")
	m := must.Get(Huber{Noise: Seed(1)}.Fit(Regression(number, "score"), Simulate(4, 1e-6)))
	b := m.bought()
	if len(b.Pairs) == 0 {
		t.Fatal("no products")
	}
	// form is that of a row, computed by its definition.
	e, d := m.encoding, b.Width()
	placing := b.Placing()
	form := func(row []float64) (sum float64) {
		z, x := make([]float64, len(row)), []float64{}
		for j, v := range row {
			z[j] = v / b.RowNorm
			x = append(x, z[j])
		}
		for k, s := range b.Pairs {
			for _, o := range b.Pairs[k+1:] {
				for i := range s.Len {
					for j := range o.Len {
						x = append(x, 0.5*z[s.First+i]*z[o.First+j]/e.TypicalProducts())
					}
				}
			}
		}
		for j, v := range x {
			sum += placing[j] * (v/math.Sqrt(1.25) - b.Mean[j]) / b.Scale
		}
		return sum + placing[d-1]*b.Bias
	}
	for _, two := range [][2]string{{"age", "income"}, {"size", "age"}, {"ward", "size"}} {
		s := m.Surface(two[0], two[1])
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		rng, n := noise.NewSeeded(5), len(s.b.places)
		for range 40 {
			i := [2]int{rng.IntN(len(s.a.places)), rng.IntN(len(s.a.places))}
			j := [2]int{rng.IntN(n), rng.IntN(n)}
			columns := fourPeople(m, s.a, s.b, i, j)
			var at [4]float64
			for k := range at {
				row := rawRow(t, e, columns, k)
				long, _ := e.Normed()
				for j := range row {
					row[j] *= long / e.TypicalNorm()
				}
				at[k] = form(row[:len(row)-1])
			}
			more := s.Beyond().forms
			got := more[i[0]*n+j[0]] - more[i[0]*n+j[1]] - more[i[1]*n+j[0]] + more[i[1]*n+j[1]]
			if want := at[0] - at[1] - at[2] + at[3]; !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
				t.Fatalf("%v: together %v, of predictions %v", two, got, want)
			}
			own := s.a.places[i[0]].form(s.a.own) + s.b.places[j[0]].form(s.b.own)
			if got := own + more[i[0]*n+j[0]]; !(math.Abs(got-s.forms[i[0]*n+j[0]]) <= 1e-9) {
				t.Fatalf("%v: the shapes and beyond make %v, all is %v", two, got, s.forms[i[0]*n+j[0]])
			}
		}
	}
	all := must.Get(m.Shapes())
	if got := all.Surfaces(); len(got) != 4 || got[0].Importance() < got[3].Importance() || all.pairs != 6 {
		t.Errorf("%d surfaces of %d pairs", len(got), all.pairs)
	}
	if text := all.Display().Text(); !strings.Contains(text, "4 of 6") {
		t.Error(text)
	}
}

// A surface is shown as a table, of which what is unsure is marked, and as a map or lines, on the page of all shapes
// too; what was not learnt together has none.
func TestSurfacesAreShown(t *testing.T) {
	testscale.InTurn(t)
	people := visitors(t, 3000).Drop("count", "score")
	m := must.Get(SVM{Noise: Seed(1)}.Fit(Binary(people, "ill", Cross("age", "income"), Cross("ward", "size")),
		Simulate(1, 1e-6)))
	s := m.Surface("income", "age")
	for _, one := range []*Surface{s, s.Beyond(), s.AtTypical(), s.AtTypical().Beyond(), m.Surface("ward", "size")} {
		if one.Err() != nil {
			t.Fatal(one.Err())
		}
		if png, err := one.Figure().PNG(); err != nil || len(png) < 1000 {
			t.Errorf("%v", err)
		}
		unsure := slices.ContainsFunc(one.Points(), func(p SurfacePoint) bool {
			return p.NoiseAtOnce.Lower < 0 && p.NoiseAtOnce.Upper > 0
		})
		if text := one.Display().Text(); strings.Contains(text, " ?") != unsure || !strings.Contains(text, one.Unit()) {
			t.Errorf("unsure is %v: %s", unsure, text)
		}
	}
	flat, a := *s, *s.a
	a.to = func(t float64) float64 { return t }
	flat.a = &a
	_, _, z := flat.fine() // straight from one place to the next, along either axis
	for r := 0; r+3 < len(z); r += 3 {
		for c := 0; c+3 < len(z[r]); c += 3 {
			up, right := (2*z[r][c]+z[r+3][c])/3, (2*z[r][c]+z[r][c+3])/3
			inside := (2*up + (2*z[r][c+3]+z[r+3][c+3])/3) / 3
			if !(math.Abs(z[r+1][c]-up) <= 1e-12) || !(math.Abs(z[r][c+1]-right) <= 1e-12) ||
				!(math.Abs(z[r+1][c+1]-inside) <= 1e-12) {
				t.Fatalf("at (%d, %d) it goes by %v, %v and %v, want %v, %v and %v", c, r, z[r+1][c], z[r][c+1],
					z[r+1][c+1], up, right, inside)
			}
		}
	}
	if hatched := strings.Contains(s.Figure().Numbers(), "hatched"); !hatched {
		t.Error("nothing is hatched")
	}
	shapes := must.Get(m.Shapes())
	if words := shapes.Figure().Words(); !strings.Contains(words, "A map of age × income") {
		t.Error(words)
	}
	for want, bad := range map[string]*Surface{"was learnt": m.Surface("age", "size"),
		"no column": m.Surface("ag", "x")} {
		if bad.Err() == nil || !strings.Contains(bad.Err().Error(), want) || bad.Figure() != nil {
			t.Errorf("%v, want %q", bad.Err(), want)
		}
	}
}

// Levels are round numbers strictly between two, 0 among them; of what is as good as equal there are none, however
// large it is.
func TestLevelsBetween(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   []float64
	}{{-1, 1, []float64{-0.5, 0, 0.5}}, {0, 7, []float64{1, 2, 3, 4, 5, 6}}, {3, 3, nil},
		{3, 3 + 1e-9, nil}, {-3, -3 + 1e-9, nil}, {1e9, 1e9 + 1, nil}, {-1e9, 1 - 1e9, nil}, {2, 1, nil},
		{math.NaN(), 1, nil}} {
		got := levelsBetween(c.lo, c.hi)
		if !slices.Equal(got, c.want) {
			t.Errorf("between %v and %v: %v, want %v", c.lo, c.hi, got, c.want)
		}
	}
}

// Labels of contours that lie close together stand apart, inside the map, each on its line.
func TestLabelsOfContoursAreApart(t *testing.T) {
	const n = 40
	var x, y []float64
	var z [][]float64
	for r := range n {
		x, y = append(x, float64(r)), append(y, float64(r))
		row := make([]float64, n)
		for c := range row {
			row[c] = 10 / (1 + math.Exp(-float64(c-n/2))) // all contours in a few columns
		}
		z = append(z, row)
	}
	f := figure.New("a map", "x", "y")
	(&Surface{}).label(f, x, y, z, []float64{1, 2, 3, 5, 6, 8, 9})
	var at [][2]float64
	for _, line := range strings.Split(f.Numbers(), "\n") {
		var p [2]float64
		if _, rest, ok := strings.Cut(line, "points: ("); ok {
			if _, err := fmt.Sscanf(rest, "%g, %g)", &p[0], &p[1]); err != nil {
				t.Fatal(line, err)
			}
			at = append(at, p)
		}
	}
	if len(at) < 6 {
		t.Errorf("%d labels in\n%s", len(at), f.Numbers())
	}
	for i, p := range at {
		for _, q := range at[:i] {
			if math.Abs(p[0]-q[0]) < 0.15*n && math.Abs(p[1]-q[1]) < 0.085*n {
				t.Errorf("labels at %v and %v", p, q)
			}
		}
	}
}
