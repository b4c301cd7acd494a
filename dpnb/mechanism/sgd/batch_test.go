package sgd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// plainRows hides of which kind rows are.
type plainRows struct{ matrix.Rows }

// simulated returns n records of d features, a share of which are not zero, with labels ±1.
func simulated(n, d int, share float64, seed uint64) (*matrix.Dense, []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	x, y := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		var t float64
		for j := range d {
			if rng.Float64() < share {
				x.Data[i*d+j] = rng.NormFloat64()
			}
			t += x.Data[i*d+j] * float64(j%3-1)
		}
		y[i] = 1
		if rng.Float64() > 1/(1+math.Exp(-2*t)) {
			y[i] = -1
		}
	}
	return x, y
}

// naive is Σ clip(∇ℓ) by the definition.
func naive(rows matrix.Rows, labels []float64, l loss.Loss, clip float64, theta []float64, index []int) []float64 {
	_, d := rows.Dims()
	sum, x := make([]float64, d), make([]float64, d)
	for _, i := range index {
		rows.Row(x, i)
		s := make([]float64, 1)
		l.ValueSlope(s, []float64{floats.Dot(x, theta)}, labels[i:i+1])
		floats.Scale(s[0], x)
		if norm := floats.Norm(x, 2); norm > clip {
			floats.Scale(clip/norm, x)
		}
		floats.Add(sum, x)
	}
	return sum
}

func TestBatchSumIsTheClippedSum(t *testing.T) {
	testscale.Slow(t)
	const n, d = 2500, 90
	rng := rand.New(rand.NewPCG(1, 1))
	for _, share := range []float64{0.1, 1} {
		dense, labels := simulated(n, d, share, 3)
		theta := make([]float64, d)
		for j := range theta {
			theta[j] = 0.3 * rng.NormFloat64()
		}
		huber := loss.Huber{Threshold: 2}
		for _, l := range []loss.Loss{loss.Logistic{}, loss.Squared{}, huber, loss.Clipped(loss.Squared{}, 1)} {
			for _, clip := range []float64{0.5, 3, 1e3} {
				for _, size := range []int{0, 1, 5, 700, n} {
					index := rng.Perm(n)[:size]
					want := naive(dense, labels, l, clip, theta, index)
					for name, rows := range map[string]matrix.Rows{"dense": dense, "sparse": dense.Sparse(),
						"other": plainRows{dense}} {
						var first []float64
						for _, workers := range []int{1, 2, 5} {
							got := make([]float64, d)
							newBatch(newRecords(rows, labels, clip), l, size, workers).sum(got, theta, index)
							what := fmt.Sprintf("share %v, %s, %s, C = %v, %d records, %d workers", share, name,
								l.Name(), clip, size, workers)
							if !floats.EqualApprox(got, want,
								1e-9*(1+floats.Norm(want, 2))+float64(size)*exact.Step(clip, 25)*math.Sqrt(d)) {
								t.Fatalf("%s: %v, want %v", what, got[:3], want[:3])
							}
							if first == nil {
								first = got
							} else if !floats.Equal(got, first) {
								t.Errorf("%s: another sum than with one worker", what)
							}
						}
					}
				}
			}
		}
	}
}

// TestNoGradientIsLongerThanC: alone in a batch, whatever θ is, also where it has run off to infinity, and for rows of
// any length.
func TestNoGradientIsLongerThanC(t *testing.T) {
	const d = 40
	rng := rand.New(rand.NewPCG(5, 1))
	dense, labels := simulated(60, d, 1, 4)
	for i := range 60 {
		floats.Scale(math.Pow(10, float64(i%13-6)), dense.Data[i*d:(i+1)*d])
	}
	for j := range d {
		dense.Data[j] *= 1e-190 // whose squares underflow
	}
	clear(dense.Data[d : 2*d])
	theta := make([]float64, d)
	reached := false
	for round := range 6 {
		for j := range theta {
			theta[j] = math.Pow(10, float64(round*30)) * rng.NormFloat64()
		}
		if round > 3 {
			theta[3], theta[7] = math.Inf(1), math.NaN()
		}
		for _, l := range []loss.Loss{loss.Logistic{}, loss.Squared{}} {
			for _, rows := range []matrix.Rows{dense, dense.Sparse()} {
				b := newBatch(newRecords(rows, labels, 0.7), l, 1, 1)
				got := make([]float64, d)
				for i := range 60 {
					b.sum(got, theta, []int{i})
					norm := floats.Norm(got, 2)
					if !(norm <= 0.7) {
						t.Errorf("%s, record %d, round %d: norm %v > C", l.Name(), i, round, norm)
					}
					reached = reached || norm > 0.7*(1-1e-6)
				}
			}
		}
	}
	if !reached {
		t.Error("no gradient is as long as C: nothing was tested")
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	dense, labels := simulated(3000, 30, 1, 9)
	sparse, few := simulated(3000, 30, 0.05, 9)
	for name, c := range map[string]struct {
		rows   matrix.Rows
		labels []float64
	}{"dense": {dense, labels}, "sparse": {sparse, few}} {
		for _, l := range []loss.Loss{loss.Logistic{}, loss.Clipped(loss.Squared{}, 1)} {
			r := newRecords(c.rows, c.labels, 1)
			run := func(steps int) float64 {
				m := Descent{Loss: l, Clip: 1, Rate: 0.1, Steps: steps, NoiseMultiplier: 1, PlannedRecords: 3000,
					Update: Adam{LearningRate: 0.01}, Average: 5}
				return testing.AllocsPerRun(3, func() { m.descend(r, noise.Exact(noise.NewSeeded(2)), 1) })
			}
			// The runtime allocates now and then; a step that did would 190 times.
			if short, long := run(10), run(200); long > short+20 {
				t.Errorf("%s, %s: %v allocations in 10 steps, %v in 200", name, l.Name(), short, long)
			}
		}
	}
}

// TestUpdates holds the rules against their definitions.
func TestUpdates(t *testing.T) {
	gradients := [][]float64{{1, -2}, {0.5, 3}, {-1, 1e-3}}
	want := map[string][]float64{}
	for _, u := range []Update{Plain{0.1}, Momentum{0.1, 0.9}, Adam{LearningRate: 0.1},
		Adam{LearningRate: 0.2, Beta1: 0.5, Beta2: 0.8, Kappa: 0.1}} {
		theta := make([]float64, 2)
		for j := range theta {
			var v, m, s float64
			for k, g := range gradients {
				x, t := g[j], float64(k+1)
				switch u := u.(type) {
				case Plain:
					theta[j] -= u.LearningRate * x
				case Momentum:
					v = u.Beta*v + x
					theta[j] -= u.LearningRate * v
				case Adam:
					u = u.filled()
					m = u.Beta1*m + (1-u.Beta1)*x
					s = u.Beta2*s + (1-u.Beta2)*x*x
					theta[j] -= u.LearningRate * (m / (1 - math.Pow(u.Beta1, t))) /
						(math.Sqrt(s/(1-math.Pow(u.Beta2, t))) + u.Kappa)
				}
			}
		}
		want[u.String()] = theta
		got, rule := make([]float64, 2), u.start(2)
		for _, g := range gradients {
			rule.step(got, append([]float64(nil), g...))
		}
		if !floats.EqualApprox(got, theta, 1e-12) {
			t.Errorf("%s: %v, want %v", u, got, theta)
		}
	}
	if len(want) != 4 {
		t.Errorf("rules share names: %v", want)
	}
	// Adam's first step is η in each coordinate, whatever the gradient's size.
	got := make([]float64, 2)
	Adam{LearningRate: 0.1}.start(2).step(got, []float64{1e-3, -50})
	if !(math.Abs(got[0]+0.1) <= 1e-5) || !(math.Abs(got[1]-0.1) <= 1e-5) {
		t.Errorf("Adam's first step is %v", got)
	}
}

// BenchmarkRun is 1,000 steps with batches of 256 of 48,842 records.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name  string
		d     int
		share float64
	}{{"dense/d=100", 100, 1}, {"sparse/d=109", 109, 0.13}} {
		rows, labels := simulated(48_842, c.d, c.share, 1)
		m := Descent{Loss: loss.Logistic{}, Clip: 1, Rate: 256.0 / 48_842, Steps: 1000, NoiseMultiplier: 1,
			PlannedRecords: 48_842, Update: Adam{LearningRate: 0.01}}
		for _, kind := range []string{"seeded", "secure"} {
			b.Run(c.name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					var src noise.Source = noise.NewSeeded(1)
					if kind == "secure" {
						src = noise.NewSecure()
					}
					must.Get(m.Run(rows, labels, src, nil))
				}
			})
		}
	}
}
