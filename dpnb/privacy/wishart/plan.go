package wishart

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Plan is a setting with its hidden dimension, a split and the noise, chosen to make the bound on the excess risk
// small.
type Plan struct {
	Setting Setting
	Split   Split
	Noise   Noise
	// Risk bounds the expected excess risk.
	Risk float64
}

// Event returns the event of a release by the plan.
func (p Plan) Event() Event {
	return Event{Setting: p.Setting, Split: p.Split, Sigma2: p.Noise.Sigma2, SigmaOut: p.Noise.SigmaOut}
}

// Optimise returns the plan for (ε, δ) that minimises ExcessRisk over the split and over m, where s.M is zero; a
// positive s.M is kept. What it returns satisfies (ε, δ) whether or not the search found the minimum.
//
// Errors: as Setting.Noise; *privacy.ParamError for ε, δ or r.
func Optimise(s Setting, eps, delta float64, r Risk) (Plan, error) {
	p, err := optimise(s, eps, delta, r, func(s Setting, split Split) (Noise, float64) {
		// A coarse σ² is larger than it must be, and as private.
		n := s.noise(split, 1e-3)
		return n, s.ExcessRisk(n, r)
	})
	if err != nil {
		return p, err
	}
	p.Noise = p.Setting.noise(p.Split, 1e-9)
	p.Risk = p.Setting.ExcessRisk(p.Noise, r)
	return p, nil
}

// optimisePrinted is Optimise for Theorem 3.1 and Theorem 3.3 (or Corollary 3.4) exactly as they are printed: what the
// paper's Figure 1 shows.
func optimisePrinted(s Setting, eps, delta float64, r Risk) (Plan, error) {
	s.Accounting, s.Shift = Theorem31, 0
	return optimise(s, eps, delta, r, func(s Setting, split Split) (Noise, float64) {
		n := s.printed(split)
		return n, s.PrintedExcessRisk(n, r)
	})
}

type objective func(Setting, Split) (Noise, float64)

func optimise(s Setting, eps, delta float64, r Risk, f objective) (Plan, error) {
	fixed := s.M > 0
	if !fixed {
		s.M = s.D + 1
	}
	if err := cmp.Or(s.Validate(), privacy.Within(eps > 0 && eps < 1e3, "Epsilon", eps, "a number in (0, 1000)"),
		privacy.Fraction("Delta", delta)); err != nil {
		return Plan{}, err
	}
	if err := cmp.Or(privacy.Within(r.Records >= 1 || s.exact(), "Records", r.Records, "at least 1"),
		privacy.Positive("Distance", r.Distance),
		privacy.NotNegative("RegulariserSlope", r.RegulariserSlope)); err != nil {
		return Plan{}, err
	}
	// ε and δ are what a person typed; sums of shares may round up.
	eps, delta = eps*(1-1e-13), delta*(1-1e-13)
	o := &planner{eps: eps, delta: delta, f: f, seen: map[int]Plan{}}
	if fixed {
		return o.result(s, o.at(s))
	}
	// The bound falls steeply with m at first and rises slowly in the end.
	best := o.at(s)
	for gap := 2; gap < 1<<16; gap *= 2 {
		t := s
		t.M = s.D + gap
		if p := o.at(t); p.Risk < best.Risk {
			best = p
		} else if gap > 2*s.D+32 && p.Risk > 1.3*best.Risk {
			break
		}
	}
	for step := max(1, (best.Setting.M-s.D)/2); ; {
		moved := false
		for _, m := range []int{best.Setting.M - step, best.Setting.M + step} {
			if m <= s.D {
				continue
			}
			t := s
			t.M = m
			if p := o.at(t); p.Risk < best.Risk {
				best, moved = p, true
			}
		}
		if !moved {
			// A twelfth of m − d moves the bound by less than a hundredth.
			if step <= max(1, (best.Setting.M-s.D)/12) {
				break
			}
			step = max(1, step/2)
		}
	}
	return o.result(s, best)
}

// planner remembers the best split for each m and where the last one was.
type planner struct {
	eps, delta float64
	f          objective
	seen       map[int]Plan
	start      []float64
}

func (o *planner) result(s Setting, p Plan) (Plan, error) {
	if !(p.Risk < math.Inf(1)) {
		return p, fmt.Errorf("%w: no finite noise gives (ε = %g, δ = %g) at d = %d; take a larger ε or δ",
			privacy.ErrUnsupported, o.eps, o.delta, s.D)
	}
	return p, nil
}

// at returns the best split at one m, by Nelder and Mead's method from where the search for another m ended, or from
// several starts.
func (o *planner) at(s Setting) Plan {
	if p, ok := o.seen[s.M]; ok {
		return p
	}
	best := Plan{Setting: s, Risk: math.Inf(1)}
	try := func(x []float64) float64 {
		split := s.split(x, o.eps, o.delta)
		if split.validate(s) != nil {
			return 1e4 // a share that is rounded to nothing
		}
		n, risk := o.f(s, split)
		if math.IsNaN(risk) {
			risk = math.Inf(1)
		}
		if risk < best.Risk {
			best = Plan{Setting: s, Split: split, Noise: n, Risk: risk}
		}
		return math.Min(math.Log(risk), 1e4)
	}
	shares := s.shares()
	if shares == 0 {
		try(nil)
		o.seen[s.M] = best
		return best
	}
	var starts [][]float64
	if o.start != nil {
		starts = [][]float64{o.start}
	} else {
		for _, v := range []float64{-1, 1} {
			x := make([]float64, shares)
			for i := range x {
				x[i] = v * float64(1-2*(i%2))
			}
			starts = append(starts, x)
		}
		starts = append(starts, make([]float64, shares))
	}
	low := math.Inf(1)
	for _, x := range starts {
		res, err := optimize.Minimize(optimize.Problem{Func: try}, x,
			&optimize.Settings{FuncEvaluations: 60 * shares, Converger: &optimize.FunctionConverge{Absolute: 1e-5,
				Iterations: 8 * shares}},
			&optimize.NelderMead{})
		if res != nil && (err == nil || len(res.X) == shares) && res.F < low {
			low = res.F
			o.start = append([]float64(nil), res.X...)
		}
	}
	o.seen[s.M] = best
	return best
}

// shares returns how many numbers a split of the setting has to choose.
func (s Setting) shares() int {
	switch a := s.accounting(); {
	case s.needsStretch():
		return 4
	case !s.exact():
		return 3
	case a == Theorem31:
		return 1
	}
	return 0
}

// split turns unconstrained numbers into a split: x₀ is the logit of ε₂/ε, the others are the logarithms of δ₂, δ₃ and
// δ₄ over δ₁. For an exact setting there is only δ₃ over δ₁.
func (s Setting) split(x []float64, eps, delta float64) Split {
	logit := func(v float64) float64 { return 1 / (1 + math.Exp(-math.Max(-40, math.Min(40, v)))) }
	weight := func(v float64) float64 { return math.Exp(math.Max(-30, math.Min(30, v))) }
	switch len(x) {
	case 0:
		if s.needsSpectrum() { // by spectral accounting only the sum of δ₁ and δ₃ counts
			return Split{Epsilon1: eps, Delta1: delta / 2, Delta3: delta / 2}
		}
		return Split{Epsilon1: eps, Delta1: delta}
	case 1:
		w := logit(x[0])
		return Split{Epsilon1: eps, Delta1: delta * (1 - w), Delta3: delta * w}
	}
	share := logit(x[0] - 2)
	w := [4]float64{1, weight(x[1]), weight(x[2]), 0}
	if len(x) == 4 {
		w[3] = weight(x[3])
	}
	sum := w[0] + w[1] + w[2] + w[3]
	return Split{
		Epsilon1: eps * (1 - share), Epsilon2: eps * share,
		Delta1: delta * w[0] / sum, Delta2: delta * w[1] / sum, Delta3: delta * w[2] / sum, Delta4: delta * w[3] / sum,
	}
}

// FigurePoint is one point of the paper's Figure 1.
type FigurePoint struct {
	Epsilon, Delta float64
	// Exact is the smallest bound of Corollary 3.4, Inexact that of Theorem 3.3.
	Exact, Inexact Plan
}

// Figure1 returns the data of the paper's Figure 1: Figure1At at τ = η = 0 (Exact) and τ = η = 0.001 (Inexact).
func Figure1(epsilons, deltas []float64, best bool, structure Structure) (out []FigurePoint, err error) {
	for _, eps := range epsilons {
		for _, delta := range deltas {
			p := FigurePoint{Epsilon: eps, Delta: delta}
			if p.Exact, err = Figure1At(eps, delta, 0, best, structure); err != nil {
				return nil, err
			}
			if p.Inexact, err = Figure1At(eps, delta, 1e-3, best, structure); err != nil {
				return nil, err
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// Figure1At returns the printed bound of the paper's Figure 1 minimised over all free parameters: d = 12, n = 10,
// L = 1, ‖θ_exact − θ⋆‖² ≤ 1, ρ = 1, G = 1, anchor and solver off by τ = η = off. With best, the sharpest accounting of
// the structure and the sharper bounds take its place.
func Figure1At(eps, delta, off float64, best bool, structure Structure) (Plan, error) {
	solve := optimisePrinted
	if best {
		solve = Optimise
	}
	return solve(Setting{Wishart: Wishart{D: 12}, Smoothness: 1, Rank: 1, Structure: structure, AnchorError: off,
		Accuracy: off}, eps, delta, Risk{Records: 10, Distance: 1, RegulariserSlope: 1})
}
