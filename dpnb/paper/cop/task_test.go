package cop

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// Smoothed losses: gradients and Hessians against differences, values against means of draws, and the gap that is
// claimed.
func TestSmoothLosses(t *testing.T) {
	src := noise.NewSeeded(3)
	u, v := make([]float64, 3), make([]float64, 3)
	g, h, other := make([]float64, 3), make([]float64, 9), make([]float64, 3)
	for _, f := range []Bent{Medians{}, Largest{}} {
		for _, width := range []float64{0.3, 1} {
			for range 20 {
				src.Gaussian(u, 1.5)
				bent := f.Slope(other, u)
				for name, s := range map[string]Smooth{"blur": f.Blur(width), "envelope": f.Envelope(width)} {
					value := s.Bend(g, h, u)
					if gap := value - bent; gap < -s.Gap(3)-1e-12 || gap > s.Gap(3)+1e-12 ||
						(gap > 1e-12) == (name == "envelope") && !(math.Abs(gap) <= 1e-8) {
						t.Errorf("%s of %s: off by %.3g, claimed %.3g", name, f.Name(), gap, s.Gap(3))
					}
					const e = 1e-5
					for j, x := range u {
						u[j] = x + e
						above := s.Bend(other, nil, u)
						copy(v, other)
						u[j] = x - e
						below := s.Bend(other, nil, u)
						u[j] = x
						if !(math.Abs((above-below)/(2*e)-g[j]) <= 1e-7) {
							t.Errorf("%s of %s: slope", name, f.Name())
						}
						for l := range u {
							if !(math.Abs((v[l]-other[l])/(2*e)-h[3*j+l]) <= 1e-6) {
								t.Errorf("%s of %s: Hessian %d, %d", name, f.Name(), j, l)
							}
						}
					}
				}
			}
			var mean measure.Mean
			for range 40_000 {
				src.Gaussian(v, width)
				for j := range v {
					v[j] += u[j]
				}
				mean.Add(f.Slope(other, v))
			}
			if got := f.Blur(width).Bend(g, nil, u); !(math.Abs(got-mean.M) <= 5*mean.Err()) {
				t.Errorf("%s blurred: %.5f, by draws %.5f ± %.5f", f.Name(), got, mean.M, mean.Err())
			}
		}
	}
}

// The minimiser is one: its certificate is small, and no point around it has less risk. The population's minimiser is
// θ⋆.
func TestMinimiserIsCertified(t *testing.T) {
	for _, d := range []Design{{Loss: Medians{}, Dimension: 5}, {Loss: Largest{}, Dimension: 10},
		{Loss: Medians{}, Dimension: 5, Fixed: true}} {
		r := d.Draw(200, noise.NewSeeded(4))
		best, err := r.Best()
		if err != nil || !(best.Gap >= 0 && best.Gap < 1e-5) {
			t.Fatalf("%+v: gap %g, %v", d, best.Gap, err)
		}
		src, step := noise.NewSeeded(5), make([]float64, d.Dimension)
		for _, size := range []float64{1e-3, 1e-2, 0.1} {
			for range 30 {
				src.Gaussian(step, size)
				for j := range step {
					step[j] += best.Theta[j]
				}
				if lower := best.Risk - r.Risk(step); lower > best.Gap {
					t.Errorf("%+v: a risk %g less than the minimum", d, lower)
				}
			}
		}
		p := d.Population(noise.NewSeeded(6))
		theta := d.Star()
		for j := range theta {
			theta[j] += 0.01
			if p.Relative(theta) < 0 {
				t.Errorf("%+v: less risk than at θ⋆", d)
			}
			theta[j] -= 0.01
		}
	}
	c := mat.NewDense(3, 5, nil)
	for i := range Centre {
		c.SetRow(i, Centre[i][:])
	}
	if norm := spectral(c); norm > fixedNorm || norm < fixedNorm*(1-1e-6) {
		t.Errorf("‖Centre‖₂ = %v", norm)
	}
	r, bound, at := (Design{Loss: Medians{}, Dimension: 10}).Draw(200, noise.NewSeeded(7)), 4*math.Sqrt2, 0
	for i := range 200 {
		a, _ := r.record(i)
		// Of AAᵀ, by its eigenvalues.
		var gram mat.SymDense
		gram.SymOuterK(1, mat.NewDense(3, 10, a))
		var e mat.EigenSym
		if !e.Factorize(&gram, false) {
			t.Fatal("no eigenvalues")
		}
		norm := math.Sqrt(e.Values(nil)[2])
		if norm > bound*(1+1e-12) {
			t.Fatalf("‖A‖₂ = %v", norm)
		}
		if norm > bound*(1-1e-9) {
			at++
		}
	}
	// No record is scaled that need not be: ‖A‖_F exceeds the bound in three of four.
	if at < 5 || at > 80 {
		t.Errorf("%d of 200 records are at the bound", at)
	}
}

// A step of AccountedSGD takes each record with probability 1/n.
func TestSampleIsPoisson(t *testing.T) {
	r := &Records{N: 4}
	src := noise.NewSeeded(8)
	const draws = 40_000
	var counts [5]float64
	var each [4]float64
	for range draws {
		index := r.sample(nil, src)
		counts[len(index)]++
		for _, i := range index {
			each[i]++
		}
	}
	for k, c := range counts {
		choose := []float64{1, 4, 6, 4, 1}[k]
		p := choose * math.Pow(0.25, float64(k)) * math.Pow(0.75, float64(4-k))
		if !(math.Abs(c-draws*p) <= 5*math.Sqrt(draws*p)) {
			t.Errorf("%d records %g times, want %g", k, c, draws*p)
		}
	}
	for i, c := range each {
		if !(math.Abs(c-draws/4) <= 5*math.Sqrt(draws/4)) {
			t.Errorf("record %d is in %g samples", i, c)
		}
	}
}

// The experiment does not depend on the number of workers, and descent at ε = ∞ would find the minimum: at ε = 50 it is
// near.
func TestExperimentIsReproducible(t *testing.T) {
	defer measure.Fatal(t)
	e := Experiment{Designs: []Design{{Loss: Medians{}, Dimension: 5}}, Counts: []int{100}, Epsilons: []float64{1, 50},
		Arms: []Arm{Descent(), FrontDoor(), Printed(), Corrected(), Moreau()}, Runs: 4, Seed: 9, Workers: 1}
	one := measure.Must(e.Run(context.Background()))
	e.Workers = 3
	three := measure.Must(e.Run(context.Background()))
	for i, p := range one {
		for k, v := range p.Empirical.Scores {
			if v != three[i].Empirical.Scores[k] || p.Relative.Scores[k] != three[i].Relative.Scores[k] {
				t.Errorf("%s at ε = %g depends on the workers", p.Arm, p.Epsilon)
			}
			if v < -1e-5 {
				t.Errorf("%s: an excess of %g", p.Arm, v)
			}
		}
	}
	for _, p := range one[len(one)/2 : len(one)/2+2] {
		if !(p.Empirical.Mean < 0.02) {
			t.Errorf("%s at ε = 50: excess %g", p.Arm, p.Empirical.Mean)
		}
	}
}
