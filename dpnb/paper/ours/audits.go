package ours

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// alarm is an audit at a level, and whether it refutes; of part of the noise.
type alarm func(level, part float64, draws int, src *noise.Seeded) bool

// keeps measures how often audits at level refute what has the part sound of its noise, and whether one of the given
// draws sees that a part of it is there.
func keeps(ctx context.Context, of alarm, runs int, level, sound, part float64, draws int, seed uint64) claim.Outcome {
	alarms := 0
	for k := range measure.To(ctx, runs) {
		refuted := of(level, sound, 400, noise.NewSeeded(seed+uint64(k)))
		if refuted {
			alarms++
		}
	}
	caught := of(0.99, part, draws, noise.NewSeeded(seed))
	n := float64(runs)
	limit := 0.1*n + 4.3*math.Sqrt(0.09*n)
	return claim.Decide(fmt.Sprintf("%d false alarms of %d; a part %g of the noise is seen: %v", alarms, runs, part,
		caught), fmt.Sprintf("at most %.0f, and seen", limit), float64(alarms) <= limit && caught)
}

// auditsHold audits sums of answers with the part sound of their noise, and once with 0.9·factor of it.
func auditsHold(run measure.Run, sound, factor float64) claim.Outcome {
	of := func(level, part float64, draws int, src *noise.Seeded) bool {
		eps := 3.0
		if draws > 400 {
			eps = 12
		}
		m, held := measure.Must2(answers(1, eps, 1e-5))
		m.Scale *= part
		one := people(1, 1, noise.NewSeeded(1))
		pair := audit.Pair{Name: "one person, or nobody", With: audit.Data{Rows: one, Labels: []float64{0}},
			Without: audit.Data{Rows: people(0, 1, noise.NewSeeded(1))}}
		o := &audit.Options{Draws: draws, Level: level, Delta: 1e-5, Claim: held}
		c := measure.Must(audit.Mechanism(run, m, pair, o, src))
		return c.Refuted || c.Epsilon > c.Claimed
	}
	return keeps(run, of, run.Runs(200), 0.9, sound, 0.9*factor, 10_000, 140)
}

// lossesHold audits normal noise by its losses, at a level, and once 0.9·factor of it.
func lossesHold(run measure.Run, level, factor float64) claim.Outcome {
	held := privacy.GaussianProfile(1, privacy.AddRemove)
	of := func(level, part float64, draws int, src *noise.Seeded) bool {
		c := measure.Must(audit.Exact(audit.Shifted{Distance: 1, Sigma: part},
			&audit.Options{Draws: draws, Level: level, Claim: held}, src))
		return c.Refuted
	}
	return keeps(run, of, run.Runs(400), level, 1, 0.9*factor, 4000, 142)
}

// oneRunHolds compares the bound at ε and δ times factors with randomised response.
func oneRunHolds(run measure.Run, times [2]float64) claim.Outcome {
	const m, eps = 200, 1.0
	draws := run.Runs(20_000)
	src := noise.NewSeeded(141)
	worst, used := math.Inf(-1), 0.0
	for _, delta := range []float64{0, 0.01} {
		var tail [m + 1]float64
		for range measure.To(run, draws) {
			right, all := 0, src.Float64() < delta
			for range m {
				if src.Float64() < 1/(1+math.Exp(-eps)) || all {
					right++
				}
			}
			for v := range right + 1 {
				tail[v]++
			}
		}
		for v, n := range tail {
			p, se := n/float64(draws), math.Sqrt(n+1)/float64(draws)
			bound := audit.OneRunBound(m, m, v, times[0]*eps, times[1]*delta)
			worst = math.Max(worst, (p-bound)/se)
			if delta == 0 && p > 0.01 && p < 0.2 {
				used = math.Max(used, p/bound)
			}
		}
	}
	return claim.Decide(fmt.Sprintf("at most %.1f standard errors above the bound, of which %.2f is used", worst, used),
		"at most 4.5, at least 0.9", worst <= 4.5 && used >= 0.9)
}

// Tracing is an attack on the means of many yes-or-no questions: a person is taken to be in the data if their answers
// agree with the released means more than those of a stranger would.
//
// Source: Homer et al. 2008; Dwork, Smith, Steinke, Ullman, Vadhan 2015.
type Tracing struct {
	People, Questions, Trials int
	// Epsilon and Delta of the private means; Epsilon = 0 releases them exactly.
	Epsilon, Delta float64
	Seed           uint64
}

// answers is the private sums of so many answers ±1, and what they claim.
func answers(questions int, epsilon, delta float64) (m statistic.Sums, claim privacy.Profile, err error) {
	defer measure.Catch(&err)
	columns := slices.Repeat([]statistic.Number{{Lower: -1, Upper: 1}}, questions)
	m = measure.Must(statistic.CalibrateSums(statistic.Means{Of: columns, For: statistic.Gaussian}, statistic.Gaussian,
		epsilon, delta))
	claim, err = mechanism.Profile(m)
	return m, claim, err
}

// people returns n persons' answers, ±1 with even chances.
func people(n, questions int, src *noise.Seeded) *matrix.Dense {
	rows := matrix.NewDense(n, questions, nil)
	for i := range rows.Data {
		rows.Data[i] = float64(2*src.IntN(2) - 1)
	}
	return rows
}

// with returns the rows and one more.
func with(rows *matrix.Dense, x []float64) *matrix.Dense {
	all := append(append(make([]float64, 0, len(rows.Data)+len(x)), rows.Data...), x...)
	return matrix.NewDense(rows.N+1, rows.D, all)
}

// Scores attacks Trials persons who are in and as many who are not, each in a release of its own, and returns the
// scores, with the profile that the releases claim; nil for exact ones.
func (a Tracing) Scores() (in, out []float64, claim privacy.Profile, err error) {
	defer measure.Catch(&err)
	var m statistic.Sums
	if a.Epsilon > 0 {
		m, claim = measure.Must2(answers(a.Questions, a.Epsilon, a.Delta))
	}
	src := noise.NewSeeded(a.Seed)
	others := people(a.People-1, a.Questions, src)
	return attack(a.Trials, claim, src, func(isIn bool, src *noise.Seeded) (float64, error) {
		x, data := people(1, a.Questions, src).Data, others
		if isIn {
			data = with(others, x)
		}
		if a.Epsilon > 0 {
			sums := measure.Released(m, data, make([]float64, data.N), src)
			return floats.Dot(x, sums[1:]), nil // after the count
		}
		score := 0.0
		for i := range data.N {
			score += floats.Dot(x, data.Data[i*a.Questions:(i+1)*a.Questions])
		}
		return score, nil
	})
}

// attack runs the trials: stream k of src is for trial k.
func attack(trials int, claim privacy.Profile, src *noise.Seeded, try func(isIn bool, src *noise.Seeded) (float64,
	error)) (in, out []float64, _ privacy.Profile, err error) {
	in, out = make([]float64, trials), make([]float64, trials)
	err = parallel.For(context.Background(), 2*trials, 0, func(_, k int) (err error) {
		if k < trials {
			in[k], err = try(true, src.Stream(k))
		} else {
			out[k-trials], err = try(false, src.Stream(k))
		}
		return err
	})
	return in, out, claim, err
}

// FitAttack is an attack on logistic regression with few records for its coefficients: a person is taken to have been
// fitted if the fit is as sure of their label as it is of those that it knows, for the exact fit; the surer, the
// likelier, for the private one.
//
// Source: after Yeom, Giacomelli, Fredrikson, Jha 2018.
type FitAttack struct {
	People, Features, Trials int
	// Epsilon and Delta of the private fit; Epsilon = 0 fits exactly, with hardly a ridge.
	Epsilon, Delta float64
	Seed           uint64
}

// Scores is that of Tracing.
func (a FitAttack) Scores() (in, out []float64, claim privacy.Profile, err error) {
	defer measure.Catch(&err)
	var m objpert.Objective
	if a.Epsilon > 0 {
		m = measure.Must(objpert.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: a.Epsilon,
			Delta: a.Delta, Adjacency: privacy.AddRemove}))
		claim = measure.Must(mechanism.Profile(m))
	}
	src := noise.NewSeeded(a.Seed)
	person := func(src *noise.Seeded, x []float64) float64 {
		src.Gaussian(x, 1)
		floats.Scale((1-1e-15)/floats.Norm(x, 2), x)
		return float64(2*src.IntN(2) - 1)
	}
	rows, labels := matrix.NewDense(a.People-1, a.Features, nil), make([]float64, a.People-1)
	for i := range labels {
		labels[i] = person(src, rows.Data[i*a.Features:(i+1)*a.Features])
	}
	exact := func(data *matrix.Dense, of []float64) []float64 {
		s := measure.Must(erm.Minimize(&erm.Problem{Rows: data, Labels: of, Loss: loss.Logistic{}, Lambda: 0.01},
			&erm.Settings{Tolerance: 1e-6, Workers: 1}))
		return s.Theta
	}
	theta := exact(rows, labels) // what the attacker would see of records like these
	margins := make([]float64, rows.N)
	rows.Margins(margins, theta, 0, rows.N)
	floats.Mul(margins, labels)
	typical := floats.Sum(margins) / float64(rows.N)
	return attack(a.Trials, claim, src, func(isIn bool, src *noise.Seeded) (float64, error) {
		x := make([]float64, a.Features)
		y := person(src, x)
		data, of := rows, labels
		if isIn {
			data, of = with(rows, x), append(append([]float64(nil), labels...), y)
		}
		if a.Epsilon > 0 {
			return y * floats.Dot(x, measure.Released(m, data, of, src)), nil
		}
		return -math.Abs(y*floats.Dot(x, exact(data, of)) - typical), nil
	})
}

// Membership is an attack: Tracing or FitAttack.
type Membership interface {
	Scores() (in, out []float64, claim privacy.Profile, err error)
}

// AttackFigure draws the curves of an attack on what is exact and on what is private.
func AttackFigure(title string, exact, private Membership) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	var arms []Arm
	var claim privacy.Profile
	for _, m := range []Membership{exact, private} {
		in, out, held, err := m.Scores()
		measure.Try(err)
		curve := measure.Must(audit.Attack(in, out, 0.99, held))
		name := "exact"
		if held != nil {
			name, claim = "private", held
		}
		arms = append(arms, Arm{name, curve})
	}
	return CurvesFigure(title, claim, arms...), nil
}

// Arm is a curve with its name.
type Arm struct {
	Name  string
	Curve audit.Curve
}

// leastShare is where the axes of a curve begin.
const leastShare = 1e-3

// CurvesFigure draws curves of attacks on logarithmic axes, where few false alarms are seen, with their bands, what the
// claim allows (dashed), and what guessing does.
func CurvesFigure(title string, claim privacy.Profile, arms ...Arm) *figure.Figure {
	f := figure.New(title, "false alarms: share of strangers taken to be in", "share of members found")
	f.LogX(1e-3, 1e-2, 0.1, 1).LogY(1e-3, 1e-2, 0.1, 1).XRange(leastShare, 1).YRange(leastShare, 1)
	colors := []figure.Color{figure.Orange, figure.Blue, figure.Green}
	f.Alt = "Share of members found against the share of false alarms, on logarithmic axes."
	line := 0
	legend := func(text string, c figure.Color) { // at the lower right, where no curve is
		f.Note(text, 0.055, 0.011*math.Pow(0.58, float64(line)), c)
		line++
	}
	for i, a := range arms {
		var x, y, lo, hi []float64
		for _, p := range a.Curve.Points {
			if q := p.FalsePositive.Estimate; q >= leastShare && p.Power.Estimate >= leastShare &&
				(len(x) == 0 || q < x[len(x)-1]) {
				x, y = append(x, p.FalsePositive.Estimate), append(y, p.Power.Estimate)
				lo, hi = append(lo, math.Max(leastShare, p.Power.Lower)), append(hi, p.Power.Upper)
			}
		}
		if len(x) == 0 {
			continue
		}
		c := colors[i%len(colors)]
		f.Band(x, lo, hi, c).Dots("", x, y, c)
		legend("● "+a.Name, c)
		f.Alt += fmt.Sprintf(" %s: at %.2g of false alarms %.2g are found.", a.Name, x[len(x)-1], y[len(y)-1])
	}
	q := figure.Geometric(leastShare, 1, 60)
	if claim != nil {
		f.Dashed("", q, audit.Allowed(claim, q), figure.Gray)
		legend("dashed: all that is allowed", figure.Gray)
	}
	f.Line("", q, q, figure.Gray)
	legend("line: guessing", figure.Gray)
	return f
}

// LossesFigure draws δ(ε) as estimated from exact privacy losses in a direction, with intervals of 99 % each, beside
// the claim (dashed).
func LossesFigure(title string, claim privacy.Profile, dir privacy.Direction, epsilons []float64, draws int,
	seed uint64, names []string, laws ...audit.Law) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	f := figure.New(title, "ε", "δ(ε)")
	f.Alt = "δ against ε: what is claimed, and what losses of real neighbours show."
	colors := []figure.Color{figure.Blue, figure.Orange, figure.Green}
	src := noise.NewSeeded(seed)
	for i, law := range laws {
		losses := measure.Must(audit.Losses(law, dir, draws, 0, src.Stream(i)))
		var y, lo, hi []float64
		for k, eps := range epsilons {
			iv := audit.DeltaOfLosses(losses, eps, 0.99, src.Stream(1000+100*i+k))
			y, lo, hi = append(y, iv.Estimate), append(lo, iv.Lower), append(hi, iv.Upper)
		}
		f.Band(epsilons, lo, hi, colors[i%3]).Line(names[i], epsilons, y, colors[i%3])
	}
	return f.Dashed("claimed", epsilons, figure.Values(epsilons,
		func(eps float64) float64 { return privacy.ExpUp(claim.LogDeltaUpper(dir, eps)) }), figure.Gray), nil
}

// ManyCanaries is an audit of one run of the private means of Tracing, each person being a canary, with a part of the
// noise that ε asks for: 1 is sound.
func ManyCanaries(canaries, questions int, epsilon, part float64) (_ audit.OneRun, _ privacy.Profile, err error) {
	defer measure.Catch(&err)
	m, claim := measure.Must2(answers(questions, epsilon, 1e-5))
	m.Scale *= part
	return audit.OneRun{
		Mechanism: m, Base: audit.Data{Rows: matrix.NewDense(0, questions, nil)}, Guesses: canaries / 4,
		Canaries: audit.Data{Rows: people(canaries, questions, noise.NewSeeded(9)), Labels: make([]float64, canaries)},
		Score: func(r *mechanism.Release, x []float64, _ float64) float64 {
			return floats.Dot(x, r.Coefficients[1:]) // after the count
		},
	}, claim, nil
}
