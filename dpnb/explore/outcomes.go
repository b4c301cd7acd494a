package explore

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

// ConfusionOf asks how many records of each class a released model predicts to be of which, and with that for its
// accuracy, and of each class for the share that is recognised (recall) and the share of its predictions that is right
// (precision). Ask it, like LossOf, about records to which the model was not fitted.
func ConfusionOf(m *learn.Model) Query { return ask(outcomes{m, confusion}) }

// CalibrationOf asks, of a model that predicts probabilities of two classes, how often the positive class came true
// where its predicted probability lay in each of fifteen intervals. Calibrated makes use of the answer.
func CalibrationOf(m *learn.Model) Query { return ask(outcomes{m, calibrating}) }

// AUCOf asks how well a model of two classes ranks records: for the probability that its score is larger for a record
// of the positive class than for one of the other, ½ being chance.
func AUCOf(m *learn.Model) Query { return ask(outcomes{m, ranking}) }

// outcomes are questions that are answered by the number of records of each class (the rows of a table) at each place
// of what was predicted (its columns): a histogram of which a record is in one cell.
type outcomes struct {
	model *learn.Model
	of    kind
}

type kind int

const (
	confusion kind = iota
	calibrating
	ranking
)

// modelled is a question about a model, whose answer gives nothing away of a model that was released.
type modelled interface{ about() *learn.Model }

func (q outcomes) about() *learn.Model { return q.model }
func (q losses) about() *learn.Model   { return q.model }

// String says which question it is of which model, by what was released, for the specification of Once.
func (q outcomes) String() string {
	// In so many places at most: in how many is chosen by what is public, and a release says it.
	return [...]string{"confusion", "calibration", "AUC in 110 places"}[q.of] + " of " + losses{q.model}.String()
}

// probabilityEdges are those of a calibration.
var probabilityEdges = []float64{0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1}

// The scores of an AUC are told apart at usualPlaces quantiles of those that the model has usually
// (learn.Losses.Usual), and on either side at outerPlaces more, each a quarter further from the median than the one
// before: 35 times as far in all, which makes 110. Where the noise of so many places is more than what they tell apart,
// every second, fourth, eighth or sixteenth edge is left (outcomesPlan.calibrate).
const (
	usualPlaces = 80
	outerPlaces = 16
)

func scoreEdges(usual []float64) (edges []float64) {
	off := func(k int) float64 { return usual[k*len(usual)/usualPlaces] - usual[len(usual)/2] }
	enter := func(off float64) { edges = append(edges, usual[len(usual)/2]+off) }
	for k := outerPlaces; k > 0; k-- {
		enter(off(1) * math.Pow(1.25, float64(k)))
	}
	for k := 1; k < usualPlaces; k++ {
		enter(off(k))
	}
	for k := 1; k <= outerPlaces; k++ {
		enter(off(usualPlaces-1) * math.Pow(1.25, float64(k)))
	}
	return edges
}

func (q outcomes) plan(*frame.Schema) (plan, error) {
	l, err := q.model.Losses(true) // Of checks again, with the source of noise
	if err != nil {
		return nil, err
	}
	p := outcomesPlan{model: l, of: q.of, classes: l.TargetClasses()}
	switch {
	case p.classes == nil:
		return nil, fmt.Errorf("dpnb: %s, %s and %s are for models of classes; without them%s the error of a model of "+
			"numbers or counts is asked for", wording.Of("ConfusionOf"), wording.Of("CalibrationOf"),
			wording.Of("AUCOf"),
			wording.Setting{Go: ", by LossOf,"})
	case q.of != confusion && len(p.classes) > 2:
		return nil, fmt.Errorf("dpnb: %s and %s are for models of two classes; %s is for any number",
			wording.Of("CalibrationOf"), wording.Of("AUCOf"), wording.Of("ConfusionOf"))
	case q.of == calibrating && !l.Probabilities():
		return nil, errors.New("dpnb: the model predicts no probabilities, whose calibration could be asked for; " +
			"Logistic and SVM do")
	case q.of == ranking:
		usual := l.Usual()
		p.edges = scoreEdges(usual)
		p.mean, p.deviation = stat.MeanStdDev(usual, nil)
	}
	return p, nil
}

type outcomesPlan struct {
	model   *learn.Losses
	of      kind
	classes []string
	// edges are those of the scores of an AUC, of which the usual ones have this mean and deviation.
	edges           []float64
	mean, deviation float64
	// records are how many may be asked about, by what is public; none where nothing is known of it. places is in how
	// many an AUC was released before; 0 for none.
	records []float64
	places  int
}

// in returns p as so many numbers were released of it.
func (p outcomesPlan) in(numbers int) outcomesPlan {
	p.places = numbers / len(p.classes)
	return p
}

func (p outcomesPlan) columns() []string { return p.model.Columns() }

func (p outcomesPlan) label() string {
	return [...]string{"confusion matrix", "calibration", "AUC"}[p.of] + " of a model of " + p.model.Target()
}

// predicted is the axis of what was predicted.
func (p outcomesPlan) predicted() statistic.Axis {
	switch p.of {
	case calibrating:
		return statistic.Axis{Edges: probabilityEdges}
	case ranking:
		return statistic.Axis{Edges: p.edges}
	}
	return statistic.Axis{Levels: len(p.classes)}
}

// calibrate implements plan. The places of an AUC are as many as make its interval narrowest, of classes of one size,
// where as many records are asked about as is expected, or at worst by the least factor wider than that: more tell
// scores apart, and each has its own noise.
func (p outcomesPlan) calibrate(epsilon, delta float64, countsMu bool) (statistic.Mechanism, error) {
	cells := statistic.Cells{{Levels: len(p.classes)}, p.predicted()}
	best, err := statistic.CalibrateHistogram(cells, epsilon, delta, countsMu)
	if err != nil || p.of != ranking || p.places == 0 && p.records == nil {
		return best, err
	}
	var choices []statistic.Histogram
	for every := 1; every <= 16; every *= 2 {
		m := best
		m.Of = statistic.Cells{cells[0], {Edges: thinned(p.edges, every)}}
		if choices = append(choices, m); m.Of[1].Len() == p.places {
			return m, nil
		}
	}
	worst := make([]float64, len(choices))
	for _, records := range p.records {
		halves := make([]float64, len(choices))
		for k, m := range choices {
			halves[k], _ = p.precision(m, records, settings{confidence: 0.95})
		}
		for k := range worst {
			worst[k] = math.Max(worst[k], halves[k]/slices.Min(halves))
		}
	}
	return choices[slices.Index(worst, slices.Min(worst))], nil
}

// thinned returns every so manieth edge from the middle one on, and the outermost.
func thinned(edges []float64, every int) (out []float64) {
	last := len(edges) - 1
	for k, e := range edges {
		if k == 0 || k == last || (k-last/2)%every == 0 {
			out = append(out, e)
		}
	}
	return out
}

// scores are the edges of the scores of an AUC by m.
func scores(m statistic.Mechanism) []float64 { return m.(statistic.Histogram).Of[1].Edges }

// dataDependent implements maker: the bounds are the model's.
func (p outcomesPlan) dataDependent() bool { return p.model.Warning() != "" }

func (p outcomesPlan) made(chunk *frame.Table) ([][]float64, error) {
	class, predicted, logOdds, err := p.model.Outcomes(chunk)
	switch p.of {
	case confusion:
		return [][]float64{class, predicted}, err
	case calibrating:
		for i, s := range logOdds {
			logOdds[i] = 1 / (1 + math.Exp(-s))
		}
	case ranking:
		for i, s := range logOdds {
			logOdds[i] = math.Max(p.edges[0], math.Min(p.edges[len(p.edges)-1], s))
		}
	}
	return [][]float64{class, logOdds}, err
}

// noiseOf is the noise of the cells: independent, of this deviation and excess kurtosis.
type noiseOf struct{ deviation, excess float64 }

func noiseIn(m statistic.Mechanism) noiseOf {
	h := m.(statistic.Histogram)
	n := noiseOf{deviation: h.Deviation()}
	if h.Scale > 0 { // of geometric noise 3 + 1/variance; where that is more than 10, noise is hardly ever there
		n.excess = math.Min(10, 3+1/(n.deviation*n.deviation))
	}
	return n
}

// within returns w with P(|Σ wⱼxⱼ| ≤ w) about as confidence says, of independent noises xⱼ with k weights a and m
// weights b: normal, and of noise with long tails that and a term of its kurtosis γ (Cornish, Fisher 1938), z + γ(z³ −
// 3z)/24, where it is more.
func (n noiseOf) within(confidence, a, k, b, m float64) float64 {
	square := k*a*a + m*b*b
	if square == 0 {
		return 0
	}
	z := distuv.UnitNormal.Quantile(0.5 + 0.5*confidence)
	gamma := n.excess * (k*a*a*a*a + m*b*b*b*b) / (square * square)
	return n.deviation * math.Sqrt(square) * math.Max(z, z+gamma*(z*z*z-3*z)/24)
}

// shareSteps is how finely the confidence set of a share is searched, in steps of [0, 1].
const shareSteps = 4000

// share returns the share x/(x + rest) of noisy sums of k and of m cells, with Fieller's interval: (1 − a)x − a·rest is
// noise alone where a is the share of the records, however few there are.
func (n noiseOf) share(x, k, rest, m, confidence float64) statistic.Estimate {
	off := func(a float64) float64 { return (1-a)*x - a*rest }
	value := 0.5
	if x+rest > 0 {
		value = math.Max(0, math.Min(1, x/(x+rest)))
	}
	return confidenceSet(value, func(a float64) bool {
		return math.Abs(off(a)) <= n.within(confidence, 1-a, k, a, m)
	})
}

// confidenceSet returns the smallest interval that has value and all numbers of [0, 1] that are seen to be possible, of
// which the steps are asked, out to where between two of them that ends.
func confidenceSet(value float64, possible func(a float64) bool) statistic.Estimate {
	const step = 1.0 / shareSteps
	lower, upper, some := value, value, possible(value)
	for i := range shareSteps + 1 {
		if a := float64(i) * step; possible(a) {
			lower, upper, some = math.Min(lower, a), math.Max(upper, a), true
		}
	}
	if !some { // noise alone has brought value to where it is
		return statistic.Estimate{Value: value, Lower: math.Max(0, value-step), Upper: math.Min(1, value+step)}
	}
	// end goes from x, in a direction, to just beyond where what is possible ends: a step at most.
	end := func(x, side float64) float64 {
		if x+side*step < 0 || x+side*step > 1 {
			return x + side*step
		}
		out, _ := univariate.Bisect(func(v float64) bool { return possible(-side * v) }, -side*x-step, -side*x,
			univariate.Arithmetic, 0)
		return -side * out
	}
	return statistic.Estimate{Value: value, Lower: math.Max(0, end(lower, -1)), Upper: math.Min(1, end(upper, 1))}
}

// auc returns the probability that a record of the positive class is at a higher place than one of the other, ties
// halved,
//
//	A = Σ_b N_b(½P_b + Σ_{c>b} P_c)/(N·P),
//
// of noisy counts N_b, P_b of independent noise s. Where a is that of the true counts, Σ N_bP_c(K_bc − a), K = 1, ½ or
// 0, has mean 0 and, with true counts n_b, p_c, the variance s²Σ_b(Σ_c p_c(K_bc − a))² + s²Σ_c(Σ_b n_b(K_bc − a))² +
// s⁴ΣΣ(K_bc − a)². Noisy counts in place of the true ones add the last term once each, on average: the variance is
// estimated too large rather than too small. What scores within a place can change of the AUC is ½Σ N_bP_b/(N·P) at
// most, which widens the interval. Derivation: docs/theory/statistics.md.
func (n noiseOf) auc(negative, positive []float64, confidence float64) statistic.Estimate {
	all := statistic.Estimate{Value: 0.5, Lower: 0, Upper: 1}
	var N, P float64
	for b := range negative {
		N, P = N+negative[b], P+positive[b]
	}
	if !(N > 0) || !(P > 0) {
		return all
	}
	// above[b] = Σ_c P_c K_bc, below[c] = Σ_b N_b K_bc; each less a·P or a·N is what the noise is multiplied with.
	var sum, tied float64
	above, below := make([]float64, len(negative)), make([]float64, len(negative))
	for b, have := 0, 0.0; b < len(negative); b++ {
		below[b] = have + 0.5*negative[b]
		have += negative[b]
	}
	for b, have := len(positive)-1, 0.0; b >= 0; b-- {
		above[b] = have + 0.5*positive[b]
		have += positive[b]
		sum += negative[b] * above[b]
		tied += 0.5 * negative[b] * positive[b]
	}
	z := distuv.UnitNormal.Quantile(0.5 + 0.5*confidence)
	possible := func(a float64) bool {
		var square float64
		for b := range negative {
			square += (above[b]-a*P)*(above[b]-a*P) + (below[b]-a*N)*(below[b]-a*N)
		}
		return math.Abs(sum-a*N*P) <= z*n.deviation*math.Sqrt(square)
	}
	e := confidenceSet(math.Max(0, math.Min(1, sum/(N*P))), possible)
	half := math.Max(0, tied/(N*P))
	e.Lower, e.Upper = math.Max(0, e.Lower-half), math.Min(1, e.Upper+half)
	return e
}

// precision implements plan: of shares whatever they are, of a calibration where the records spread evenly over its
// places, of an AUC for as many records of both classes, or of the base rate, whose scores are normal with means apart
// by their deviation, and together as far apart as the usual ones.
func (p outcomesPlan) precision(m statistic.Mechanism, records float64, s settings) (float64, string) {
	n, k := noiseIn(m), float64(len(p.classes))
	if !(records > 0) {
		return math.Inf(1), ""
	}
	widest := func(k, m, records float64) float64 {
		return math.Max(n.within(s.confidence, 1, k, 0, m), n.within(s.confidence, 0, k, 1, m)) / records
	}
	switch p.of {
	case confusion:
		return widest(k, k*k-k, records), "of the records, of the accuracy"
	case calibrating:
		places := float64(len(probabilityEdges) - 1)
		return widest(1, 1, records/places), fmt.Sprintf("of the records of a bin that has a %.0fth of all", places)
	}
	edges := scores(m)
	negative, positive := make([]float64, len(edges)-1), make([]float64, len(edges)-1)
	rate, sizes := 0.5, "of the same size"
	if r := s.baseRate; r != 0 {
		rate, sizes = r, fmt.Sprintf("with %.4g of the records in class %s", r, p.classes[1])
	}
	one := p.deviation / math.Sqrt(1+rate*(1-rate))
	for b := range negative {
		in := func(side, share float64) float64 {
			d := distuv.Normal{Mu: p.mean + side*one, Sigma: one}
			return records * share * (d.CDF(edges[b+1]) - d.CDF(edges[b]))
		}
		negative[b], positive[b] = in(-rate, 1-rate), in(1-rate, rate)
	}
	e := n.auc(negative, positive, s.confidence)
	return math.Max(e.Upper-e.Value, e.Value-e.Lower), "of an AUC near 0.76, of two classes " + sizes
}

func (p outcomesPlan) answer(m statistic.Mechanism, released []float64, s settings) *Statistic {
	n, places := noiseIn(m), m.(statistic.Histogram).Of[1].Len()
	out := &Statistic{counts: released, deviation: n.deviation, of: p.of, model: p.model}
	switch p.of {
	case confusion:
		p.confusion(out, n, m.(statistic.Histogram).Margin(s.confidence), s)
	case calibrating:
		p.calibration(out, n, s)
	case ranking:
		r := Row{Name: "AUC", Estimate: n.auc(released[:places], released[places:], s.confidence)}.within(0, 1)
		out.title, out.rows = "AUC of a model of "+p.model.Target(), []Row{r}
		out.meaning = s.says(r, "the AUC", fmt.Sprintf("The probability that a record of class %s has a larger score "+
			"than one of class %s is %s; %s.", p.classes[1], p.classes[0], r.figures(), s.interval(r)))
		out.notes = append(out.notes, fmt.Sprintf("Scores are counted in %d bins, between quantiles of those that the "+
			"released model usually gives; the interval allows for every order within a bin.", places))
	}
	return out
}

func (p outcomesPlan) confusion(out *Statistic, n noiseOf, margin float64, s settings) {
	k, counts := len(p.classes), out.counts
	var right, wrong float64
	row, column := make([]float64, k), make([]float64, k)
	for i := range k {
		for j := range k {
			if c := counts[i*k+j]; i == j {
				right += c
			} else {
				wrong, row[i], column[j] = wrong+c, row[i]+c, column[j]+c
			}
		}
	}
	all, others := float64(k), float64(k-1)
	accuracy := Row{Name: "accuracy", Estimate: n.share(right, all, wrong, all*others, s.confidence)}.within(0, 1)
	out.title = "How well a model predicts " + p.model.Target()
	out.rows = append(out.rows, accuracy)
	for at, what := range []string{"recall of ", "precision of "} {
		for i, c := range p.classes {
			out.rows = append(out.rows, Row{Name: what + c,
				Estimate: n.share(counts[i*k+i], 1, [][]float64{row, column}[at][i], others,
					s.confidence)}.within(0, 1))
		}
	}
	for i, is := range p.classes {
		for j, said := range p.classes {
			out.rows = append(out.rows, Row{Name: "records of " + is + " predicted as " + said,
				Estimate: countOf(counts[i*k+j], margin)})
		}
	}
	out.meaning = s.says(accuracy, "the accuracy", fmt.Sprintf("The model predicts a share of %s of these records "+
		"rightly; %s.", accuracy.figures(), s.interval(accuracy)))
	out.notes = append(out.notes, "Recall is the share of a class that is recognised, precision the share of the "+
		"predictions of a class that is right. Each interval holds by itself.")
	out.draw = func(s *Statistic) *figure.Figure {
		shares := *s
		shares.rows, shares.draw = s.rows[:1+2*k], nil
		return shares.Illustration()
	}
}

// calibration fills in what came true at each place.
func (p outcomesPlan) calibration(out *Statistic, n noiseOf, s settings) {
	places, counts := len(probabilityEdges)-1, out.counts
	short := func(v float64) string { return strconv.FormatFloat(100*v, 'g', 4, 64) }
	for b := range places {
		e := n.share(counts[places+b], 1, counts[b], 1, s.confidence)
		name := "predicted " + short(probabilityEdges[b]) + " to " + short(probabilityEdges[b+1]) + " %"
		out.rows = append(out.rows, Row{Estimate: e, Name: name}.within(0, 1))
	}
	out.title = "Calibration of a model of " + p.model.Target()
	out.meaning = fmt.Sprintf("The share of the records of each bin whose class is %s: where the model is calibrated, "+
		"it lies between the edges of the bin. Each interval holds by itself, with %s confidence; %s.",
		p.classes[1], s.percent(), s.reason())
	if slices.ContainsFunc(out.rows, func(r Row) bool { return r.unknown }) {
		out.notes = []string{"–: nothing is known of the bin, in which there are too few records for this noise, or " +
			"none."}
	}
	out.draw = func(s *Statistic) *figure.Figure {
		var x, y, lo, hi []float64
		for b, r := range s.rows {
			if r.unknown {
				continue
			}
			x = append(x, 0.5*(probabilityEdges[b]+probabilityEdges[b+1]))
			y, lo, hi = append(y, r.Value), append(lo, r.Lower), append(hi, r.Upper)
		}
		f := figure.New(s.title, "predicted probability of "+p.classes[1], "share that came true, with "+s.percent()+
			" intervals")
		return f.Dashed("perfect", []float64{0, 1}, []float64{0, 1}, figure.Gray).Whiskers(x, lo, hi, figure.Gray).
			Dots("the model", x, y, figure.Blue).PercentX().Percent().XRange(0, 1).YRange(0, 1)
	}
}

// Calibrated returns the model with the calibration that its released curve says, by CalibrationOf: log-odds s become
// a·s + c, with a > 0 and c those that fit the noisy counts best (Platt 1999), by logistic regression with s in the
// middle of each place and a little weight, of the size of the noise, on what the model says itself. It costs nothing
// beyond the curve.
//
//	train, rest := df.Split(0.8, "kept for the calibration")
//	curve, err := explore.CalibrationOf(model).Of(rest, budget.Share(0.05))
//	model, err = explore.Calibrated(model, curve)
//
// Errors: no curve, that of another model, or one with simulated noise for a model with noise that protects; as
// learn.Model.Calibrated.
func Calibrated(m *learn.Model, curve *Statistic) (*learn.Model, error) {
	if err := curve.Err(); err != nil {
		return nil, err
	}
	if curve.of != calibrating || curve.model == nil {
		return nil, errors.New("dpnb: Calibrated wants the answer to CalibrationOf(model)")
	}
	l, err := m.Losses(true)
	if err != nil {
		return nil, err
	}
	if curve.origin.Simulated() && !m.Release.Simulated() {
		return nil, errors.New("dpnb: the curve has simulated noise, which protects nobody, and the model does not: " +
			"ask CalibrationOf(model) without Noise")
	}
	if l.String() != curve.model.String() {
		return nil, errors.New("dpnb: the curve is of another model: ask CalibrationOf(model) of the one to calibrate")
	}
	slope, intercept := platt(curve.counts, curve.deviation)
	return m.Calibrated(slope, intercept, "a curve of "+curve.guarantee.Words()+".", curve.warning())
}

// platt minimises Σ_b [P_b log(1 + e^{−t_b}) + N_b log(1 + e^{t_b})] + (s/2)((a − 1)² + c²), t_b = a·s_b + c, by
// Newton's steps; s is the deviation of the counts' noise. N_b and P_b are the counts, not less than 0, of places that
// have at least two deviations of noise between them, 2√2·s: noise that is cut at 0 has a mean above it, and where
// there are no people, at the ends above all, that would be invented ones of either class, which flatten the slope.
func platt(noisy []float64, deviation float64) (slope, intercept float64) {
	places := len(probabilityEdges) - 1
	counts := make([]float64, len(noisy))
	for b := range places {
		if n, p := noisy[b], noisy[places+b]; n+p >= 2*math.Sqrt2*deviation {
			counts[b], counts[places+b] = math.Max(0, n), math.Max(0, p)
		}
	}
	at := make([]float64, places)
	for b := range at {
		lo, hi := math.Max(probabilityEdges[b], 0.003), math.Min(probabilityEdges[b+1], 0.997)
		at[b] = 0.5 * (math.Log(lo/(1-lo)) + math.Log(hi/(1-hi)))
	}
	ridge := math.Max(deviation, 1)
	value := func(a, c float64) float64 {
		sum := ridge / 2 * ((a-1)*(a-1) + c*c)
		for b, s := range at {
			t := a*s + c
			sum += counts[places+b]*logspace.Add(0, -t) + counts[b]*logspace.Add(0, t)
		}
		return sum
	}
	a, c := 1.0, 0.0
	for range 100 {
		ga, gc, haa, hac, hcc := ridge*(a-1), ridge*c, ridge, 0.0, ridge
		for b, s := range at {
			positive, negative := counts[places+b], counts[b]
			p := 1 / (1 + math.Exp(-(a*s + c)))
			g, h := p*(positive+negative)-positive, p*(1-p)*(positive+negative)
			ga, gc, haa, hac, hcc = ga+g*s, gc+g, haa+h*s*s, hac+h*s, hcc+h
		}
		det := haa*hcc - hac*hac
		da, dc := (hcc*ga-hac*gc)/det, (haa*gc-hac*ga)/det
		step := 1.0
		for before := value(a, c); step > 1e-10 && value(a-step*da, c-step*dc) > before; {
			step /= 2
		}
		a, c = a-step*da, c-step*dc
	}
	return math.Max(a, leastSlope), c
}

// leastSlope keeps the order of the predictions.
const leastSlope = 0.01
