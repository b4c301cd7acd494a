package audit

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Search looks for neighbours whose exact δ(ε) comes as close as possible to a claimed one, or above it.
type Search struct {
	Loss          loss.Loss
	Labels        []float64 // labels that the loss admits and that are tried
	RowNorm       float64
	Lambda, Sigma float64
	Epsilon       float64
	Direction     privacy.Direction
	// Claimed is the claimed δ(ε).
	Claimed float64
	// Regulariser allows data-independent convex regularisers besides records.
	Regulariser bool
	// Steps of the search; zero means 400.
	Steps int
}

// Found is the closest that a search came.
type Found struct {
	// Ratio is exact/claimed; above 1 is a counterexample.
	Ratio, Exact float64
	// Data describes the neighbours.
	Data string
}

const (
	searchRecords = 4
	searchCells   = 1000
	// A ratio of masses below this is rounding.
	searchFloor = 1e-13
)

// candidate is a point of the search, in coordinates of about unit size.
type candidate struct {
	x, weight [searchRecords]float64 // weights as logarithms; below 0 is none
	label     [searchRecords]int
	extra     float64
	tilt      float64
	kink      [2][3]float64 // height (log), place, width (log) of a smooth step in r′
}

// Run searches from several starts, the known bad cases among them, by accepted random steps. Deterministic for a
// source.
func (s Search) Run(ctx context.Context, src *noise.Seeded) (Found, error) {
	steps := cmp.Or(s.Steps, 400)
	var best Found
	for start := range 8 {
		rng := src.Stream(start)
		c := s.start(start, rng)
		f := s.evaluate(c)
		for k := range steps / 8 {
			if err := ctx.Err(); err != nil {
				return best, err
			}
			next := s.step(c, rng, 0.5*math.Pow(0.02, float64(k)/float64(steps/8)))
			if g := s.evaluate(next); g.Ratio >= f.Ratio {
				c, f = next, g
			}
		}
		if f.Ratio > best.Ratio {
			best = f
		}
	}
	return best, nil
}

// start returns the beginning of a search: no other records; many that push the predictor up or down; opposing ones;
// then random ones.
func (s Search) start(k int, rng *noise.Seeded) candidate {
	c := candidate{extra: 1}
	for i := range c.weight {
		c.weight[i] = -1
		c.x[i] = 1
	}
	for i := range c.kink {
		c.kink[i] = [3]float64{-3, 0, 0}
	}
	switch k {
	case 0:
	case 1, 2:
		c.weight[0], c.label[0] = 3, k-1
	case 4, 5:
		// A kink holds the predictor at one place for a wide range of the noise; beyond it nothing but the ridge does,
		// so that it falls freely.
		c.kink[0] = [3]float64{1.5, 0, 4}
		c.tilt = math.Exp(1.5) * float64(9-2*k)
	case 3:
		c.weight[0], c.weight[1], c.label[1] = 2, 2, 1
	default:
		c = s.step(c, rng, 2)
	}
	return c
}

// step moves a few coordinates: to move all at once would undo most of what is good about a candidate.
func (s Search) step(c candidate, rng *noise.Seeded, size float64) candidate {
	move := func(x *float64, scale float64) {
		if rng.Float64() < 0.25 {
			*x += scale * size * rng.NormFloat64()
		}
	}
	for i := range c.x {
		move(&c.x[i], 0.5)
		move(&c.weight[i], 1)
		if rng.Float64() < 0.05 {
			c.label[i] = rng.IntN(len(s.Labels))
		}
	}
	if rng.Float64() < 0.1 {
		c.extra = -c.extra
	}
	move(&c.extra, 0.3)
	move(&c.tilt, 2)
	for i := range c.kink {
		move(&c.kink[i][0], 1)
		move(&c.kink[i][1], 1)
		move(&c.kink[i][2], 2)
	}
	return c
}

func (s Search) evaluate(c candidate) Found {
	clamp := func(x float64) float64 { return s.RowNorm * math.Max(-1, math.Min(1, x)) }
	n := &Scalar{Loss: s.Loss, ExtraX: clamp(c.extra), ExtraY: s.Labels[len(s.Labels)-1], Lambda: s.Lambda,
		Sigma: s.Sigma}
	for i, w := range c.weight {
		if w > 0 {
			n.X = append(n.X, clamp(c.x[i]))
			n.Y = append(n.Y, s.Labels[c.label[i]])
			n.Weights = append(n.Weights, math.Round(math.Exp(math.Min(w, 8))))
		}
	}
	text := fmt.Sprintf("%d groups of records", len(n.X))
	if s.Regulariser {
		n.Tilt = c.tilt * s.Sigma
		n.Regulariser = func(theta float64) float64 {
			var r float64
			for _, k := range c.kink {
				r += s.Sigma * math.Exp(math.Min(k[0], 6)) * math.Tanh((theta-2*k[1]/s.RowNorm)*math.Exp(math.Min(k[2],
					12)))
			}
			return r
		}
		text += " and a convex regulariser"
	}
	exact := n.delta(s.Direction, s.Epsilon, searchCells)
	if exact < searchFloor {
		exact = 0
	}
	f := Found{Ratio: exact / s.Claimed, Exact: exact, Data: text}
	if math.IsNaN(f.Ratio) {
		f.Ratio = 0 // nothing found against a claim of zero
		if exact > 0 {
			f.Ratio = math.Inf(1)
		}
	}
	return f
}
