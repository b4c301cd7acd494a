package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// category is a column of an invented population: the shares of its categories and what each adds to the odds.
type category struct {
	name           string
	shares, effect []float64
}

// invented returns people with three numbers and five categories, rare ones among them, independent, "correlated", or
// "skewed": with effects that no line has and few positives.
func invented(t *testing.T, rows int, truth string) DataFrame {
	t.Helper()
	rng := noise.NewSeeded(1)
	categories := []category{{"sex", []float64{.52, .48}, []float64{0, .4}},
		{"marital", []float64{.33, .46, .03, .14, .04}, []float64{0, 1, .5, -.2, .1}},
		{"education", []float64{.1, .3, .25, .1, .15, .07, .03}, []float64{-1, -.3, 0, .2, .6, 1, 1.5}},
		{"region", []float64{.5, .25, .2, .05}, []float64{0, .2, -.3, .5}},
		{"work", []float64{.7, .1, .1, .06, .04}, []float64{0, .3, -.2, .4, -.5}}}
	number := func(name string) frame.Column { return frame.Column{Name: name, Numbers: make([]float64, rows)} }
	columns := []frame.Column{number("age"), number("hours"), number("kids"), number("income"),
		{Name: "label", Kind: frame.Categorical, Texts: make([]string, rows)}}
	fields := []Field{frame.NumericField("age", 17, 90), frame.NumericField("hours", 1, 99),
		frame.NumericField("kids", 0, 10), frame.NumericField("income", 0, 100),
		frame.CategoricalField("label", "no", "yes")}
	for _, c := range categories {
		var levels []string
		for j := range c.shares {
			levels = append(levels, fmt.Sprint(c.name, j))
		}
		columns = append(columns, frame.Column{Name: c.name, Kind: frame.Categorical, Texts: make([]string, rows)})
		fields = append(fields, frame.CategoricalField(c.name, levels...))
	}
	for i := range rows {
		age := 17 + 73*math.Pow(rng.Float64(), 1.7)
		hours := min(max(math.Round(40+12*rng.NormFloat64()), 1), 99)
		kids := min(math.Floor(-1.2*math.Log(1-rng.Float64())), 10)
		odds := 0.02*(age-40) + 0.03*(hours-40) + 0.1*kids
		if truth == "skewed" {
			odds = -2.2 + 1.2*math.Sin(age/10) + 0.05*(hours-40)
		}
		last := 0
		for k, c := range categories {
			u := rng.Float64()
			if truth == "correlated" && k > 0 && rng.Float64() < 0.5 { // pulled by age and by the column before
				u = math.Mod(float64(last)/7+0.3*(age-17)/73+0.2*rng.Float64(), 1)
			}
			for last = 0; last < len(c.shares)-1 && u >= c.shares[last]; last++ {
				u -= c.shares[last]
			}
			columns[5+k].Texts[i] = fields[5+k].Levels[last]
			odds += c.effect[last]
		}
		columns[0].Numbers[i], columns[1].Numbers[i], columns[2].Numbers[i] = math.Round(age), hours, kids
		columns[4].Texts[i] = "no"
		if rng.Float64() < 1/(1+math.Exp(0.3-odds)) {
			columns[4].Texts[i] = "yes"
		}
		columns[3].Numbers[i] = min(max(40+10*odds+10*rng.NormFloat64(), 0), 100)
	}
	return FromTable(inventedTable(t, columns...)).WithSchema(fields...)
}

func inventedTable(t *testing.T, columns ...frame.Column) *frame.Table {
	t.Helper()
	return must.Get(frame.NewTable(columns...))
}

// without returns what a fit of m would have been without noise: with its ridges, or for the population without any.
func without(t *testing.T, m *Model, b *geometry.Bought, d *frame.Design, ridges bool) []float64 {
	t.Helper()
	fit, _ := m.ObjectivePerturbation()
	n, _ := d.Rows.Dims()
	rows, view := matrix.NewDense(n, len(b.Raw), nil), b.Placed(d.Rows)
	p := erm.Problem{Rows: rows, Labels: slices.Clone(d.Labels), Loss: fit.Loss, Lambda: 1e-3}
	for i := range n {
		view.Row(rows.Data[i*rows.D:(i+1)*rows.D], i)
		if m.target.Task == frame.Number {
			p.Labels[i] = (p.Labels[i] - b.Centre) / b.Unit
		}
	}
	if ridges {
		p.Lambda, p.Shrinkage, p.Quadratic = fit.Lambda, fit.Shrink(rows.D), fit.Quadratic(rows.D)
	}
	s := must.Get(erm.Minimize(&p, &erm.Settings{Tolerance: 1e-5}))
	return s.Theta
}

// Intervals of 95 % for effects and for a difference cover the same fit without noise, and the population: people drawn
// with replacement from an invented one, of which the truth is known. Those for the population mostly cover more.
//
//	DPNB_FULL=1 go test ./dpnb/learn -run TestLikelyIntervalsCover -v
func TestLikelyIntervalsCover(t *testing.T) {
	testscale.InTurn(t)
	const share, delta, size = 0.05, 1e-6, 20_000
	reps, truths, records, epsilons := 2, []string{"correlated"}, []int{5000}, []float64{1}
	if testscale.Full() {
		reps, truths, records = 20, []string{"independent", "correlated", "skewed"}, []int{1000, 5000, 30_000}
		epsilons = []float64{0.5, 1, 4}
	}
	learners := map[string]func(src noise.Source) Learner{
		"SVM":      func(s noise.Source) Learner { return SVM{CurvatureShare: share, Noise: s} },
		"Logistic": func(s noise.Source) Learner { return Logistic{CurvatureShare: share, Noise: s} },
		"Huber":    func(s noise.Source) Learner { return Huber{CurvatureShare: share, Noise: s} },
		"Linear":   func(s noise.Source) Learner { return Linear{CurvatureShare: share, Noise: s} },
	}
	for _, truth := range truths {
		t.Run(truth, func(t *testing.T) {
			people := invented(t, size, truth)
			for name, learner := range learners {
				all := Binary(people.Drop("income"), "label", Lines())
				if name == "Huber" || name == "Linear" {
					all = Regression(people.Drop("label"), "income", Lines())
				}
				for _, n := range records {
					for _, eps := range epsilons {
						var in, of, width [4]float64
						for rep := range reps {
							src := noise.NewSeeded(uint64(1000 + rep))
							drawn := drawnPeople(all, n, src)
							m := must.Get(learner(src).Fit(drawn, Simulate(eps, delta)))
							b := m.bought()
							apart := must.Get(m.encoding.Contrast(nil, nil, "marital", "marital3", "marital1"))
							difference := must.Get(m.Difference("marital", "marital3", "marital1", 0.95))
							finds := []func(float64) (*Intervals, error){m.PopulationIntervals, m.Intervals}
							for kind, find := range finds {
								records, q, one := all.design, 1.0, difference.Population
								if kind == 1 {
									records, q, one = drawn.design, b.Stretch, difference.Fit
								}
								theta := without(t, m, b, records, kind == 1)
								iv := must.Get(find(0.95))
								a, shift := formsOf(m.encoding, append(m.effects(), apart), b, q)
								for j, f := range a {
									at, lower, upper := kind, one.Lower, one.Upper
									if j < len(iv.Lower) {
										lower, upper = iv.Lower[j], iv.Upper[j]
									} else {
										at += 2
									}
									if v := floats.Dot(f, theta) + shift[j]; lower <= v && v <= upper {
										in[at]++
									}
									of[at]++
									width[at] += upper - lower
								}
							}
						}
						for at, what := range []string{"population", "the same fit", "population, a difference",
							"the same fit, a difference"} {
							c := in[at] / of[at]
							t.Logf("%s, %s, n = %d, ε = %g, %s: %.1f %% covered, width %.3g", truth, name, n, eps, what,
								100*c, width[at]/of[at])
							least := 0.92
							if at == 1 { // whatever columns have to do with each other
								least = 0.95
							}
							if at < 2 && c < least {
								t.Errorf("%s, %s, n = %d, ε = %g, %s: %.3f covered", truth, name, n, eps, what, c)
							}
						}
					}
				}
			}
		})
	}
}

// Intervals for the population cover a category of which there are five in a thousand, where the noise of its share
// lets it pass for a more frequent one.
func TestNearlyEmptyCategoriesAreCovered(t *testing.T) {
	testscale.InTurn(t)
	for _, c := range []struct {
		n, reps              int
		share, effect, least float64
	}{{920, 20, 0.005, 0.3, 0.92}, {920, 20, 0.005, -0.8, 0.7}, {11_000, 8, 0.002, 0.8, 0.9},
		{11_000, 8, 0.002, -0.8, 0.85}} {
		if testscale.Full() {
			c.reps = 300
		}
		in, width := 0.0, 0.0
		for rep := range c.reps {
			src := noise.NewSeeded(uint64(rep))
			bike := frame.Column{Name: "bike", Kind: frame.Categorical, Texts: make([]string, c.n)}
			km, cost := frame.Column{Name: "km", Numbers: make([]float64, c.n)},
				frame.Column{Name: "cost", Numbers: make([]float64, c.n)}
			levels, adds := []string{"city", "road", "cargo", "recumbent"}, []float64{0, 0.2, 0.5, c.effect}
			for i := range c.n {
				k, u := 0, src.Float64()
				for _, share := range []float64{0.6, 0.8, 1 - c.share} {
					if u >= share {
						k++
					}
				}
				bike.Texts[i], km.Numbers[i] = levels[k], 10*src.Float64()
				cost.Numbers[i] = 1 + adds[k] + 0.05*km.Numbers[i] + 0.4*src.NormFloat64()
			}
			data := Regression(FromTable(inventedTable(t, bike, km, cost)).WithSchema(
				frame.CategoricalField("bike", levels...), frame.NumericField("km", 0, 10),
				frame.NumericField("cost", -2, 4)), "cost", InUnits(), Lines())
			m := must.Get(Linear{CurvatureShare: 0.05, Noise: src}.Fit(data, Simulate(1, 1e-6)))
			iv := must.Get(m.PopulationIntervals(0.95)).InUnits()
			j := slices.Index(iv.Col("feature").Records(), "bike=recumbent")
			if said := m.rare(); rep == 0 && !strings.Contains(said, "hardly any record may have bike=recumbent:") {
				t.Errorf("of a category of %v: %q", c.share, said)
			}
			lower, upper := iv.Col("lower").Float()[j], iv.Col("upper").Float()[j]
			if lower <= c.effect && c.effect <= upper {
				in++
			}
			width += upper - lower
		}
		of := float64(c.reps)
		t.Logf("%v: %.1f %% covered, mean width %.3g", c, 100*in/of, width/of)
		if in/of < c.least {
			t.Errorf("%v: %.1f %% covered, want 95", c, 100*in/of)
		}
	}
}

// Of a number that bends and whose records fill little of its bounds the slope is that of the records: what noise says
// of places where nobody is has no leverage on it. If it had, the mean slope at 0.03 would be 0.83 of the true one.
func TestNumbersThatFillLittle(t *testing.T) {
	testscale.Slow(t)
	fits := map[float64]int{0.03: 6}
	if testscale.Full() {
		fits = map[float64]int{0.2: 20, 0.07: 20, 0.05: 20, 0.03: 20}
	}
	for sd, fits := range fits {
		const n = 20_000
		truth, in, slope, width := 0.4/sd/100, 0, 0.0, 0.0
		for rep := range fits {
			src := noise.NewSeeded(uint64(rep))
			x, cost := frame.Column{Name: "x", Numbers: make([]float64, n)},
				frame.Column{Name: "cost", Numbers: make([]float64, n)}
			kind := frame.Column{Name: "kind", Kind: frame.Categorical, Texts: make([]string, n)}
			for i := range n {
				u, k := math.Min(1, math.Max(0, 0.35+sd*src.NormFloat64())), int(3*src.Float64())
				kind.Texts[i], x.Numbers[i] = string(rune('a'+k)), 100*u
				cost.Numbers[i] = 1 + 0.4/sd*(u-0.35) + 0.2*float64(k) + 0.4*src.NormFloat64()
			}
			data := Regression(FromTable(inventedTable(t, kind, x, cost)).WithSchema(
				frame.CategoricalField("kind", "a", "b", "c"), frame.NumericField("x", 0, 100),
				frame.NumericField("cost", -2, 4)), "cost", InUnits())
			m := must.Get(Linear{CurvatureShare: 0.05, Noise: src}.Fit(data, Simulate(1, 1e-6)))
			iv := must.Get(m.PopulationIntervals(0.95)).InUnits()
			j := slices.Index(iv.Col("feature").Records(), "x")
			lower, upper := iv.Col("lower").Float()[j], iv.Col("upper").Float()[j]
			if lower <= truth && truth <= upper {
				in++
			}
			of := truth * float64(fits)
			slope, width = slope+iv.Col("estimate").Float()[j]/of, width+(upper-lower)/of
		}
		t.Logf("deviation %v: slope %.3f of the true one, width %.3f, %d of %d covered", sd, slope, width, in, fits)
		if !(math.Abs(slope-1) <= 0.04) || 10*in < 8*fits {
			t.Errorf("deviation %v: slope %.3f of the true one, %d of %d covered", sd, slope, in, fits)
		}
	}
}

// mothers are invented after a census: women of two children, and whether they have more.
func mothers(t *testing.T, n int) (DataFrame, *mat.Dense, []float64) {
	t.Helper()
	rng := noise.NewSeeded(7)
	names := []string{"gender1", "gender2", "samesex", "afam", "hispanic", "other", "morekids"}
	shares := []float64{.51, .51, 0, .05, .07, .06, 0}
	effects := []float64{-.045, -.05, .27, .4, .6, .2}
	columns := []frame.Column{{Name: "age", Numbers: make([]float64, n)}, {Name: "work", Numbers: make([]float64, n)}}
	fields := []Field{frame.NumericField("age", 21, 35), frame.NumericField("work", 0, 52)}
	for k, name := range names {
		columns = append(columns, frame.Column{Name: name, Kind: frame.Categorical, Texts: make([]string, n)})
		fields = append(fields, frame.CategoricalField(name, "no", "yes"))
		if k < 2 {
			fields[len(fields)-1] = frame.CategoricalField(name, "female", "male")
		}
	}
	rows, labels := mat.NewDense(n, 9, nil), make([]float64, n)
	for i := range n {
		age := math.Round(21 + 14*math.Sqrt(rng.Float64()))
		work := 0.0
		if rng.Float64() > 0.4 {
			work = math.Round(52 * math.Sqrt(rng.Float64()))
		}
		x := rows.RawRowView(i)
		odds := -0.75 + 0.075*(age-30) - 0.009*(work-19)
		for k, share := range shares {
			yes := rng.Float64() < share
			if k == 2 {
				yes = x[2] == x[3]
			}
			if k == 6 {
				yes = rng.Float64() < 1/(1+math.Exp(-odds))
				if labels[i] = -1; yes {
					labels[i] = 1
				}
			} else if yes {
				odds += effects[k]
				x[2+k] = 1
			}
			columns[2+k].Texts[i] = fields[2+k].Levels[0]
			if yes {
				columns[2+k].Texts[i] = fields[2+k].Levels[1]
			}
		}
		columns[0].Numbers[i], columns[1].Numbers[i], x[0], x[1], x[8] = age, work, (age-30)/7, (work-19)/26, 1
	}
	return FromTable(inventedTable(t, columns...)).WithSchema(fields...), rows, labels
}

// zScores are those of logistic regression without privacy.
func zScores(t *testing.T, x *mat.Dense, y []float64) []float64 {
	t.Helper()
	n, d := x.Dims()
	theta := mat.NewVecDense(d, nil)
	var c mat.Cholesky
	for range 8 {
		gradient, h := mat.NewVecDense(d, nil), mat.NewSymDense(d, nil)
		for i := range n {
			row := x.RowView(i)
			p := 1 / (1 + math.Exp(-mat.Dot(row, theta)))
			gradient.AddScaledVec(gradient, (y[i]+1)/2-p, row)
			h.SymRankOne(h, p*(1-p), row)
		}
		if !c.Factorize(h) {
			t.Fatal("no curvature")
		}
		var step mat.VecDense
		must.Do(c.SolveVecTo(&step, gradient))
		theta.AddVec(theta, &step)
	}
	var inverse mat.SymDense
	must.Do(c.InverseTo(&inverse))
	z := make([]float64, d)
	for j := range z {
		z[j] = theta.AtVec(j) / math.Sqrt(inverse.At(j, j))
	}
	return z
}

// What regression without privacy finds on a census of mothers, at |z| > 3, Suited finds at ε = 0.5 with nothing said,
// of the same fit without noise and of the population, and with the same sign.
//
//	DPNB_FULL=1 go test ./dpnb/learn -run TestEffectsOfMothers -v
func TestEffectsOfMothers(t *testing.T) {
	n, clear := 40_000, 4.5 // of fewer records what is clear enough
	if testscale.Full() {
		n, clear = 254_654, 3
	}
	people, x, y := mothers(t, n)
	z := zScores(t, x, y)
	learner, data := Suited(people, "morekids")
	svm := learner.(SVM)
	svm.Noise = Seed(1)
	m := must.Get(svm.Fit(data, Simulate(0.5, 1e-6)))
	fit := must.Get(m.Intervals(0.95))
	population := must.Get(m.PopulationIntervals(0.95))
	found := 0
	for j, name := range m.features[:8] {
		t.Logf("%-16s z %+.1f  %+.3f  the same fit %+.3f to %+.3f  population %+.3f to %+.3f", name, z[j],
			m.coefficients[j], fit.Lower[j], fit.Upper[j], population.Lower[j], population.Upper[j])
		if math.Abs(z[j]) <= clear {
			continue
		}
		found++
		if iv := population; iv.Lower[j]*iv.Upper[j] < 0 || iv.Estimate[j]*z[j] < 0 {
			t.Errorf("%s: %v to %v, with z = %v without privacy", name, iv.Lower[j], iv.Upper[j], z[j])
		}
	}
	if want := 5; found < want || testscale.Full() && found != 8 {
		t.Errorf("%d effects are found without privacy", found)
	}
}

// What makes up for the ridge after a fit stretches the fit and its intervals, and none of the population, which are
// corrected for the ridge by themselves.
func TestPopulationIsNotStretched(t *testing.T) {
	testscale.Slow(t)
	m := must.Get(Logistic{CurvatureShare: 0.1, Noise: Seed(1)}.Fit(Binary(Patients(3000, 5), "ill"), Simulate(3,
		1e-6)))
	bought, release, stretched := *m.bought(), *m.release, *m
	bought.Stretch *= 2
	release.Also, stretched.release = &bought, &release
	for name, c := range map[string]struct {
		of   func(m *Model, level float64) (*Intervals, error)
		want float64
	}{"fit": {(*Model).Intervals, 2}, "population": {(*Model).PopulationIntervals, 1}} {
		one := must.Get(c.of(m, 0.95))
		other := must.Get(c.of(&stretched, 0.95))
		for j := range m.features[:len(m.features)-1] { // the bias is not stretched
			width, again := one.Upper[j]-one.Lower[j], other.Upper[j]-other.Lower[j]
			if !(math.Abs(again/width-c.want) <= 1e-6) {
				t.Errorf("%s, %s: %v wide, of twice the stretch %v", name, m.features[j], width, again)
			}
		}
	}
}

// Effects in units are those of a regression on the columns themselves where records are many, of a rare level and of a
// number with a long tail, too.
func TestEffectsInUnitsAreThoseOfARegression(t *testing.T) {
	const n = 60_000
	rng := noise.NewSeeded(4)
	number := func(name string) frame.Column { return frame.Column{Name: name, Numbers: make([]float64, n)} }
	text := func(name string) frame.Column {
		return frame.Column{Name: name, Kind: frame.Categorical, Texts: make([]string, n)}
	}
	minutes, km, region, first := number("minutes"), number("km"), text("region"), text("first")
	levels, add := []string{"north", "south", "isles"}, []float64{0, 4, 8}
	for i := range n {
		r, f := 0, "no"
		if u := rng.Float64(); u < 0.02 {
			r = 2
		} else if u < 0.3 {
			r = 1
		}
		km.Numbers[i] = min(math.Exp(3.2+0.6*rng.NormFloat64()), 150)
		minutes.Numbers[i] = 250 - 0.6*km.Numbers[i] + add[r] + 5*rng.NormFloat64()
		if rng.Float64() < 0.25 {
			f, minutes.Numbers[i] = "yes", minutes.Numbers[i]+9
		}
		region.Texts[i], first.Texts[i] = levels[r], f
	}
	people := FromTable(inventedTable(t, minutes, km, region, first)).WithSchema(
		frame.NumericField("minutes", 120, 360), frame.NumericField("km", 0, 150),
		frame.CategoricalField("region", levels...), frame.CategoricalField("first", "no", "yes"))
	m := must.Get(Huber{Noise: Seed(1)}.Fit(Regression(people, "minutes", InUnits(), Lines()), Simulate(4, 1e-6)))
	got := m.CoefficientsInUnits()
	for k, want := range map[string]float64{"km": -0.6, "region=south": 4, "region=isles": 8, "first=yes": 9} {
		for i, name := range got.Col("feature").Records() {
			if v := got.Col("coefficient").Float()[i]; name == k && !(math.Abs(v/want-1) <= 0.02) {
				t.Errorf("%s: %v, want %v", k, v, want)
			}
		}
	}
	// Intervals are in units as effects are, each end by the same factor.
	iv := must.Get(m.Intervals(0.95))
	in := iv.InUnits()
	for i, unit := range []float64{120. / 150, 120, 120, 120, 120} {
		middle := 0.0
		if m.features[i] == "bias" {
			middle = 240
		}
		for name, v := range map[string]float64{"estimate": iv.Estimate[i], "lower": iv.Lower[i],
			"upper": iv.Upper[i]} {
			want := middle + unit*v
			if got := in.Col(name).Float()[i]; !(math.Abs(got-want) <= 1e-9) {
				t.Errorf("%s of %s: %v, want %v", name, m.features[i], got, want)
			}
		}
		if f := in.Col("feature").Records()[i]; f != got.Col("feature").Records()[i] {
			t.Errorf("the intervals have %s in row %d", f, i)
		}
	}
}
