package audit

import (
	"context"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func search(lambda, sigma, eps, claimed float64, dir privacy.Direction) Search {
	return Search{Loss: loss.Logistic{}, Labels: []float64{-1, 1}, RowNorm: 1, Lambda: lambda, Sigma: sigma,
		Epsilon: eps, Direction: dir, Claimed: claimed, Regulariser: true, Steps: steps()}
}

// steps are as many as find what there is; all of those where every test was asked for.
func steps() int {
	if testscale.Full() {
		return 1200
	}
	return 400
}

// The search must find a counterexample to a claim that is too small, and none to one that holds.
func TestSearch(t *testing.T) {
	testscale.InTurn(t)
	ctx := context.Background()
	gauss := privacy.DeltaUpper(privacy.GaussianProfile(0.5, privacy.AddRemove), 1)
	p := must.Get(privacy.HalfNormal{K: math.Ln2 /* s/λ = 1 */, A: 0.5}.Profile(privacy.AddRemove))
	// λ = 0.25, σ = 2, ε = 1: the worst case in the remove direction is 1.00e-2, the Gaussian mechanism has 6.83e-3 and
	// DTZ24 allows 1.89e-1.
	f, err := search(0.25, 2, 1, gauss, privacy.Remove).Run(ctx, noise.NewSeeded(1))
	t.Log(f)
	if err != nil || f.Ratio < 1.2 {
		t.Errorf("against the Gaussian's δ: %+v, %v", f, err)
	}
	short := search(0.25, 2, 1, gauss, privacy.Remove)
	short.Steps = 80
	once, _ := short.Run(ctx, noise.NewSeeded(1))
	if again, _ := short.Run(ctx, noise.NewSeeded(1)); again != once {
		t.Errorf("a rerun gives %+v, not %+v", again, once)
	}
	if f.Exact > 1.01e-2 {
		t.Errorf("exact δ %v above the worst case 1.00e-2", f.Exact)
	}
	if f, _ := search(0.25, 2, 1, privacy.DeltaUpper(p, 1), privacy.Remove).Run(ctx, noise.NewSeeded(1)); f.Ratio > 1 {
		t.Errorf("DTZ24 is broken: %+v", f)
	}
	// One-signed losses: the add direction is exactly the Gaussian's.
	if f, _ := search(0.25, 2, 1, gauss, privacy.Add).Run(ctx, noise.NewSeeded(1)); f.Ratio > 1+1e-9 || f.Ratio < 0.95 {
		t.Errorf("add direction: %+v", f)
	}
}

// What both sides have in common is the mean of their covariances, of the numbers that differ at all.
func TestPooled(t *testing.T) {
	var sides [2][][]float64
	for side := range sides {
		for _, v := range [][2]float64{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}} {
			spread := 1 + 2*float64(side)
			sides[side] = append(sides[side], []float64{spread * v[0], 7, 10*v[1] + float64(side)})
		}
	}
	s := newMoments(sides[0], sides[1], func(v, _, _ float64) float64 { return v }).pooled()
	// Of four records ±a the variance is 4a²/3.
	for i, want := range []float64{(1 + 9) / 2.0 * 4 / 3, 100 * 4 / 3.0} {
		if !(math.Abs(s.At(i, i)/want-1) <= 2e-5) || s.At(0, 1) != 0 || s.SymmetricDim() != 2 {
			t.Errorf("variance %v, want %v, covariance %v", s.At(i, i), want, s.At(0, 1))
		}
	}
}

// Where few different releases were seen the score of each is the logarithm of the ratio of how often, one more half
// for each side; where nearly all differ there is none.
func TestFrequencies(t *testing.T) {
	p, q := [][]float64{{1, 2}, {1, 2}, {3, 4}}, [][]float64{{3, 4}, {3, 4}, {3, 4}}
	for range 2 {
		p, q = append(p, p...), append(q, q...)
	}
	s, ok := frequencies(p, q)
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{1, 2}, math.Log(8.5 / 0.5)}, {[]float64{3, 4}, math.Log(4.5 / 12.5)}, {[]float64{2, 1}, 0}} {
		if !ok || !(math.Abs(s.of(c.x)-c.want) <= 1e-12) {
			t.Errorf("%v scores %v, want %v", c.x, s.of(c.x), c.want)
		}
	}
	if _, ok := frequencies(p[:3], q[:4]); ok {
		t.Error("two of seven releases differ: too many")
	}
	if _, ok := frequencies(p[:4], q[:4]); !ok {
		t.Error("two of eight releases differ: few enough")
	}
}

// The starts that let the predictor fall, to one side and to the other, are mirror images: what they show of a record x
// and of −x is the same.
func TestStartsAreMirrorImages(t *testing.T) {
	s := search(0.25, 2, 1, 1, privacy.Remove)
	right, left := s.start(4, nil), s.start(5, nil)
	left.extra = -left.extra
	if a, b := s.evaluate(right).Exact, s.evaluate(left).Exact; !(a > 1e-6 && math.Abs(a/b-1) <= 1e-9) {
		t.Errorf("δ = %v to one side, %v to the other", a, b)
	}
}
