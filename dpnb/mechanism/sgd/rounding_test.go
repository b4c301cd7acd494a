package sgd

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// TestARecordCountsForItself: rows so long that rounding decides their margins have the same gradients and the same
// score however many others there are. Else one record more would change the sum by more than C, the score by more than
// one.
func TestARecordCountsForItself(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	decided := 0
	for range 300 {
		d := 2 + rng.IntN(12)
		x, theta := make([]float64, d), make([]float64, d)
		for j := range d {
			x[j], theta[j] = rng.NormFloat64(), rng.NormFloat64()
		}
		floats.AddScaled(x, -floats.Dot(x, theta)/floats.Dot(theta, theta), theta)
		floats.Scale(1e20, x)
		const most = 9
		rows, labels := matrix.NewDense(most, d, nil), make([]float64, most)
		for i := range most {
			copy(rows.Data[i*d:], x)
			labels[i] = 1
		}
		var one []float64
		var score int
		for n := 1; n <= most; n++ {
			some := &matrix.Dense{N: n, D: d, Data: rows.Data[:n*d]}
			sum := make([]float64, d)
			index := make([]int, n)
			for i := range index {
				index[i] = i
			}
			newBatch(newRecords(some, labels[:n], 1), loss.Logistic{}, n, 1).sum(sum, theta, index)
			floats.Scale(1/float64(n), sum)
			count := right(some, labels[:n], theta)
			if n == 1 {
				one, score = sum, count
				if floats.Norm(sum, 2) < 0.1 {
					decided++
				}
			}
			if !floats.EqualApprox(sum, one, 1e-12) {
				t.Fatalf("d = %d: mean gradient %v of %d equal records, %v of one", d, sum, n, one)
			}
			if count != n*score {
				t.Fatalf("d = %d: %d of %d equal records are right, %d of one", d, count, n, score)
			}
		}
	}
	if decided < 30 || decided > 270 {
		t.Errorf("%d of 300 records without a gradient: rounding decides nothing", decided)
	}
}

// TestOneRecordDoesNotDecideHowOthersAreSummed: rows of which a quarter is not zero, so long that rounding decides
// their margins, have the same gradients beside a row of zeros and beside a full one: one record used to have all of
// them summed in another order, and to move their sum by more than C.
func TestOneRecordDoesNotDecideHowOthersAreSummed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const d, n = 40, 8
	worst := 0.0
	for range 200 {
		rows, labels, theta := matrix.NewDense(n+1, d, nil), make([]float64, n+1), make([]float64, d)
		for j := range theta {
			theta[j] = rng.NormFloat64()
		}
		for i := range n {
			x := rows.Data[i*d : i*d+d/4] // just not thin
			if i%2 == 0 {
				x = x[:d/4-1] // just thin
			}
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			part := theta[:len(x)]
			floats.AddScaled(x, -floats.Dot(x, part)/floats.Dot(part, part), part)
			floats.Scale(1e20, x)
			labels[i] = 1
		}
		labels[n] = 1
		index := []int{0, 1, 2, 3, 4, 5, 6, 7}
		var sums [2][]float64
		for k, last := range []float64{0, 1} {
			for j := range d {
				rows.Data[n*d+j] = last
			}
			sums[k] = make([]float64, d)
			newBatch(newRecords(rows, labels, 1), loss.Logistic{}, n, 1).sum(sums[k], theta, index)
		}
		worst = max(worst, floats.Distance(sums[0], sums[1], 2))
	}
	if worst > 0 {
		t.Errorf("another record moves the sum of others by up to %g, where its own gradient is cut to 1", worst)
	}
}

// TestRunawayStartsAgain: with a learning rate at which θ overflows, the kind of the rows still does not matter, and
// what is released is a number. A coefficient that is infinite would give a dense row with a zero there no margin, a
// sparse one its own.
func TestRunawayStartsAgain(t *testing.T) {
	x, labels := simulated(200, 6, 0.5, 4)
	for _, update := range []Update{Plain{1e300}, Plain{1e308}, Momentum{1e308, 0.9}, Adam{LearningRate: 1e305}} {
		d := descent()
		d.Update = update
		d.Steps = 20
		var first []float64
		for _, rows := range []matrix.Rows{x, x.Sparse(), plainRows{x}} {
			r := must.Get(d.Run(rows, labels, noise.NewSeeded(2), nil))
			for _, v := range r.Coefficients {
				if !(math.Abs(v) <= 1e100) {
					t.Fatalf("%v: coefficients %v", update, r.Coefficients)
				}
			}
			if first == nil {
				first = r.Coefficients
			}
			if !floats.EqualApprox(r.Coefficients, first, 1e-9*floats.Norm(first, 2)) {
				t.Errorf("%v: %v of one kind of rows, %v of another", update, r.Coefficients, first)
			}
		}
	}
}

// TestAFreeScoreHasNoCost: a score that reads the records without noise is not one that does not read them.
func TestAFreeScoreHasNoCost(t *testing.T) {
	u, _, _ := tuner(t)
	for _, sigma := range []float64{0, -1, math.NaN()} {
		u.Score = Training{sigma}
		if eps, err := u.Cost().Epsilon(1e-5); err == nil {
			t.Errorf("Training{%v}: ε = %v", sigma, eps)
		}
	}
}
