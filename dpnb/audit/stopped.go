package audit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Stopped is Algorithm 1 of rkw23 on two neighbours, run as it is: Z has the records of Rows and Labels, Z′ one more,
// (Extra, ExtraLabel). What it measures is held against what Mechanism claims.
type Stopped struct {
	Mechanism  objpert.Objective
	Rows       *matrix.Dense
	Labels     []float64
	Extra      []float64
	ExtraLabel float64
	// Pushed stops the solver at the worst point that Mechanism.Tolerance admits: where ∇J = ∓τx̂ on Z and ±τx̂ on Z′,
	// x̂ the direction of Extra, so that the two push apart. That is the exact minimiser for b ± τx̂, which is how it
	// is found. Otherwise the mechanism's own solver stops where it stops.
	Pushed bool
}

// run returns what the mechanism releases, with shift added to b.
func (s *Stopped) run(m objpert.Objective, rows *matrix.Dense, labels, shift []float64, src *noise.Seeded) ([]float64,
	error) {
	if !s.Pushed {
		r, err := m.Run(rows, labels, src, &mechanism.Settings{Workers: 1})
		if err != nil {
			return nil, err
		}
		return r.Coefficients, nil
	}
	draw := noise.Exact(src)
	p := erm.Problem{Rows: rows, Labels: labels, Loss: m.Loss, Lambda: m.Lambda, Shrinkage: m.Shrink(len(shift)),
		Linear: make([]float64, len(shift))}
	draw.FillNormal(p.Linear, m.Sigma)
	floats.Add(p.Linear, shift)
	sol, err := erm.Minimize(&p, &erm.Settings{Tolerance: m.Tolerance * 1e-7, Workers: 1})
	if err != nil {
		return nil, err
	}
	draw.AddRounded(sol.Theta, m.OutputSigma, exact.Grid(m.OutputSigma))
	return sol.Theta, nil
}

// data returns the records of Z′ (with) or Z.
func (s *Stopped) data(with bool) (*matrix.Dense, []float64) {
	if !with {
		return s.Rows, s.Labels
	}
	n, d := s.Rows.Dims()
	return matrix.NewDense(n+1, d, append(slices.Clone(s.Rows.Data), s.Extra...)),
		append(slices.Clone(s.Labels), s.ExtraLabel)
}

// Sample runs the mechanism count times on Z′ (with) or Z and returns what it releases along Extra: x̂ᵀθ. Run k draws
// from stream k of src.
//
// Errors: as objpert.Objective.Run.
func (s *Stopped) Sample(with bool, count int, src *noise.Seeded) ([]float64, error) {
	rows, labels := s.data(with)
	m := s.Mechanism
	direction := slices.Clone(s.Extra)
	floats.Scale(1/floats.Norm(direction, 2), direction)
	shift := make([]float64, len(direction))
	if s.Pushed {
		// The slope of the extra record says which way it pushes.
		slope := []float64{0}
		m.Loss.ValueSlope(slope, []float64{0}, []float64{s.ExtraLabel})
		size := math.Copysign(m.Tolerance, slope[0])
		if !with {
			size = -size
		}
		floats.AddScaled(shift, size, direction)
	}
	out := make([]float64, count)
	err := parallel.For(context.Background(), count, 0, func(_, k int) error {
		theta, err := s.run(m, rows, labels, shift, src.Stream(k))
		if err == nil {
			out[k] = floats.Dot(theta, direction)
		}
		return err
	})
	return out, err
}

// EpsilonLower returns a lower bound on the ε of Mechanism at δ that holds with probability at least level over the
// draws: with P and Q the laws of the release on the two neighbours and S a set of releases,
//
//	P(S) ≤ e^ε Q(S) + δ,  so  ε ≥ ln (P(S) − δ)/Q(S),
//
// with P(S) replaced by its lower and Q(S) by its upper Clopper–Pearson bound. S is a half-space across Extra, chosen
// by a tenth of the draws, which are thrown away. It is the better of both directions, which share 1 − level.
//
// Errors: *privacy.ParamError for δ, samples or level out of range; as Sample.
func (s *Stopped) EpsilonLower(delta float64, samples int, level float64, src *noise.Seeded) (float64, error) {
	if err := cmp.Or(deltaBelowOne("delta", delta), privacy.Within(samples >= 100, "samples", samples, "at least 100"),
		privacy.Fraction("level", level)); err != nil {
		return 0, err
	}
	with, err := s.Sample(true, samples, src.Stream(0))
	if err != nil {
		return 0, err
	}
	without, err := s.Sample(false, samples, src.Stream(1))
	if err != nil {
		return 0, err
	}
	level = 1 - (1-level)/2
	return math.Max(thresholdEpsilon(with, without, delta, level), thresholdEpsilon(without, with, delta, level)), nil
}

// thresholdEpsilon is the bound from draws of P and of Q, S being a half-line.
func thresholdEpsilon(p, q []float64, delta, level float64) float64 {
	pilot := len(p) / 10
	sign := 1.0
	if floats.Sum(p[:pilot]) < floats.Sum(q[:pilot]) {
		sign = -1
	}
	bound := func(p, q []float64, cut float64) float64 {
		low := ClopperPearson(above(p, sign, cut), len(p), level).Lower - delta
		if low <= 0 {
			return 0
		}
		return math.Log(low / ClopperPearson(above(q, sign, cut), len(q), level).Upper)
	}
	// The cut that is best in the pilot, with counts as if it were all.
	best, cut := math.Inf(-1), 0.0
	for k := range 60 {
		// Quantiles of P, from the upper end in steps of a tenth.
		share := 0.9 * math.Pow(0.9, float64(k))
		c := quantile(p[:pilot], sign, share)
		pc, qc := float64(above(p[:pilot], sign, c))/float64(pilot), float64(above(q[:pilot], sign, c))/float64(pilot)
		// What the rest will probably show: two standard errors on either side.
		n := float64(len(p) - pilot)
		low := pc - 2*math.Sqrt(pc*(1-pc)/n) - delta
		if v := math.Log(low / (qc + 2*math.Sqrt(qc*(1-qc)/n) + 4/float64(pilot))); low > 0 && v > best {
			best, cut = v, c
		}
	}
	return math.Max(0, bound(p[pilot:], q[pilot:], cut))
}

// above counts the draws with sign·x > sign·cut.
func above(x []float64, sign, cut float64) (k int) {
	for _, v := range x {
		if sign*v > sign*cut {
			k++
		}
	}
	return k
}

// quantile returns the point beyond which, in the direction of sign, lies about the given share of x.
func quantile(x []float64, sign, share float64) float64 {
	y := slices.Clone(x)
	slices.Sort(y)
	k := int(share * float64(len(y)))
	if sign > 0 {
		k = len(y) - k
	}
	return y[min(max(k, 0), len(y)-1)]
}
