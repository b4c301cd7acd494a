package mechanism_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/convolution"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/mechanism/ssp"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// tenant is a mechanism for records of norm at most 1 and two features, and what the contract's test must know of it.
type tenant struct {
	name string
	m    mechanism.Mechanism
	// epsilon and delta that it was calibrated for; delta = 0 is pure ε.
	epsilon, delta float64
	// labels that a record may have; badLabel is one that none may.
	labels   []float64
	badLabel float64
	// norms is what it assumes of the length of records; "" is a bound of 1 on all of it.
	norms string
	// allowed are parameters of which an odd value is in range, with the reason.
	allowed map[string]string
	// anyNorm: records of every norm are admitted, as gradients are clipped.
	anyNorm bool
	// clips: a record with a feature that is no number counts as none.
	clips bool
	// total: records of every kind are admitted, as those that are no numbers count as none.
	total bool
	// solves: a solver may miss its tolerance.
	solves bool
	// sure: what is admitted gets a release, whatever the noise, and gradients are cut.
	sure bool
	// read is by how much the profile's δ may be more, relatively: that of a Rényi curve is read at 800 orders, and
	// calibration searches among all.
	read float64
	// chooses: a part of it, which the guarantee covers, chooses parameters, and the release says which.
	chooses bool
}

// What several mechanisms are calibrated with.
const eps, delta, add = 1.0, 1e-5, privacy.AddRemove

// tenants returns every mechanism of the house, calibrated.
func tenants(t testing.TB) []tenant { t.Helper(); return tenantsAt(t, eps) }

// tenantsAt returns every mechanism of the house, calibrated for ε, or twice that where δ = 0.
func tenantsAt(t testing.TB, eps float64) []tenant {
	t.Helper()
	all, _ := calibratedTenants.Of(eps, func() ([]tenant, error) { return calibrateTenants(t, eps), nil })
	return slices.Clone(all)
}

var calibratedTenants = recent.Values[float64, []tenant]{Kept: 3}

func calibrateTenants(t testing.TB, eps float64) (all []tenant) {
	t.Helper()
	tilted := func(l loss.Loss) objpert.Config {
		return objpert.Config{Loss: l, RowNorm: 1, Epsilon: eps, Delta: delta, Adjacency: add}
	}
	bounded := func(l loss.Loss, adj privacy.Adjacency) constrained.Config {
		return constrained.Config{Loss: l, RowNorm: 1, Dimension: 2, Epsilon: eps, Delta: delta, Adjacency: adj}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	enter := func(c tenant) func(m mechanism.Mechanism, err error) {
		return func(m mechanism.Mechanism, err error) {
			t.Helper()
			must(err)
			c.m = m
			if c.epsilon == 0 {
				c.epsilon, c.delta = eps, delta
			}
			all = append(all, c)
		}
	}
	signs, classes, numbers := []float64{-1, 1}, []float64{0, 1, 2}, []float64{-1, 0.5, 0.25, 1}
	allowed := map[string]string{"Constraint.Lower = nil": "a box may be open on a side"}
	allowed["Constraint.Upper[0] = -1"] = "a bound may have either sign"
	allowed["Constraint.Upper[0] = +Inf"] = allowed["Constraint.Lower = nil"]
	allowed["Constraint.Lower[0] = -1"] = "a bound may have either sign"
	allowed["Constraint.Upper = nil"] = allowed["Constraint.Lower = nil"]
	for _, part := range []string{"", "Fit.", "Binary."} {
		allowed[part+"Centre = -1"] = "a shift may have either sign"
	}
	for _, part := range []string{"", "Fit.", "Binary.", "Of.", "Of.Fit.", "Of.Binary."} {
		allowed[part+"Rough = nil"] = "nothing need be smooth"
	}
	for _, at := range []string{"", "Fit.", "Of.", "Of.Fit."} {
		allowed[at+"Update.Curves = nil"] = "nothing need be smooth"
		allowed[at+"Nowhere = nil"] = "rows may have something everywhere"
		allowed[at+"References = nil"] = "nothing need add up"
	}
	for _, name := range []string{"Curves", "Nowhere", "Pairs", "Cells"} {
		allowed[name+" = nil"] = "there need be none"
	}

	// Objective and output perturbation.
	two := tenant{labels: signs, solves: true, allowed: allowed}
	real := tenant{labels: numbers, badLabel: inf, solves: true, allowed: allowed}
	enter(two.named("objective"))(of(objpert.Calibrate(tilted(loss.Logistic{}))))
	enter(real.named("objective, Huber"))(of(objpert.Calibrate(tilted(loss.Huber{Threshold: 0.5}))))
	allowed["Of.Centre = -1"], allowed["Of.Binary.Centre = -1"] = allowed["Centre = -1"], allowed["Centre = -1"]
	enter(two.named("objective, three rows a person"))(mechanism.ForPeople(3,
		func(epsilon, delta float64) (mechanism.Mechanism, error) {
			c := tilted(loss.Logistic{})
			c.Epsilon, c.Delta = epsilon, delta
			return of(objpert.Calibrate(c))
		})(eps, delta))
	counted := two.named("objective, counted")
	counted.chooses = true
	enter(counted)(of(objpert.CalibrateCounted(tilted(loss.Logistic{}), 0.01, true)))
	around := func(l loss.Loss, numbers bool) (geometry.Centred, error) {
		return geometry.Calibrate(geometry.Centred{RowNorm: 0.8, Bias: 0.6, Numbers: numbers, Free: 2},
			geometry.Default, eps, delta,
			func(beside, mu float64) (mechanism.Informed, func(float64) float64, error) {
				c := tilted(l)
				c.RowNorm, c.Reserved = math.Hypot(1, 0.6)*(1+1e-15), beside
				if numbers {
					c.Lambda = 0.45 * c.RowNorm * c.RowNorm / mu
				}
				fit, err := objpert.Calibrate(c)
				return fit, func(share float64) float64 { return fit.Part(share, beside) }, err
			})
	}
	bought := two.named("objective, centred")
	bought.chooses = true
	enter(bought)(of(around(loss.Softplus{Width: 1}, false)))
	bought = real.named("objective, numbers centred")
	bought.chooses = true
	enter(bought)(of(around(loss.PseudoHuber{Threshold: 1}, true)))
	purely := func(l loss.Convex, numbers bool) (geometry.Centred, error) {
		return geometry.CalibratePure(geometry.Centred{RowNorm: 0.8, Bias: 0.6, Numbers: numbers, Free: 2},
			geometry.DefaultPure, eps, func(eps float64) (mechanism.Informed, error) {
				clip := l.Lipschitz() * math.Hypot(1, 0.6)
				return pure.Config{Loss: l, Epsilon: eps, Adjacency: add, Features: 2, Records: 1, Clip: clip,
					Lambda: clip, Radius: 64}.Calibrate()
			})
	}
	sure := tenant{labels: signs, badLabel: inf, sure: true, chooses: true, epsilon: eps, allowed: allowed,
		norms: "features with ‖z‖₂ ≤ 0.8"}
	enter(sure.named("objective, centred, pure"))(of(purely(loss.Softplus{Width: 1}, false)))
	sure.labels = numbers
	enter(sure.named("objective, numbers centred, pure"))(of(purely(loss.Huber{Threshold: 1}, true)))
	enter(two.named("output"))(of(objpert.CalibrateOutput(
		objpert.OutputConfig{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 1, Epsilon: eps, Delta: delta})))
	noDelta := two.named("output, pure")
	noDelta.epsilon = 2 * eps
	enter(noDelta)(of(objpert.CalibrateOutput(
		objpert.OutputConfig{Loss: loss.SmoothedHinge{Width: 0.5}, RowNorm: 1, Lambda: 1, Epsilon: 2 * eps})))
	_, curvature, err := interval.Calibrate(tilted(loss.Logistic{}), interval.Share{Curvature: 0.1, Scores: 0.1})
	enter(two.named("curvature"))(curvature, err)

	// With regularisers and constraints.
	box := composite.NewBox(1)
	within, err := constrained.BoundedOn(loss.Squared{}, 1, 2, box, 2)
	must(err)
	boxed, sparse := bounded(within, add), bounded(loss.Logistic{}, privacy.ReplaceOne)
	boxed.Constraint, sparse.Regulariser = box, composite.L1{Weight: 0.1}
	enter(real.named("linear, in a box"))(of(constrained.Calibrate(boxed)))
	enter(two.named("linear, ℓ₁, replace-one"))(of(constrained.Calibrate(sparse)))
	enter(real.named("quadratic"))(of(qop.Calibrate(qop.Config{
		Loss: loss.Squared{}, RowNorm: 1, Epsilon: eps, Delta: delta, Adjacency: add, Records: 4,
		Interpolation: qop.AssumeInterpolation([]float64{1, 0}, 0), Regulariser: composite.L1{Weight: 0.1},
		Constraint: box})))

	// Several classes.
	several := tenant{labels: classes, badLabel: 3, solves: true, allowed: allowed}
	multi := multiclass.Config{Classes: 3, RowNorm: 1, Epsilon: eps, Delta: delta, Adjacency: add}
	enter(several.named("softmax"))(of(multiclass.CalibrateSoftmax(multi, multiclass.Vertex)))
	enter(several.named("one-vs-rest"))(of(multiclass.CalibrateOneVsRest(multi, loss.Logistic{})))
	for _, name := range []string{"softmax, centred", "one-vs-rest, centred"} {
		bought := several.named(name)
		bought.chooses = true
		enter(bought)(of(geometry.Calibrate(geometry.Centred{RowNorm: 0.8, Bias: 0.6, Free: 2}, geometry.Default, eps,
			delta, func(beside, _ float64) (mechanism.Informed, func(float64) float64, error) {
				c := multi
				c.RowNorm, c.Reserved = math.Hypot(1, 0.6)*(1+1e-15), beside
				if name == "softmax, centred" {
					fit, err := multiclass.CalibrateSoftmax(c, multiclass.Vertex)
					return fit, func(share float64) float64 { return fit.Part(share, beside) }, err
				}
				fit, err := multiclass.CalibrateOneVsRest(c, loss.Logistic{})
				return fit, func(share float64) float64 { return fit.Part(share, beside) }, err
			})))
	}

	// Noisy moments.
	moments := tenant{labels: numbers, badLabel: 1 + 1e-9}
	enter(moments.named("AdaSSP"))(of(ssp.CalibrateAdaSSP(
		ssp.AdaSSPConfig{RowNorm: 1, LabelBound: 1, Epsilon: eps, Delta: delta, Adjacency: add})))
	boosted := ssp.BoostedConfig{AdaSSPConfig: ssp.AdaSSPConfig{RowNorm: 1, LabelBound: 1, Epsilon: eps, Delta: delta,
		Adjacency: add}, Rounds: 3}
	enter(moments.named("boosted AdaSSP"))(of(ssp.CalibrateBoosted(boosted)))
	deep := moments.named("TukeyEM")
	deep.chooses = true // 0 where the test fails
	enter(deep)(of(ssp.CalibrateTukeyEM(ssp.TukeyEMConfig{RowNorm: 1, LabelBound: 1, Features: 2, Records: 4000,
		Epsilon: eps, Delta: delta, Adjacency: add})))
	functional := ssp.FunctionalConfig{RowNorm: 1, LabelBound: 1, Features: 2, Epsilon: eps, Delta: delta,
		Adjacency: add}
	enter(moments.named("functional"))(of(ssp.CalibrateFunctional(functional)))
	functional.Epsilon, functional.Delta, moments.epsilon = 2*eps, 0, 2*eps
	enter(moments.named("functional, pure"))(of(ssp.CalibrateFunctional(functional)))

	// Boosted steps, of a number and of a category.
	ebm := additive.Config{Columns: []additive.Column{{First: 0, Len: 1, Number: true}, {First: 0, Len: 2}}, Clip: 1,
		Bins: 2, Leaves: 2, Rounds: 3, LearningRate: 0.5, Epsilon: eps, Delta: delta}
	enter(tenant{name: "DP-EBM, numbers", labels: numbers, badLabel: inf, anyNorm: true})(of(ebm.Calibrate()))
	ebm.Classes = true
	enter(tenant{name: "DP-EBM", labels: signs, anyNorm: true})(of(ebm.Calibrate()))

	// Descent.
	steps := sgd.Descent{Loss: loss.Logistic{}, Clip: 1, Rate: 0.1, Steps: 5, PlannedRecords: 100,
		Update: sgd.Adam{LearningRate: 0.1}}
	enter(tenant{name: "DP-SGD", labels: signs, anyNorm: true})(descending(steps, eps))
	enter(tenant{name: "noisy gradient descent", labels: numbers, badLabel: inf, anyNorm: true,
		allowed: allowed})(descending(sgd.Descent{
		Loss: loss.Squared{}, Clip: 1, Rate: 1, Steps: 8, PlannedRecords: 1, Average: 4, Update: sgd.Adaptive{Radius: 2,
			Steps: 8}}, eps))
	levels := sgd.Quantiles{Levels: []float64{0.25, 0.5, 0.75}, RowNorm: 1, Steps: 8,
		Update: sgd.Adaptive{Radius: 2, Steps: 8}}
	cost, err := levels.Cost().CalibrateNoise(eps, delta)
	must(err)
	levels.NoiseMultiplier = cost.NoiseMultiplier
	enter(tenant{name: "quantiles", labels: numbers, badLabel: inf, anyNorm: true, allowed: allowed})(levels, nil)
	enter(tenant{name: "quantiles, counted", labels: numbers, badLabel: inf, anyNorm: true, allowed: allowed,
		chooses: true})(levels.WithCount(0.2), nil)
	descends := func(share float64) (geometry.Centred, error) {
		return geometry.Calibrate(geometry.Centred{RowNorm: 0.8, Bias: 0.6, Numbers: true, Free: 2}, geometry.Default,
			eps, delta, func(beside, _ float64) (mechanism.Informed, func(float64) float64, error) {
				q := levels
				q.RowNorm = math.Hypot(1, 0.6) * (1 + 1e-15)
				part := func(part float64) float64 { return math.Sqrt(part*8) / levels.NoiseMultiplier * (1 - 1e-12) }
				q.NoiseMultiplier *= (1 + 1e-12) / math.Sqrt(1-beside)
				if share != 0 {
					return q.WithCurvature(share), part, nil
				}
				return q, part, nil
			})
	}
	ofLevels := tenant{name: "quantiles, centred", labels: numbers, badLabel: inf, chooses: true, allowed: allowed,
		norms: "features with ‖z‖₂ ≤ 0.8"}
	enter(ofLevels)(of(descends(0)))
	enter(ofLevels.named("quantiles, centred, with curvature"))(of(descends(0.2)))
	planned := levels
	planned.Records = 3
	enter(tenant{name: "quantiles, planned", labels: numbers, badLabel: inf, anyNorm: true,
		allowed: allowed})(planned, nil)
	enter(tenant{name: "quantiles with curvature", labels: numbers, badLabel: inf, anyNorm: true,
		allowed: allowed})(levels.WithCurvature(0.2), nil)

	// Pure ε for records of any length.
	long := tenant{labels: numbers, anyNorm: true, total: true, epsilon: eps, allowed: map[string]string{
		"ClipRatio = 0": "it stands for 1"}}
	anyLength := pure.Config{
		Loss: loss.LeastAbsolute{}, Epsilon: eps, Adjacency: add, Features: 2, Records: 1e6, Radius: 2, LeastNorm: 1,
		Tolerance: 1e-4}
	enter(long.named("objective, any length"))(of(anyLength.Calibrate()))
	stretched, err := anyLength.Calibrate()
	stretched.Stretch = 1.5
	enter(long.named("objective, stretched"))(stretched, err)
	enter(long.named("output, any length"))(of(anyLength.CalibrateOutput()))
	chosen := long.named("counted, any length")
	chosen.chooses = true
	counting := pure.Counted{Config: anyLength, Share: 0.02}
	counting.Tolerance, counting.Records = 0, 0 // to be had for any count
	enter(chosen)(counting, counting.Validate())
	enter(long.named("phases"))(of(pure.PhasesConfig{Config: anyLength, Count: 2, Blocks: 2, Double: true}.Calibrate()))

	// Statistics of two columns.
	columns := tenant{labels: []float64{0}, anyNorm: true, total: true, allowed: map[string]string{}}
	for _, bound := range []string{"Of.Of[0].Lower", "Of.Of[1].Lower", "Of.Of[0].Upper", "Of.Of[1].Upper"} {
		columns.allowed[bound+" = -1"] = "a bound may have either sign"
	}
	bounds := []statistic.Number{{Lower: -2, Upper: 1}, {Lower: -1, Upper: 2}}
	enter(columns.named("sums"))(of(statistic.CalibrateSums(
		statistic.Means{Of: bounds, For: statistic.Gaussian}, statistic.Gaussian, eps, delta)))
	columns.epsilon = 2 * eps
	enter(columns.named("sums, pure"))(of(statistic.CalibrateSums(
		statistic.Means{Of: bounds, For: statistic.Laplace}, statistic.Laplace, 2*eps, 0)))

	grid := statistic.Cells{{Levels: 40}, {Edges: []float64{-1, 0, 2}}}
	columns.allowed["Of[1].Edges[1] = -1"] = "it is the first"
	columns.allowed["Of[0].Edges = nil"] = "it has levels"
	for _, edge := range []string{"Of[1].Edges[0]", "Of[1].Edges[2]"} {
		columns.allowed[edge+" = -1"] = "an edge may have either sign"
	}
	enter(columns.named("histogram, pure"))(of(statistic.CalibrateHistogram(grid, 2*eps, 0, false)))
	columns.epsilon = eps
	columns.delta = delta
	enter(columns.named("histogram"))(of(statistic.CalibrateHistogram(grid, eps, delta, true)))
	inGroups := columns.named("sums of groups")
	inGroups.allowed = map[string]string{"Of.By[0].Edges = nil": "it has levels"}
	for _, name := range []string{"Of.Of.Of[0].Lower", "Of.Of.Of[0].Upper"} {
		inGroups.allowed[name+" = -1"] = "a bound may have either sign"
	}
	enter(inGroups)(of(statistic.CalibrateSums(statistic.Grouped{Of: statistic.Means{Of: bounds[:1],
		For: statistic.Gaussian}, By: statistic.Cells{{Levels: 3}}}, statistic.Gaussian, eps, delta)))
	// A label is a key; features are not looked at.
	keys := tenant{name: "keys", labels: classes, badLabel: 0.5, anyNorm: true, clips: true, allowed: allowed,
		chooses: true} // what is shown is Also, not the coefficients
	enter(keys)(of(statistic.SelectionConfig{Keys: 2, Epsilon: eps, Delta: delta, Normal: true}.Calibrate()))
	enter(keys.named("keys, geometric"))(of(statistic.SelectionConfig{Keys: 1, Epsilon: eps, Delta: delta}.Calibrate()))
	for _, bound := range []string{"Of[0].Lower", "Of[1].Lower", "Of[0].Upper", "Of[1].Upper"} {
		columns.allowed[bound+" = -1"] = "a bound may have either sign"
	}
	columns.allowed["Of.Lower = -1"] = "a bound may have either sign"
	columns.allowed["Of.Upper = -1"] = columns.allowed["Of.Lower = -1"]
	spread := statistic.Quantiles{Of: statistic.Number{Lower: -2, Upper: 1}, Levels: []float64{0.25, 0.5, 0.9}}
	logs := []bool{false, true}
	enter(columns.named("summary"))(of(statistic.CalibrateSummary(bounds, logs, eps, delta, true)))
	enter(columns.named("summary, by ε"))(of(statistic.CalibrateSummary(bounds, logs, eps, delta, false)))
	enter(columns.named("quantiles of a column"))(of(statistic.CalibrateQuantiles(spread, eps, delta, false)))

	tuner := sgd.Tuner{Base: steps, Grid: []sgd.Update{sgd.Plain{LearningRate: 0.1}, sgd.Plain{LearningRate: 1}},
		MeanRuns: 3,
		Score:    sgd.Training{Sigma: 30}, Accounting: sgd.Renyi}
	tuner.Base.Update = nil // the rules are those of Grid
	enter(tenant{name: "DP-SGD, tuned", labels: signs, anyNorm: true, chooses: true, read: 0.02,
		allowed: map[string]string{"Base.Update = nil": "the rules are those of Grid"}})(
		of(tuner.Calibrate(eps, delta)))
	convolved := tenant{labels: numbers, badLabel: inf, solves: true, anyNorm: true, clips: true,
		allowed: map[string]string{
			"Centre = nil": "the origin"}}
	for _, at := range []string{"", "Stages[0].", "Stages[1]."} {
		convolved.allowed[at+"Form.Below = -1"] = "that is what it is"
		for _, odd := range []string{"NaN", "-1", "+Inf"} {
			convolved.allowed[at+"From = "+odd] = "looked at by one account alone"
			convolved.allowed[at+"OtherNorm = "+odd] = "of Other, and there is none"
		}
	}
	medians := convolution.Config{Loss: convolution.Loss{Form: loss.Absolute(smoothing.Logistic{}, 0.5), Forms: 1,
		Norm: 1},
		Lambda: 5, Epsilon: eps, Delta: delta, Adjacency: add}
	enter(convolved.named("convolved"))(of(convolution.Calibrate(medians)))
	kinks, err := smoothing.NewPolyhedral([][]float64{{-1}, {0.5}, {1}}, []float64{0, 0.25, 0})
	must(err)
	lopsided := convolved.named("convolved pieces")
	lopsided.allowed = map[string]string{"Pieces = nil": "then there must be a Form", "Form = nil": "there are Pieces"}
	for k, v := range convolved.allowed {
		lopsided.allowed[k] = v
	}
	enter(lopsided)(of(convolution.Calibrate(convolution.Config{Loss: convolution.Loss{
		Pieces: &smoothing.Entropic{Function: kinks, Width: 1}, Forms: 1, Norm: 1},
		Lambda: 5, Epsilon: eps, Delta: delta, Adjacency: add})))
	median := tenant{name: "quantile, replace-one", labels: numbers, badLabel: inf, anyNorm: true, allowed: allowed}
	enter(median)(mechanism.ForReplacement(func(epsilon, delta float64) (mechanism.Mechanism, error) {
		q := sgd.Quantiles{Levels: []float64{0.5}, RowNorm: 1, Steps: 8, Update: sgd.Adaptive{Radius: 2, Steps: 8}}
		c, err := q.Cost().CalibrateNoise(epsilon, delta)
		q.NoiseMultiplier = c.NoiseMultiplier
		return q, err
	})(eps, delta))
	fixed := medians
	medians.Form, medians.Lambda = loss.Absolute(smoothing.Logistic{}, 0), 0
	medians.Planned = convolution.Planned{Records: 1000, Features: 2, Radius: 2, Residual: 1}
	if !testscale.Full() { // its calibration and its profile take seconds
		return append(all, tenant{m: convolution.Recentred{}})
	}
	replacing := convolved.named("convolved, replace-one")
	replacing.allowed = map[string]string{}
	for k, v := range convolved.allowed {
		replacing.allowed["Of."+k] = v
	}
	enter(replacing)(mechanism.ForReplacement(func(epsilon, delta float64) (mechanism.Mechanism, error) {
		c := fixed
		c.Epsilon, c.Delta = epsilon, delta
		return of(convolution.Calibrate(c))
	})(eps, delta))
	enter(convolved.named("convolved, recentred"))(of(convolution.CalibrateRecentred(medians, 2)))
	return all
}

func (c tenant) named(name string) tenant { c.name = name; return c }

// of makes a mechanism of what a calibration returns.
func of[M mechanism.Mechanism](m M, err error) (mechanism.Mechanism, error) { return m, err }

func descending(d sgd.Descent, eps float64) (mechanism.Mechanism, error) {
	c, err := d.Cost().CalibrateNoise(eps, delta)
	d.NoiseMultiplier = c.NoiseMultiplier
	return d, err
}

// records returns n records in the domain of c.
func (c tenant) records(n int, seed uint64) (*matrix.Dense, []float64) {
	src := noise.NewSeeded(seed)
	rows, labels := matrix.NewDense(n, 2, nil), make([]float64, n)
	src.Gaussian(rows.Data, 1)
	for i := range labels {
		x := rows.Data[2*i : 2*i+2]
		floats.Scale((1-1e-15)/floats.Norm(x, 2), x)
		labels[i] = c.labels[src.IntN(len(c.labels))]
	}
	return rows, labels
}

// elsewhere are mechanisms that no other package can make: a best of several fits is of learners, and learn's own tests
// hold it to its cost, with neighbours; the price of a question to Google's library is in a module of its own, has no
// run here, and is (ε, δ) as that library states it.
var elsewhere = map[string]bool{"github.com/dpnb/notebooks/dpnb/learn.bestOf": true,
	"github.com/dpnb/notebooks/dpnb/beam/google.price": true}

// Whatever has the methods of a mechanism is in the table.
func TestNoMechanismIsLeftOut(t *testing.T) {
	known := map[string]bool{}
	for _, c := range tenants(t) {
		of := reflect.TypeOf(c.m)
		known[of.PkgPath()+"."+of.Name()] = true
	}
	found := 0
	must.Do(filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, of := range describing(file) {
			found++
			where := "github.com/dpnb/notebooks/dpnb/" + filepath.ToSlash(
				strings.TrimPrefix(filepath.Dir(path), ".."+string(filepath.Separator)),
			)
			if elsewhere[where+"."+of] {
				found--
				continue
			}
			if !known[where+"."+of] {
				t.Errorf("%s.%s describes itself and is in no row of the table", where, of)
			}
		}
		return nil
	}))
	if found != len(known) || found < 12 {
		t.Errorf("%d types describe themselves, %d are in the table", found, len(known))
	}
}

// describing returns the types of a file that have the method Describe.
func describing(file *ast.File) (types []string) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Name.Name != "Describe" {
			continue
		}
		of := f.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if name, ok := of.(*ast.Ident); ok {
			types = append(types, name.Name)
		}
	}
	return types
}
