package learn

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// visitors have a number with missing values, one on a logarithmic scale, one with a typical value and a category.
func visitors(t *testing.T, n int) DataFrame {
	t.Helper()
	rng := noise.NewSeeded(3)
	names := []string{"age", "income", "visits", "size", "count", "score"}
	columns := []frame.Column{{Name: "ward", Kind: frame.Categorical}, {Name: "ill", Kind: frame.Categorical}}
	for _, name := range names {
		columns = append(columns, frame.Column{Name: name, Numbers: make([]float64, n)})
	}
	for i := range n {
		age, income := 18+72*rng.Float64(), math.Exp(2+2*rng.Float64())
		visits := math.Floor(6 * rng.Float64() * rng.Float64())
		ward := rng.IntN(3)
		form := 0.04*(age-50) + math.Log(income) - 3 + 0.2*visits + 0.5*float64(ward)
		if rng.Float64() < 0.1 {
			age = math.NaN()
		}
		count := float64(min(9, rng.IntN(2+int(2*math.Exp(form/2)))))
		score := 50 + 10*form + 5*rng.NormFloat64()
		for k, v := range []float64{age, income, visits, rng.Float64(), count, score} {
			columns[2+k].Numbers[i] = v
		}
		columns[0].Texts = append(columns[0].Texts, fmt.Sprint("w", ward))
		ill := map[bool]string{true: "yes", false: "no"}[rng.Float64() < 1/(1+math.Exp(-form))]
		columns[1].Texts = append(columns[1].Texts, ill)
	}
	return FromTable(inventedTable(t, columns...)).WithSchema(
		frame.CategoricalField("ward", "w0", "w1", "w2").OrMissing(),
		frame.CategoricalField("ill", "no", "yes"), frame.NumericField("age", 18, 90).OrMissing(),
		frame.LogField("income", 5, 60), frame.NumericField("visits", 0, 6).Typically(0),
		frame.NumericField("size", 0, 1),
		frame.NumericField("count", 0, 9), frame.NumericField("score", 0, 100))
}

// shapely are models of visitors of every kind that has shapes, in rows that are clipped (InUnits) or scaled.
func shapely(t *testing.T) map[string]*Model {
	t.Helper()
	if shapelyMade != nil {
		return shapelyMade
	}
	people, all, given := visitors(t, 800), map[string]*Model{}, Simulate(2, 1e-6)
	for _, with := range []struct {
		name    string
		options []Option
	}{{"", nil}, {", in units", []Option{InUnits()}}, {", in units, lines", []Option{InUnits(), Lines()}}} {
		binary := Binary(people.Drop("count", "score"), "ill", with.options...)
		number := Regression(people.Drop("count", "ill"), "score", with.options...)
		counts := Counts(people.Drop("score", "ill"), "count", with.options...)
		classes := Classes(people.Drop("score", "count", "ill"), "ward", with.options...)
		for name, fit := range map[string]func() (*Model, error){
			"Logistic": func() (*Model, error) { return Logistic{Noise: Seed(1)}.Fit(binary, given) },
			"SVM": func() (*Model, error) {
				return SVM{Noise: Seed(1), CurvatureShare: 0.05}.Fit(binary, given)
			},
			"Huber":   func() (*Model, error) { return Huber{Noise: Seed(1)}.Fit(number, given) },
			"Poisson": func() (*Model, error) { return Poisson{Noise: Seed(1)}.Fit(counts, given) },
			"Softmax": func() (*Model, error) { return Softmax{Noise: Seed(1)}.Fit(classes, given) },
			"Median":  func() (*Model, error) { return Median{Noise: Seed(1)}.Fit(number, given) },
			"pure": func() (*Model, error) {
				return Logistic{Noise: Seed(1), Pure: true}.Fit(binary, Simulate(2, 0))
			},
			"ridge":          func() (*Model, error) { return Linear{Noise: Seed(1), Lambda: 5}.Fit(number, given) },
			"plain":          func() (*Model, error) { return Logistic{}.FitWithoutPrivacy(binary) },
			"Softmax, plain": func() (*Model, error) { return Softmax{}.FitWithoutPrivacy(classes) },
		} {
			m, err := fit()
			if err != nil {
				t.Fatalf("%s%s: %v", name, with.name, err)
			}
			all[name+with.name] = m
		}
	}
	shapelyMade = all
	return all
}

// shapelyMade are those that were made: nothing changes a model.
var shapelyMade map[string]*Model

// partsOf are the names by which a model has shapes, each by itself.
func partsOf(m *Model) [][]string {
	_, names := m.parts()
	if names == nil {
		return [][]string{nil}
	}
	var all [][]string
	for _, name := range names {
		all = append(all, []string{name})
	}
	return all
}

// give adds to c a value of a field that is at a place of its shape.
func give(c *frame.Column, f frame.Field, at shapePlace) {
	switch {
	case f.Kind == frame.Categorical:
		c.Texts = append(c.Texts, map[bool]string{true: "", false: at.name}[at.name == "missing"])
	case f.Cuts != nil && at.name != "missing":
		c.Numbers = append(c.Numbers, append([]float64{f.Lower}, f.Cuts...)[at.below])
	default:
		c.Numbers = append(c.Numbers, at.at)
	}
}

// pairs calls use with two rows of features as long as the typical one, or as records have them where rows are clipped
// and nothing is, and with how much the places differ: a row of a record, and one that differs in the column.
func pairs(t *testing.T, m *Model, s *Shape, use func(rows *matrix.Dense, from, to shapePlace)) int {
	t.Helper()
	return pairsWith(t, m, s, "", shapePlace{}, func(_ int, rows *matrix.Dense, from, to shapePlace) {
		use(rows, from, to)
	})
}

// pairsWith is pairs where one other column has a given place, and with the numbers of the pairs.
func pairsWith(t *testing.T, m *Model, s *Shape, other string, place shapePlace,
	use func(pair int, rows *matrix.Dense, from, to shapePlace)) int {
	t.Helper()
	rng, n := noise.NewSeeded(5), 0
	for pair := range 50 {
		columns := make([]frame.Column, 0, 8)
		var from, to shapePlace
		for _, name := range m.Columns() {
			f, _ := m.encoding.Field(name)
			c := frame.Column{Name: name, Kind: f.Kind}
			for k := range 2 {
				own := s.places[rng.IntN(len(s.places))]
				switch {
				case name == s.Column():
					give(&c, f, own)
				case name == other:
					give(&c, f, place)
				case f.Kind == frame.Categorical:
					c.Texts = append(c.Texts, f.Levels[0])
				default:
					c.Numbers = append(c.Numbers, f.Lower+0.3*(f.Upper-f.Lower))
				}
				if name == s.Column() {
					from, to = map[bool]shapePlace{true: own, false: from}[k == 0], own
				}
			}
			columns = append(columns, c)
		}
		if rows, short := typicalRows(t, m, columns); short {
			n++
			use(pair, rows, from, to)
		}
	}
	return n
}

// typicalRows returns the rows of a table as those of the typical norm would be, and whether nothing of them is
// clipped.
func typicalRows(t *testing.T, m *Model, columns []frame.Column) (rows *matrix.Dense, short bool) {
	t.Helper()
	made := must.Get(m.encoding.Rows(inventedTable(t, columns...)))
	rows, short = matrix.Densed(made), true
	for i, d := range slices.Repeat([]int{rows.D}, rows.N) {
		row := rows.Data[i*d : i*d+d-1]
		norm, most := floats.Norm(row, 2), m.encoding.TypicalNorm()
		if m.encoding.Clipped() {
			short = short && norm < 0.999*most
		} else { // scaled to R: as a row of the typical norm would be
			plain, _ := m.encoding.Normed()
			raw := rawRow(t, m.encoding, columns, i)
			for j := range row {
				row[j] = raw[j] * plain / most
			}
		}
		if b := m.bought(); b != nil { // the fit clips z/R − m
			var far float64
			for j := range row {
				far += math.Pow(row[j]/b.RowNorm-b.Mean[j], 2)
			}
			short = short && math.Sqrt(far) < 0.999*b.Scale && floats.Norm(row, 2) < 0.999*b.RowNorm
		}
	}
	return rows, short
}

// rawRow is a row before it is scaled.
func rawRow(t *testing.T, e *frame.Encoding, columns []frame.Column, i int) []float64 {
	t.Helper()
	k := e.Kept()
	k.Settings.RowNorm, k.Settings.ClipNorm = 0, 0
	raw := must.Get(k.Encoding())
	made := must.Get(raw.Rows(inventedTable(t, columns...)))
	rows := matrix.Densed(made)
	return rows.Data[i*rows.D : (i+1)*rows.D]
}

// What a shape has between two values is by how much the linear forms of rows of the typical norm differ, and after an
// edit what predictions change by is the change of the shape, of every kind of model and column, and so it is with what
// is shown of coefficients; a tenth more would be seen.
func TestShapesAreDifferencesOfPredictions(t *testing.T) {
	testscale.InTurn(t)
	for name, m := range shapely(t) {
		for _, of := range partsOf(m) {
			tried := 0
			for _, column := range m.Columns() {
				s := m.Shape(column, of...)
				if s.Err() != nil {
					t.Fatal(name, s.Err())
				}
				change := s.changed("raised", slices.Clone(s.own))
				for k := range change.own {
					change.own[k] += float64(k*k%7) - 2
				}
				edited, err := m.With(change)
				if err != nil {
					t.Fatal(name, column, err)
				}
				if _, want := shown(m.encoding, edited.theta, edited.also()); !floats.EqualApprox(want,
					edited.coefficients, 1e-9) {
					t.Fatalf("%s, %s: effects are shown as %v, they are %v", name, column, edited.coefficients, want)
				}
				again := edited.Shape(column, of...)
				tried += pairs(t, m, s, func(rows *matrix.Dense, from, to shapePlace) {
					n := len(m.margins(rows)) / 2
					at := func(of *Model, row int) float64 { return of.margins(rows)[2*s.part+row] }
					if n <= s.part {
						t.Fatal("parts")
					}
					got, want := to.form(s.own)-from.form(s.own), at(m, 1)-at(m, 0)
					if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
						t.Fatalf("%s, %s: from %v to %v the shape rises by %v, the prediction by %v", name, column,
							from.name, to.name, got, want)
					}
					for row, p := range []shapePlace{from, to} {
						want := p.form(change.own) - p.form(s.own)
						if got := at(edited, row) - at(m, row); !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
							t.Fatalf("%s, %s at %v: changed by %v, the prediction by %v", name, column, p.name, want,
								got)
						}
					}
					got = to.form(again.own) - from.form(again.own)
					if want := at(edited, 1) - at(edited, 0); !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
						t.Fatalf("%s, %s: the edited shape rises by %v, the prediction by %v", name, column, got, want)
					}
				})
				if !(math.Abs(floats.Dot(s.own, s.term.Shares)) <= 1e-9) {
					t.Errorf("%s, %s: the mean is %v", name, column, floats.Dot(s.own, s.term.Shares))
				}
			}
			if tried < 50 {
				t.Errorf("%s: %d pairs are not clipped", name, tried)
			}
		}
	}
}

// A number in steps has a shape as categories have, one with a period a curve of its waves, and one that is crossed
// what it adds with the other at its mean: differences of predictions, these in the mean over the other column. What
// is crossed changes alike beside everything, waves can be smoothed alone; a shape a tenth larger would be seen.
func TestShapesOfTerms(t *testing.T) {
	testscale.InTurn(t)
	people, given := visitors(t, 800), Simulate(4, 1e-6)
	for k, terms := range []struct {
		options []Option
		crossed map[string]string
	}{
		{[]Option{Steps("age", 30, 60), Periodic("size", 0), Line("visits"), Cross("income", "ward")},
			map[string]string{"income": "ward", "ward": ""}},
		{[]Option{Steps("age", 30, 60), Periodic("size", 1), Cross("ward", "age")},
			map[string]string{"ward": "age", "age": "ward"}},
	} {
		all := map[string]int{}
		for name, fit := range map[string]func() (*Model, error){
			"SVM": func() (*Model, error) {
				return SVM{Noise: Seed(1), CurvatureShare: 0.05}.Fit(
					Binary(people.Drop("count", "score"), "ill", terms.options...), given)
			},
			"Huber": func() (*Model, error) {
				return Huber{Noise: Seed(1)}.Fit(
					Regression(people.Drop("count", "ill"), "score", terms.options...), given)
			},
			"in units": func() (*Model, error) {
				return Logistic{Noise: Seed(1)}.Fit(
					Binary(people.Drop("count", "score"), "ill", append(terms.options, InUnits())...), given)
			},
			"plain": func() (*Model, error) {
				return Logistic{}.FitWithoutPrivacy(Binary(people.Drop("count", "score"), "ill", terms.options...))
			},
		} {
			if first := name == "SVM" || name == "in units"; first != (k == 0) && !testscale.Full() {
				continue
			}
			m, err := fit()
			if err != nil {
				t.Fatal(name, err)
			}
			if _, err := m.Shapes(); err != nil {
				t.Fatal(name, err)
			}
			for _, column := range m.Columns() {
				s, tried, least := m.Shape(column), 0, math.Inf(1)
				same := func(got, want float64, from, to shapePlace) {
					tried++
					if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
						t.Fatalf("%s, %s: from %v to %v the shape rises by %v, the prediction by %v", name, column,
							from.name, to.name, got, want)
					}
					if from.name != to.name {
						least = math.Min(least, math.Abs(want))
					}
				}
				other, crossed := terms.crossed[column]
				switch {
				case s.Err() != nil:
					t.Fatal(name, s.Err())
				case crossed && other == "":
					tried = 50 // the other is a curve: see TestEffectsOfTerms
				case crossed:
					by, ends, seen := map[int]float64{}, map[int][2]shapePlace{}, map[int]int{}
					of := m.Shape(other)
					for _, place := range of.places {
						pairsWith(t, m, s, other, place, func(k int, rows *matrix.Dense, from, to shapePlace) {
							v := m.margins(rows)
							by[k] += of.term.Shares[place.below] * (v[1] - v[0])
							ends[k], seen[k] = [2]shapePlace{from, to}, seen[k]+1
						})
					}
					for k, want := range by {
						if from, to := ends[k][0], ends[k][1]; seen[k] == len(of.places) {
							same(to.form(s.own)-from.form(s.own), want, from, to)
						}
					}
				default:
					pairs(t, m, s, func(rows *matrix.Dense, from, to shapePlace) {
						v := m.margins(rows)
						same(to.form(s.own)-from.form(s.own), v[1]-v[0], from, to)
					})
				}
				if all[column] += tried; least < 1e-7 {
					t.Errorf("%s, %s: one pair differs by %v", name, column, least)
				}
				fixed := column == "size"
				change := s.changed("raised", slices.Clone(s.own))
				change.own[0]++
				if fixed && len(s.term.Knots) > 2 {
					smoother := s.Smoothed(0.3)
					edited := must.Get(m.With(smoother))
					moved := 0.0
					pairs(t, m, s, func(rows *matrix.Dense, from, to shapePlace) {
						place := func(p shapePlace) shapePlace {
							return smoother.places[slices.IndexFunc(s.places, func(o shapePlace) bool {
								return o.name == p.name && o.below == p.below && o.part == p.part
							})]
						}
						v := edited.margins(rows)
						want := place(to).form(smoother.own) - place(from).form(smoother.own)
						same(want, v[1]-v[0], from, to)
						moved = max(moved, math.Abs(want-to.form(s.own)+from.form(s.own)))
					})
					again, points := edited.Shape(column), smoother.Points()
					for k, p := range s.Points() { // all counts from another mean
						off := again.places[0].form(again.own) - smoother.places[0].form(smoother.own)
						got := again.places[k].form(again.own) - smoother.places[k].form(smoother.own)
						if !(math.Abs(got-off) <= 1e-9) || !(math.Abs(points[k].Before-p.Value) <= 1e-9) {
							t.Fatalf("%s at %v: smoothed it is off by %v and %v", column, p.Name, got-off,
								points[k].Before-p.Value)
						}
					}
					if moved < 1e-3 {
						t.Errorf("%s, %s: smoothing moved nothing", name, column)
					}
				}
				_, err := m.With(change)
				if e := s.Monotone(+1).Err(); (e != nil) != fixed || (err != nil) != fixed {
					t.Errorf("%s, %s: changed with %v, %v", name, column, e, err)
				}
				if fixed {
					continue
				}
				edited := must.Get(m.With(change))
				pairs(t, m, s, func(rows *matrix.Dense, from, to shapePlace) {
					v, was := edited.margins(rows), m.margins(rows)
					same(to.form(change.own)-to.form(s.own), v[1]-was[1], shapePlace{}, shapePlace{})
				})
			}
			if s := m.Shape("age"); s.ordered() != 3 || len(s.own) != 4 || s.term.Categories[3] != "missing" {
				t.Errorf("%s: steps with %d of %v in order", name, s.ordered(), s.term.Categories)
			}
		}
		for column, tried := range all {
			if tried < 10 {
				t.Errorf("%s: %d pairs are not clipped", column, tried)
			}
		}
	}
}

// Projections are what they say: of all that are monotone, or convex, none is nearer: (f − Pf)ᵀC⁻¹(h − Pf) ≤ 0 for all
// of the kind, and 0 for h = 0 and 2Pf; what is of the kind stays. With a metric that is off by a tenth it is not so.
func TestProjectionsOfShapes(t *testing.T) {
	rng := noise.NewSeeded(8)
	off := 0.0
	for _, kind := range []struct {
		name       string
		difference []float64
		random     func(n int) []float64
	}{{"monotone", []float64{-1, 1}, func(n int) []float64 {
		v := make([]float64, n)
		rng.Gaussian(v, 1)
		slices.Sort(v)
		return v
	}}, {"convex", []float64{1, -2, 1}, func(n int) []float64 {
		v, slope := make([]float64, n), rng.NormFloat64()
		for k := 1; k < n; k++ {
			v[k], slope = v[k-1]+slope, slope+math.Max(0, rng.NormFloat64())
		}
		return v
	}}} {
		for range 300 {
			n := 3 + rng.IntN(10)
			root, f := mat.NewDense(n, n, nil), make([]float64, n)
			rng.Gaussian(f, 2)
			for i := range n {
				for j := range n {
					root.Set(i, j, 0.3*rng.NormFloat64())
				}
				root.Set(i, i, 0.1+4*math.Pow(rng.Float64(), 3))
			}
			c, other := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
			c.SymOuterK(1, root)
			for i := range n {
				c.SetSym(i, i, c.At(i, i)+0.01)
			}
			other.CopySym(c)
			other.SetSym(0, 0, 1.1*c.At(0, 0))
			p, near := slices.Clone(f), slices.Clone(f)
			if !nearest(p, c, kind.difference) {
				t.Fatalf("%s: nothing is nearest to %v", kind.name, f)
			}
			nearest(near, other, kind.difference)
			for k := range n - len(kind.difference) + 1 {
				if v := floats.Dot(kind.difference, p[k:k+len(kind.difference)]); v < -1e-7 ||
					kind.name == "monotone" && v < 0 {
					t.Fatalf("%s: %v, %v", kind.name, p, v)
				}
			}
			again := slices.Clone(p)
			if nearest(again, c, kind.difference); !floats.EqualApprox(again, p, 1e-6) {
				t.Fatalf("%s: %v becomes %v", kind.name, p, again)
			}
			along := func(p, h []float64) float64 {
				var chol mat.Cholesky
				chol.Factorize(c)
				a, b, z := make([]float64, n), make([]float64, n), new(mat.VecDense)
				floats.SubTo(a, f, p)
				floats.SubTo(b, h, p)
				must.Do(chol.SolveVecTo(z, mat.NewVecDense(n, a)))
				return mat.Dot(z, mat.NewVecDense(n, b))
			}
			far := along(p, f)
			for range 20 {
				if v := along(p, kind.random(n)); v > 1e-6*far {
					t.Fatalf("%s: %v of %v is not the nearest: %v", kind.name, p, f, v)
				}
			}
			if v := along(p, make([]float64, n)); !(math.Abs(v) <= 1e-6*far) {
				t.Fatalf("%s: %v is not the foot of %v: %v", kind.name, p, f, v)
			}
			off = math.Max(off, math.Abs(along(near, make([]float64, n)))/far)
		}
	}
	if off < 1e-2 {
		t.Errorf("another metric is seen by %v only", off)
	}
}

// Where the law of the noise says nothing of some direction nothing is nearest, and nothing is moved.
func TestNothingIsNearestInNoMetric(t *testing.T) {
	values := []float64{3, 2, 1}
	if nearest(values, mat.NewSymDense(3, nil), []float64{-1, 1}) || values[0] != 3 || values[2] != 1 {
		t.Errorf("%v is nearest where there is no noise", values)
	}
}

// An edited model is kept: the same to the last bit, with a card that says what was changed, without intervals, and
// with the model that was released; files whose edits are of other columns are refused.
func TestEditedModelsAreKept(t *testing.T) {
	testscale.InTurn(t)
	people, all := visitors(t, 800), shapely(t)
	for _, name := range testscale.Some(slices.Sorted(maps.Keys(all))...) {
		m := all[name]
		of := partsOf(m)[0]
		age := m.Shape("age", of...).Monotone(+1).Rounded(0.01).SetCategory("missing", 0.05)
		visits := m.Shape("visits", of...).Smoothed(0.1).Convex(-1)
		edited, err := m.With(age, visits)
		if err != nil {
			t.Fatal(name, err)
		}
		twice, err := edited.With(edited.Shape("size", of...).Monotone(-1))
		if err != nil {
			t.Fatal(name, err)
		}
		if twice.Unedited() != m || len(twice.edits) != 3 {
			t.Errorf("%s: %d edits of another model", name, len(twice.edits))
		}
		if _, err := edited.Intervals(0.95); err == nil {
			t.Errorf("%s: there are intervals for what was edited", name)
		}
		if m.release == nil {
			continue
		}
		path := filepath.Join(t.TempDir(), "model.json")
		if err := twice.Save(path); err != nil {
			t.Fatal(name, err)
		}
		again, err := Load(path)
		if err != nil {
			t.Fatal(name, err)
		}
		if !slices.Equal(again.margins(rowsOf(t, again, people)), twice.margins(rowsOf(t, twice, people))) ||
			!slices.Equal(again.coefficients, twice.coefficients) {
			t.Errorf("%s: a loaded model predicts otherwise", name)
		}
		if !slices.Equal(again.Unedited().margins(rowsOf(t, m, people)), m.margins(rowsOf(t, m, people))) {
			t.Errorf("%s: what was released is another model", name)
		}
		content, err := again.encode()
		if before, _ := twice.encode(); err != nil || !bytes.Equal(content, before) {
			t.Errorf("%s: the file is written otherwise the second time: %v", name, err)
		}
		card, err := again.Card()
		if err != nil || !strings.Contains(string(card), "made to rise") || !strings.Contains(string(card), "bend") {
			t.Errorf("%s: the card does not say what was changed: %v", name, err)
		}
		for _, e := range []edit{{Column: "height", Change: []float64{1}}, {Column: "age", Change: []float64{1}},
			{Column: "size", Part: 7, Change: make([]float64, 8)}} {
			if _, err := m.edited([]edit{e}); err == nil {
				t.Errorf("%s: %+v is taken", name, e)
			}
		}
	}
}

func rowsOf(t *testing.T, m *Model, people DataFrame) matrix.Rows {
	t.Helper()
	return must.Get(m.encoding.Rows(must.Get(people.Table())))
}

// What cannot be had is refused with its reason.
func TestShapesThatThereAreNot(t *testing.T) {
	testscale.Slow(t)
	all := shapely(t)
	m, classes := all["SVM"], all["Softmax"]
	step := m.Shape("age").term.Knots[1] - m.Shape("age").term.Knots[0]
	for what, s := range map[string]*Shape{
		"no column":         m.Shape("height"),
		"a part of one":     m.Shape("age", "yes"),
		"no class":          classes.Shape("age"),
		"no knot":           m.Shape("age").Set(18+0.2*step, 18+0.8*step, 1),
		"a direction":       m.Shape("age").Monotone(2),
		"a bent category":   m.Shape("ward").Convex(1),
		"a smooth category": m.Shape("ward").Smoothed(1),
		"no category":       m.Shape("ward").SetCategory("w9", 1),
		"a step":            m.Shape("age").Rounded(0),
		"no probability":    m.Shape("age").AtTypical().Set(18, 90, 2),
		"several classes":   classes.Shape("age", "w1").AtTypical(),
	} {
		if s.Err() == nil {
			t.Errorf("%s is no error", what)
		}
		if s.Display().Warning == "" || s.Figure() != nil || s.Points() != nil || s.Rounded(1).Err() == nil {
			t.Errorf("%s: what is shown is no error", what)
		}
		if _, err := m.With(s); err == nil {
			t.Errorf("%s predicts", what)
		}
	}
	if _, err := m.With(all["Logistic"].Shape("age").Monotone(1)); err == nil {
		t.Error("a shape of another model is taken")
	}
	if _, err := m.With(m.Shape("age").Monotone(1), m.Shape("age").Monotone(-1)); err == nil {
		t.Error("two shapes of a column are taken")
	}
	uncentred := must.Get(Logistic{Noise: Seed(1)}.Fit(Binary(visitors(t, 300).Drop("count", "score"), "ill",
		Uncentred()),
		Simulate(1, 1e-6)))
	if _, err := uncentred.Shapes(); err == nil {
		t.Error("rows that are not centred have shapes")
	}
}

// Values are set and rounded in the unit that is shown, whatever the link, in which predictions of a typical record
// differ by them.
func TestShapesInTheirUnit(t *testing.T) {
	testscale.InTurn(t)
	for name, m := range shapely(t) {
		of := partsOf(m)[0]
		if text := m.Shape("age", of...).Display().Text(); strings.Contains(text, "typical norm") !=
			!strings.Contains(name, "in units") {
			t.Errorf("%s: %s", name, text)
		}
		for _, s := range []*Shape{m.Shape("age", of...), m.Shape("age", of...).AtTypical()} {
			if s.Err() != nil && strings.HasPrefix(name, "Softmax") {
				continue
			}
			for k, p := range s.Points() { // what is predicted there changes by that
				t0, form := m.typical(s.part), s.places[k].form(s.own)
				v := []float64{t0, t0 + form}
				if m.target.Task != frame.ManyClasses {
					v = m.predictions(v)
				}
				if task := m.target.Task; task == frame.Number && math.Abs(t0+form) > 0.99 ||
					task == frame.Count && v[1] > 8.99 {
					continue // beyond its bounds
				}
				for i := range v {
					switch {
					case strings.HasPrefix(s.Unit(), "log-odds"):
						v[i] = math.Log(v[i] / (1 - v[i]))
					case strings.HasPrefix(s.Unit(), "logarithm"):
						v[i] = math.Log(v[i])
					}
				}
				if !(math.Abs(p.Value-(v[1]-v[0])) <= 1e-9*(1+math.Abs(p.Value))) {
					t.Fatalf("%s: %v %s at %s, predictions differ by %v", name, p.Value, s.Unit(), p.Name, v[1]-v[0])
				}
			}
			k := s.term.Knots
			set := s.Set(k[len(k)-1], 90, 0.125)
			points := set.Points()
			if v := points[len(points)-2].Value; !(math.Abs(v-0.125) <= 1e-9) {
				t.Errorf("%s: set to 0.125 %s, and %v", name, s.Unit(), v)
			}
			for k, p := range s.Rounded(0.05).Points() {
				if v := math.Abs(math.Remainder(p.Value, 0.05)); s.places[k].below == s.places[k].above && v > 1e-9 {
					t.Errorf("%s: %v is no multiple of 0.05", name, p.Value)
				}
			}
		}
	}
}

// A date has years on its axis.
func TestDatesOfAShapeAreDrawnAsDates(t *testing.T) {
	days := frame.Column{Name: "day"}
	y := frame.Column{Name: "y"}
	for i := range 200 {
		days.Numbers, y.Numbers = append(days.Numbers, 16500+15*float64(i)), append(y.Numbers, float64(i%10))
	}
	df := FromTable(inventedTable(t, days, y)).WithSchema(frame.DateField("day", "", "2015-01-01", "2024-12-31"),
		frame.NumericField("y", 0, 9))
	m := must.Get(Linear{Noise: noise.NewSeeded(1)}.Fit(Regression(df, "y"), Simulate(1, 1e-6)))
	if svg := must.Get(m.Shape("day").Figure().SVG()); !bytes.Contains(svg, []byte(">2018<")) {
		t.Errorf("no year is on the axis: %s", svg)
	}
}

// Of a shape with both bands each is shown in its own columns.
func TestBothBandsAreShown(t *testing.T) {
	people := visitors(t, 800).Drop("count", "score")
	m := must.Get(SVM{Noise: Seed(1)}.Fit(Binary(people, "ill"), Simulate(1, 1e-6)))
	s := m.Shape("age")
	for k := range s.places {
		s.places[k].populationAtOnce = &Span{0, -2, 2}
	}
	points := map[string]ShapePoint{}
	for _, p := range s.Points() {
		points[p.Name] = p
	}
	for _, row := range s.Display().Rows {
		noise, population := points[row[0]].NoiseAtOnce, points[row[0]].PopulationAtOnce
		want := []string{bound(noise.Lower), bound(noise.Upper), bound(population.Lower), bound(population.Upper)}
		if !slices.Equal(row[2:], want) || noise.Upper == population.Upper {
			t.Fatalf("%q, want %q", row, want)
		}
	}
	s.places[0].populationAtOnce = nil
	if row := s.Display().Rows[0]; row[2] == "" || row[4] != "" || row[5] != "" {
		t.Errorf("a place of which nothing is said of the population: %q", row)
	}
	bars := 1.25 + 0.2*float64(len(m.Shape("ward").Points()))
	for column, height := range map[string]float64{"age": 2.5, "ward": bars} {
		if f := m.Shape(column).panel("", -1, 1); f.Width != figure.Width/2 || !(math.Abs(f.Height-height) <= 1e-9) {
			t.Errorf("%s: two of a page are %v wide and %v high", column, f.Width, f.Height)
		}
		// A share below zero is of a difference.
		drawn := m.Shape(column).AtTypical().Figure().Numbers()
		if !strings.Contains(drawn, "effect on probability of yes (0: average)") {
			t.Errorf("the axis of %s does not say what 0 is: %s", column, drawn)
		}
	}
}

// Of the population nothing is said beyond the places where a hundredth of the records is, by the shares that were
// released, weighed between two knots; a category has its band whatever its share is.
func TestPopulationBandsEndWherePeopleDo(t *testing.T) {
	testscale.Slow(t)
	people := visitors(t, 800).Drop("count", "score")
	m := must.Get(SVM{CurvatureShare: 0.05, Noise: Seed(1)}.Fit(Binary(people, "ill"), Simulate(1, 1e-6)))
	shapes := must.Get(m.Shapes())
	for _, s := range shapes.all {
		law := must.Get(m.law(s.effects(), true))
		if must.Get(m.law(s.effects(), false)).Covers == law.Covers {
			t.Error("the law of the population is that of the same fit")
		}
		for k := range s.places {
			s.places[k].population, s.places[k].populationAtOnce = nil, nil
		}
		n := len(s.term.Knots)
		s.term.Shares = slices.Repeat([]float64{0.1}, len(s.term.Shares))
		if n > 2 {
			s.term.Shares[0], s.term.Shares[n-1] = 0, 0.0095
		}
		s.band(law, 0, true)
		for _, p := range s.places {
			share := s.term.Shares[p.below]*(1-p.part) + s.term.Shares[p.above]*p.part
			if want := math.IsNaN(p.at) || share >= 0.01; (p.populationAtOnce != nil) != want ||
				(p.population != nil) != want {
				t.Errorf("%s at %s, share %.4f: %v and %v", s.Column(), p.name, share, p.population,
					p.populationAtOnce)
			}
		}
	}
}

// Shapes are near by the law of their noise: what a projection moves has nothing along a constant, (f − Pf)ᵀC⁻¹1 = 0,
// for the C of that law, or of the shares of the records without one. Nothing on the way from a shape to its smoothed
// form is better. The band of a single value is that of its law, and importance is over the records.
func TestShapesAreMovedByTheirNoise(t *testing.T) {
	testscale.Slow(t)
	data := Binary(visitors(t, 800).Drop("count", "score"), "ill")
	private := must.Get(Logistic{CurvatureShare: 0.05, Noise: Seed(1)}.Fit(data, Simulate(2, 1e-6)))
	plain := must.Get(Logistic{}.FitWithoutPrivacy(data))
	for _, m := range []*Model{private, plain} {
		s := m.Shape("age")
		n, w := len(s.term.Knots), s.term.Shares
		c := mat.NewSymDense(n, nil)
		for k := range n {
			c.SetSym(k, k, 1/w[k])
		}
		if effects := m.effects(); m == private {
			forms := []frame.Effect{s.term.Of(1)}
			for k := range n {
				forms = append(forms, s.term.Of(k))
				floats.Add(forms[k+1].Weights, effects[len(effects)-1].Weights)
			}
			law := must.Get(m.law(forms, false))
			c = law.Covariance(1, n)
			at := slices.IndexFunc(s.places, func(p shapePlace) bool { return p.below == 1 && p.above == 1 })
			p, half := s.places[at].noise, law.Halves(0, 1, 0.95)[0]
			if !(math.Abs((p.Upper-p.Estimate)/half-1) <= 1e-6) || !(math.Abs((p.Estimate-p.Lower)/half-1) <= 1e-6) {
				t.Errorf("the band of one value is %+v, half of it by its law %v", p, half)
			}
			all := s.places[at]
			for _, bands := range [][2]*Span{{all.noise, all.noiseAtOnce}, {all.population, all.populationAtOnce}} {
				if by := (bands[1].Upper - bands[1].Lower) / (bands[0].Upper - bands[0].Lower); by < 1.1 || by > 2 {
					t.Errorf("a band of all values is %v times that of one", by)
				}
			}
		}
		moved, z := make([]float64, n), new(mat.VecDense)
		floats.SubTo(moved, s.own[:n], s.Monotone(-1).own[:n])
		if err := z.SolveVec(c, mat.NewVecDense(n, moved)); err != nil || floats.Norm(moved, 1) < 0.1 {
			t.Fatal(err, moved)
		}
		if sum := mat.Sum(z); !(math.Abs(sum) <= 1e-6*mat.Norm(z, 1)) {
			t.Errorf("private %v: a projection has %v along a constant, of %v", m == private, sum, mat.Norm(z, 1))
		}
		smooth := s.Smoothed(0.5).own
		worth := func(by float64) (v float64) {
			f := make([]float64, n)
			for k := range f {
				f[k] = smooth[k] + by*(s.own[k]-smooth[k])
				v += w[k] * math.Pow(f[k]-s.own[k], 2)
			}
			for k := range n - 2 {
				v += 0.5 / 8 * math.Pow(f[k]-2*f[k+1]+f[k+2], 2)
			}
			return v
		}
		if worth(0) > worth(0.01) || worth(0) > worth(-0.01) || floats.Distance(smooth, s.own, 2) < 1e-2 {
			t.Errorf("private %v: smoothed to %v, with %v and %v beside it", m == private, worth(0), worth(0.01),
				worth(-0.01))
		}
		var square float64 // the mean is 0
		for k, v := range s.own {
			square += w[k] * v * v
		}
		if got := s.Importance(); !(math.Abs(got/math.Sqrt(square)-1) <= 1e-6) {
			t.Errorf("an importance of %v, want %v", got, math.Sqrt(square))
		}
	}
}

// Of a straight number the importance is what its mean lets one expect, near the standard deviation over the records;
// that at its bounds was the largest there can be, and put straight numbers before what matters more. It is said to be
// about so, and of curves it is what it was.
func TestImportanceOfStraightNumbers(t *testing.T) {
	df := Patients(6000, 1).Drop("ill", "ward", "visits").WithSchema(Numeric("age", 18, 90), Numeric("weight", 20, 300),
		Categorical("smoker", "no", "yes"), Numeric("pressure", 80, 200))
	m := must.Get(Linear{Noise: Seed(1)}.Fit(Regression(df, "pressure", Lines()), Simulate(2, 1e-6)))
	for _, column := range []string{"age", "weight"} {
		s := m.Shape(column)
		c, _ := must.Get(df.Table()).Column(column)
		over := make([]float64, df.Rows())
		for i := range over {
			over[i] = (c.Number(i) - s.term.Field.Lower) / (s.term.Field.Upper - s.term.Field.Lower)
		}
		mean, spread := stat.PopMeanStdDev(over, nil)
		step := math.Abs(s.to(s.own[1]) - s.to(s.own[0]))
		guess, most := step*math.Sqrt(mean*(1-mean)/12), step*math.Sqrt(mean*(1-mean))
		if got := s.Importance(); !(math.Abs(got/guess-1) <= 0.1 && math.Abs(math.Log(got/(step*spread))) <= 1) {
			t.Errorf("%s: an importance of %v, want %v; it is %v, at most %v", column, got, guess, step*spread, most)
		}
	}
	shapes, err := m.Shapes()
	if text := shapes.Display().Text(); err != nil || strings.Count(text, "about ") < 2 ||
		!strings.Contains(text, "About: of a straight number") {
		t.Errorf("%s (%v)", text, err)
	}
	curved, err := Linear{Noise: Seed(1)}.Fit(Regression(df, "pressure", Curves()), Simulate(9, 1e-6))
	if err != nil || strings.Contains(must.Get(curved.Shapes()).Display().Text(), "about ") {
		t.Errorf("of curves it is known (%v)", err)
	}
	s := *m.Shape("age")
	alone := s.Importance()
	s.term.Shares, s.own = []float64{0.3, 0.3, 0.4}, []float64{-1, 1, 2}
	s.term.Spread = 0.25
	// At its mean 0 with 0.6 and 2 with 0.4, and 2 · 0.25 about 0.
	got, want := s.Importance()/s.to(1), math.Sqrt(0.6*0.25+0.6*0.4*4)
	if !(math.Abs(got/want-1) <= 1e-9 && alone > 0) {
		t.Errorf("with missing ones %v, want %v", got, want)
	}
}

// drawnPeople is a fit's view of n of the people, drawn with replacement.
func drawnPeople(all *Dataset, n int, src *noise.Seeded) *Dataset {
	index, size := make([]int, n), len(all.design.Labels)
	for i := range index {
		index[i] = src.IntN(size)
	}
	drawn := *all.design
	drawn.Rows, drawn.Labels = matrix.Select(all.design.Rows, index), make([]float64, n)
	for k, i := range index {
		drawn.Labels[k] = all.design.Labels[i]
	}
	return &Dataset{design: &drawn, from: all.from}
}

// inBand says whether the form of a shape by other coefficients of the fit is in the bands at all of the places.
func inBand(s *Shape, theta []float64, q float64, population bool) bool {
	forms, _ := formsOf(s.model.encoding, s.effects(), s.model.bought(), q)
	for k, p := range s.places {
		band := p.noiseAtOnce
		if population {
			band = p.populationAtOnce
		}
		if v := floats.Dot(forms[k], theta); band != nil && (v < band.Lower || band.Upper < v) {
			return false
		}
	}
	return true
}

// TestNoiseBandsCover: with the curvature of the records the band of all values at once covers what the same fit
// without noise has in 94 to 96 % of 2,000 runs, as the theorem says; in the quick form 40 runs are above 88 %.
//
//	DPNB_FULL=1 go test ./dpnb/learn -run TestNoiseBandsCover -v
func TestNoiseBandsCover(t *testing.T) {
	testscale.Slow(t)
	records, reps, least, most := 5000, 40, 0.88, 1.0
	if testscale.Full() {
		records, reps, least, most = 20_000, 2000, 0.94, 0.96
	}
	people := invented(t, records, "independent")
	data := Binary(people.Drop("income", "hours", "kids", "education", "marital", "work"), "label")
	in, of := 0, 0
	narrower := 0
	for rep := range reps {
		m := must.Get(Logistic{Noise: noise.NewSeeded(uint64(1000 + rep))}.Fit(data, Simulate(1, 1e-6)))
		b := m.bought()
		fit, _ := m.ObjectivePerturbation()
		s := &Shape{model: m, term: m.terms()[0]}
		s.places = placesOf(s.term, pieces)
		// The curvature of the records themselves: what a share would release if its noise were nothing.
		d := len(b.Raw)
		rows := b.Placed(data.design.Rows)
		known, row := mat.NewSymDense(d, nil), make([]float64, d)
		n := len(data.design.Labels)
		margins, weights := make([]float64, n), make([]float64, n)
		rows.Margins(margins, b.Raw, 0, n)
		fit.Loss.Curvature(weights, margins, data.design.Labels)
		placed := mat.NewDense(n, d, nil)
		for i := range n {
			rows.Row(row, i)
			floats.Scale(math.Sqrt(weights[i]), row)
			placed.SetRow(i, row)
		}
		known.SymOuterK(1, placed.T())
		var effects []frame.Effect
		for _, p := range s.places {
			effects = append(effects, s.term.At(p.at))
		}
		settings := interval.Settings{Level: shapeLevel, Basis: matrix.Complement(m.encoding.Nowhere(), d)}
		settings.Forms, _ = formsOf(m.encoding, effects, b, b.Stretch)
		guess := interval.Guess{Sizes: slices.Repeat([]float64{1}, d), Curvature: known,
			Columns: m.guess(b, fit, lessUsual).Columns,
			Scores:  func(float64) float64 { return 1 }, Normals: normals}
		law := must.Get(interval.LikelyLaw(fit, b.Raw, &interval.Moments{Hessian: known, HessianSigma: 1e-9}, guess,
			false, settings))
		s.band(law, 0, false)
		theta := without(t, m, b, data.design, true)
		of++
		if inBand(s, theta, b.Stretch, false) {
			in++
		}
		for k := range s.places {
			p := s.places[k].noiseAtOnce
			p.Lower, p.Upper = p.Estimate+0.8*(p.Lower-p.Estimate), p.Estimate+0.8*(p.Upper-p.Estimate)
		}
		if inBand(s, theta, b.Stretch, false) {
			narrower++
		}
	}
	t.Logf("%d of %d covered; narrower by a fifth %d", in, of, narrower)
	if c := float64(in) / float64(of); c < least || c > most {
		t.Errorf("%.4f of %d covered", c, of)
	}
	if c := float64(narrower) / float64(of); c > 0.92 {
		t.Errorf("narrower by a fifth it covers %.4f", c)
	}
}

// TestBandsOfCellsCover: bands cover where most values have no records, though where they are was not bought: counts of
// which most are 0 have 127 cells, few of them with anybody. With cells that records fill evenly 1 of 4 is covered.
func TestBandsOfCellsCover(t *testing.T) {
	testscale.InTurn(t)
	all := Regression(invented(t, 20_000, "independent").Drop("label"), "income")
	in, reps := 0, 2
	if testscale.Full() {
		reps = 4
	}
	for rep := range reps {
		src := noise.NewSeeded(uint64(1000 + rep))
		drawn := drawnPeople(all, 5000, src)
		m := must.Get(Huber{Noise: src}.Fit(drawn, Simulate(1, 1e-6)))
		b := m.bought()
		if b.CellFeatures() == 0 {
			t.Fatal("no cells")
		}
		if inBand(m.Shape("kids"), without(t, m, b, drawn.design, true), b.Stretch, false) {
			in++
		}
	}
	if in < reps {
		t.Errorf("%d of %d covered", in, reps)
	}
}

// TestShapeBandsCover measures bands of all values at once in the mean over the columns, of the same fit without noise,
// by the released or the expected curvature.
//
//	DPNB_FULL=1 go test ./dpnb/learn -run TestShapeBandsCover -v -timeout 3h
func TestShapeBandsCover(t *testing.T) {
	testscale.InTurn(t)
	reps, truths, sizes, shares := 2, []string{"correlated"}, []int{5000}, []float64{0.05}
	if testscale.Full() {
		reps, truths, sizes = 20, []string{"independent", "correlated", "skewed"}, []int{1000, 5000, 30_000}
		shares = []float64{0.05, 0}
	}
	for _, truth := range truths {
		people := invented(t, 20_000, truth)
		for _, n := range sizes {
			for _, classes := range []bool{true, false} {
				all := Regression(people.Drop("label"), "income")
				if classes {
					all = Binary(people.Drop("income"), "label")
				}
				for _, share := range shares {
					in, of := map[string]float64{}, all.design.Encoding.Columns()
					for rep := range reps {
						src := noise.NewSeeded(uint64(1000 + rep))
						drawn := drawnPeople(all, n, src)
						m := must.Get(sharing(share, classes, src).Fit(drawn, Simulate(1, 1e-6)))
						b := m.bought()
						same := without(t, m, b, drawn.design, true)
						for _, s := range must.Get(m.Shapes()).all {
							if inBand(s, same, b.Stretch, false) {
								in[s.Column()] += 1 / float64(reps)
							}
						}
					}
					worst, mean := of[0], 0.0
					for _, column := range of {
						mean += in[column] / float64(len(of))
						if in[column] < in[worst] {
							worst = column
						}
					}
					t.Logf("%s, classes %v, n = %d, share %g: %.1f %%, %s %.0f %%", truth, classes, n, share, 100*mean,
						worst, 100*in[worst])
					if n >= 5000 && (mean < 0.92 || reps > 2 && in[worst] < 0.7) {
						t.Errorf("%s, classes %v, n = %d, share %g: %.3f covered", truth, classes, n, share, mean)
					}
				}
			}
		}
	}
}

// TestMonotoneShapesCostNothing: where the truth is monotone and n·μ is at least 100, the model whose numbers are made
// to rise predicts no worse in the mean over the draws than by a tenth of a point of AUC or of 100 R²; and in the
// metric of the people themselves, which no release knows, no draw of Huber loses more than rows of other norms make.
//
//	DPNB_FULL=1 go test ./dpnb/learn -run TestMonotoneShapesCostNothing -v
func TestMonotoneShapesCostNothing(t *testing.T) {
	testscale.Slow(t)
	reps, sizes, epsilons := 2, []int{2000}, []float64{1}
	if testscale.Full() {
		reps, sizes, epsilons = 20, []int{500, 2000, 10_000}, []float64{0.1, 1, 4}
	}
	people := invented(t, 20_000, "independent")
	for _, kind := range []string{"Huber", "SVM"} {
		for _, n := range sizes {
			var how []Option
			if n > 2000 { // else some draws have fine cells, which cannot be made to rise
				how = []Option{Curves()}
			}
			all, score := Binary(people.Drop("income"), "label", how...), (*Model).AUC
			if kind == "Huber" {
				all, score = Regression(people.Drop("label"), "income", how...), (*Model).Score
			}
			for _, eps := range epsilons {
				var gains, known []float64
				mu := must.Get(privacy.MuOf(eps, 1e-6))
				for rep := range reps {
					src := noise.NewSeeded(uint64(100 + rep))
					var l Learner = SVM{Noise: src}
					if kind == "Huber" {
						l = Huber{Noise: src}
					}
					m := must.Get(l.Fit(drawnPeople(all, n, src), Simulate(eps, 1e-6)))
					var rising, byPeople []*Shape
					for _, name := range []string{"age", "hours", "kids"} {
						s := m.Shape(name)
						rising = append(rising, s.Monotone(+1))
						s.noise = metricOf(s, must.Get(must.Get(people.Table()).Column(name)).Numbers)
						byPeople = append(byPeople, s.Monotone(+1))
					}
					before := must.Get(score(m, all))
					gains = append(gains, 100*(must.Get(score(must.Get(m.With(rising...)), all))-before))
					known = append(known, 100*(must.Get(score(must.Get(m.With(byPeople...)), all))-before))
				}
				gain, worst := stat.Mean(gains, nil), floats.Min(gains)
				t.Logf("%s, n = %d, ε = %g: %+.3f in the mean, worst %+.3f; by the people's own metric %+.3f, "+
					"worst %+.3f", kind, n, eps, gain, worst, stat.Mean(known, nil), floats.Min(known))
				if gain < -0.1 && float64(n)*mu >= 100 || kind == "Huber" && floats.Min(known) < -1 {
					t.Errorf("%s, n = %d, ε = %g: %+.3f in the mean, %v by the people's own metric", kind, n, eps, gain,
						known)
				}
			}
		}
	}
}

// metricOf is the metric of the squared loss for the curve of a number whose values people have: the inverse of the
// mean of h(u)h(u)ᵀ, h the hats of its knots.
func metricOf(s *Shape, values []float64) *mat.SymDense {
	k := s.term.Knots
	g, h := mat.NewSymDense(len(k), nil), mat.NewVecDense(len(k), nil)
	for _, v := range values {
		at := (v - k[0]) / (k[1] - k[0])
		below := min(int(at), len(k)-2)
		h.Zero()
		h.SetVec(below, float64(below)+1-at)
		h.SetVec(below+1, at-float64(below))
		g.SymRankOne(g, 1/float64(len(values)), h)
	}
	for j := range k {
		g.SetSym(j, j, g.At(j, j)+1e-5)
	}
	var root mat.Cholesky
	if !root.Factorize(g) {
		panic("no metric")
	}
	must.Do(root.InverseTo(g))
	return g
}
