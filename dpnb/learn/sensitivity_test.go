package learn

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/internal/weight"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The test here goes the whole way of a fit, from the texts of a file to what is released, with a table and with its
// neighbours by the noise of one seed: what they differ by before the noise is compared with what the ledger was
// charged.

var learntHeader = []string{"who", "a", "b", "hour", "day", "city", "w", "two", "y", "n", "class"}

var learntSchema = []Field{Numeric("a", -3, 7).OrMissing(), Log("b", 0.5, 4000).Typically(10),
	frame.HourField("hour", "15:04"), frame.DateField("day", "02.01.2006", "2001-01-01", "2003-12-31"),
	Categorical("city", "Bern", "Rome", "3").OrMissing(), Categorical("two", "no", "yes"), Numeric("y", -50, 3),
	Numeric("n", 0, 9), Categorical("class", "u", "v", "z")}

// learntTexts are what records have in each column: values at the bounds, beyond them, and texts that are none.
var learntTexts = [][]string{nil, {"-3", "7", "2", "99", "-1e999", "NaN", "", "x"}, {"0.5", "4000", "10", "0", "inf"},
	{"00:00", "12:00", "23:59", "24:00", ""}, {"01.01.2001", "31.12.2003", "", "31.02.2002"},
	{"Bern", "Rome", "3.0", "", "\xff\xfe", "Oslo", " Rome\t"}, {"7", "2", "0.5", "0", "-1", "inf", "NaN"},
	{"yes", "no", "YES", "a\"b\nc,"}, {"-50", "3", "0", "inf", "NaN"}, {"0", "9", "3", "2.5", "77", "x"},
	{"v", "u", "z", "?"}}

// learntRow is a record of a person: each column's text at one place, or at any.
func learntRow(rng *noise.Seeded, who string, place int) []string {
	r := []string{who}
	for _, texts := range learntTexts[1:] {
		if place >= 0 {
			r = append(r, texts[place])
		} else {
			r = append(r, texts[rng.IntN(len(texts))])
		}
	}
	return r
}

// learntCase is a learner with its records.
type learntCase struct {
	learner Learner
	target  string
	opts    []Option
	rows    int // of a person; 0 says that each row is one
	pure    bool
	// weights says that column w has them.
	weights bool
	// reached is how much of what is charged a person adds at least.
	reached float64
}

// data makes the records of the case, of a file in memory or one that is scanned.
func (c learntCase) data(t *testing.T, records [][]string, scanned bool) *Dataset {
	name := filepath.Join(t.TempDir(), "records.csv")
	var b strings.Builder
	must.Do(csv.NewWriter(&b).WriteAll(append([][]string{learntHeader}, records...)))
	must.Do(os.WriteFile(name, []byte(b.String()), 0o600))
	df := ReadCSV(name)
	if scanned {
		df = FromScanner(frame.ScanCSV(name, nil))
	}
	if df = df.WithSchema(learntSchema...); c.rows > 0 {
		df = df.PerPerson("who", c.rows)
	} else {
		df = df.Drop("who")
	}
	for _, name := range []string{"two", "y", "n", "class"} {
		if name != c.target {
			df = df.Drop(name)
		}
	}
	if !c.weights {
		df = df.Drop("w")
	}
	return RecordsFor(c.learner, df, c.target, append(slices.Clone(c.opts), StoredIn(Storage{Dir: t.TempDir()}))...)
}

// fitted is the model by the noise of a seed, and the mechanism for one row.
func (c learntCase) fitted(data *Dataset) (*Model, geometry.Centred) {
	l := reflect.New(reflect.TypeOf(c.learner)).Elem()
	l.Set(reflect.ValueOf(c.learner))
	l.FieldByName("Noise").Set(reflect.ValueOf(Seed(3)))
	a := Simulate(8, 1e-5)
	if c.pure {
		a = Simulate(60, 0)
	}
	m := must.Get(l.Interface().(Learner).Fit(data, a))
	of := m.ran
	if g, ok := of.(mechanism.Group); ok {
		of = g.Of
	}
	return m, of.(geometry.Centred)
}

// bought is what a person adds to the count and to the sums of a centred fit, in units of their noise: from what was
// released with them and without.
func bought(c geometry.Centred, without, with *geometry.Bought) (count, sums float64) {
	count = math.Abs(with.Count-without.Count) / c.CountSigma
	entries := len(with.Mean) - len(c.Nowhere)
	if c.Numbers {
		entries += 2
	}
	deviation := math.Sqrt(c.Law.Variance(entries)) // of the noise in an entry, in units of its scale
	var differ []float64
	labels := func(b *geometry.Bought) (y, square float64) { // as centre makes the centre and the unit of them
		s := math.Sqrt(1.5) * c.MeanSigma
		v := 4 * s * s * deviation * deviation / (b.Records * b.Records)
		w := 0.01 / (0.01 + v)
		y = b.Centre * (0.12 + v) / 0.12
		return y * b.Records / 2 / s, ((4*b.Unit*b.Unit-(1-w)/16)/w + b.Centre*b.Centre) * b.Records / 2 / s
	}
	if c.Numbers {
		y, square := labels(with)
		y0, square0 := labels(without)
		differ = append(differ, y-y0, square-square0)
	}
	for j, v := range without.Mean {
		differ = append(differ, deviation*(with.Mean[j]/with.MeanError-v/without.MeanError))
	}
	return count, floats.Norm(differ, 2)
}

// steepest is the largest gradient of the last so many records together that is found at any of some coefficients.
func steepest(rng *noise.Seeded, rows matrix.Rows, labels []float64, last int, p erm.Problem) (worst float64) {
	n, d := rows.Dims()
	var index []int
	for i := n - last; i < n; i++ {
		index = append(index, i)
	}
	p.Rows, p.Labels, p.Lambda = matrix.Select(rows, index), labels[n-last:], 1e-9
	forms := 1
	if p.Joint != nil {
		forms = 3
	}
	x, g, theta := make([]float64, d), make([]float64, forms*d), make([]float64, forms*d)
	p.Rows.Row(x, 0)
	for range 40 {
		rng.Gaussian(theta, 1)
		for k := range forms {
			floats.AddScaled(theta[k*d:(k+1)*d], 5000*rng.NormFloat64(), x)
		}
		erm.Evaluate(&p, g, theta)
		floats.AddScaled(g, -p.Lambda, theta)
		worst = math.Max(worst, floats.Norm(g, 2))
	}
	return worst
}

// costs are those of the parts of a release: what a person with so many rows adds, in units of the noise, where the
// mean was bought in without.
func (c learntCase) costs(t *testing.T, rng *noise.Seeded, without, with *Model, m geometry.Centred, data *Dataset) (
	costs []float64) {
	b := without.also().(*geometry.Bought)
	count, sums := bought(m, b, with.also().(*geometry.Bought))
	d, person := must.Get(data.whole()), max(1, c.rows)
	table := must.Get(data.frame().Collect().Table())
	x, y := b.Placed(must.Get(without.encoding.Design(table)).Rows), slices.Clone(d.Labels)
	for i, v := range y {
		if m.Numbers {
			_, w := weight.Of(v)
			if y[i] = (min(max(v, -1), 1) - b.Centre) / b.Unit; d.Target.Weighted {
				y[i] = weight.With(y[i], w)
			}
		}
	}
	norms := make([]float64, len(y))
	x.Norms(norms, 0, len(y))
	if longest := floats.Max(norms); longest > math.Hypot(1, b.Bias)*(1+1e-12) {
		t.Errorf("%T: a row of norm %v", c.learner, longest)
	}
	objective := func(f objpert.Objective) {
		costs = append(costs, steepest(rng, x, y, person, erm.Problem{Loss: f.Loss})/f.Sigma,
			float64(person)*2*f.Tolerance/(f.Lambda*f.OutputSigma))
	}
	switch f := with.release.Fitted.(type) {
	case objpert.Objective:
		objective(f)
	case interval.Curvature:
		objective(f.Fit)
		costs = append(costs, float64(person)*f.Mu())
	case multiclass.Softmax:
		costs = append(costs, steepest(rng, x, y, person, erm.Problem{Joint: loss.Softmax{Classes: 3}})/f.Sigma)
	case multiclass.OneVsRest:
		for k := range f.Classes {
			for i, v := range d.Labels {
				y[i] = math.Copysign(1, 0.5-math.Abs(v-float64(k)))
			}
			objective(f.Binary)
		}
	case sgd.Quantiles:
		costs = append(costs, float64(person)*math.Sqrt(float64(f.Steps))/f.NoiseMultiplier)
	case pure.Objective:
		costs = append(costs, float64(person)*f.Epsilon())
	default:
		t.Fatalf("%T", f)
	}
	return append(costs, count, sums)
}

// What one person adds to all that a fit releases costs what is charged for it or less, and hardly less where it is
// known what costs add up to: a sensitivity that is a hundredth too small is seen.
func TestAPersonAddsToAFitWhatIsCharged(t *testing.T) {
	testscale.Slow(t)
	rng := noise.NewSeeded(1)
	var crowd [][]string
	for i := range 80 {
		crowd = append(crowd, learntRow(rng, fmt.Sprint("p", i/2*2), -1))
	}
	terms := []Option{Periodic("hour", 0), Cross("city", "a"), Steps("day", 12000)}
	for _, c := range []learntCase{
		{learner: Logistic{}, target: "two", rows: 2, reached: 0.999},
		{learner: Logistic{}, target: "two", opts: []Option{WeightsFrom("w", 2)}, weights: true, reached: 0.999},
		{learner: Logistic{}, target: "two", opts: []Option{ClassWeights(map[string]float64{"no": 3}), Lines()},
			reached: 0.999},
		{learner: Linear{}, target: "y", opts: []Option{WeightsFrom("w", 2)}, weights: true, reached: 0.9},
		{learner: Logistic{}, target: "two", opts: []Option{Lines()}, pure: true, rows: 2, reached: 0.999},
		{learner: SVM{CurvatureShare: 0.1}, target: "two", opts: terms, reached: 0.999},
		{learner: SVM{}, target: "two", opts: []Option{InUnits(), Rising("b")}, reached: 0.99},
		{learner: Linear{}, target: "y", opts: terms, reached: 0.9},
		{learner: Huber{}, target: "y", opts: []Option{Lines()}, pure: true, reached: 0.99},
		{learner: Quantiles{}, target: "y", rows: 3, reached: 0.999},
		{learner: Poisson{}, target: "n", reached: 0.9},
		{learner: Softmax{}, target: "class", reached: 0.9},
		{learner: OneVsRest{}, target: "class", rows: 2, reached: 0.999},
	} {
		for _, scanned := range []bool{false, true} {
			if scanned && c.rows == 0 && !testscale.Full() {
				continue
			}
			without, _ := c.fitted(c.data(t, crowd, scanned))
			worst := 0.0
			for _, place := range []int{0, 1, -1} {
				all := slices.Clone(crowd)
				for k := range max(1, c.rows) {
					all = append(all, learntRow(rng, []string{"the one", " the one", "the one\t"}[k], place))
				}
				data := c.data(t, all, scanned)
				with, m := c.fitted(data)
				total, g := 0.0, with.release.Guarantee
				costs := c.costs(t, rng, without, with, m, data)
				charged := must.Get(privacy.MuOf(g.Epsilon, math.Max(g.Delta, 1e-300)))
				if total = floats.Norm(costs, 2); c.pure {
					total, charged = floats.Norm(costs, 1), must.Get(privacy.EpsilonUpper(g.Profile, 0))
				}
				if total > charged*(1+1e-6) {
					t.Errorf("%T, scanned %v: a person adds %v, together %v; charged is %v", c.learner, scanned, costs,
						total, charged)
				}
				worst = math.Max(worst, total/charged)
			}
			if worst < c.reached {
				t.Errorf("%T, scanned %v: a person adds %v of what is charged", c.learner, scanned, worst)
			}
		}
	}
}
