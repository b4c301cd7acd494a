package audit

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// severalClasses attacks softmax and one-vs-rest for one who knows the noise in the objective: to him the output noise
// must still hide where the solver stopped. With and without the record stand for two tolerances of it, as in
// LowBitsCases.
func severalClasses(n, d, classes int) []LowBitsCase {
	rows, signs := lowBitsRecords(n, d)
	labels := make([]int, n+1)
	for i := range labels {
		labels[i] = (i + int(signs[i]) + 1) % classes
	}
	one := &mechanism.Settings{Workers: 1}
	config := multiclass.Config{Classes: classes, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove}
	joint := must.Get(multiclass.CalibrateSoftmax(config, multiclass.Vertex))
	// The tolerances are factors of one another: what is called "with" and "without".
	tolerance := func(with bool, tau float64) float64 {
		if with {
			return tau
		}
		return tau / 100
	}
	places := make([]float64, n+1)
	for i, l := range labels {
		places[i] = float64(l)
	}
	// What is on the grid is centred before it is released, which divides by the number of classes: with a power of two
	// no bit is lost, the best case of the attack.
	first := LowBitsCase{Name: fmt.Sprintf("softmax, K = %d, b known, d = %d", classes, d), Fault: GridNoise}
	first.Attack = LowBits{
		Scales: slices.Repeat([]float64{joint.OutputSigma * math.Sqrt(1-1/float64(classes))}, classes*d),
		Sums: func(with bool, src *noise.Seeded) ([]float64, error) {
			b := make([]float64, classes*d)
			noise.Exact(src).FillNormal(b, joint.Sigma)
			multiclass.Center(b, classes)
			p := erm.Problem{Rows: rows, Labels: places, Joint: loss.Softmax{Classes: classes}, Lambda: joint.Lambda,
				Linear: b}
			settings := erm.Settings{Tolerance: tolerance(with, joint.Tolerance), Workers: 1, Persist: true}
			s, err := erm.Minimize(&p, &settings)
			if err != nil {
				return nil, err
			}
			return s.Theta, nil
		},
		Release: func(with bool, src *noise.Seeded) ([]float64, error) {
			m := joint
			m.Tolerance = tolerance(with, m.Tolerance)
			return coefficients(m.Run(rows, places, src, one))
		},
	}
	apart := must.Get(multiclass.CalibrateOneVsRest(config, loss.Logistic{}))
	second := LowBitsCase{Name: fmt.Sprintf("one-vs-rest, K = %d, b known, d = %d", classes, d), Fault: GridNoise}
	second.Attack = LowBits{
		Scales: slices.Repeat([]float64{apart.Binary.OutputSigma}, classes*d),
		Sums: func(with bool, src *noise.Seeded) ([]float64, error) {
			var all []float64
			for c := range classes {
				y := make([]float64, n+1)
				for i, l := range labels {
					y[i] = -1
					if l == c {
						y[i] = 1
					}
				}
				draw, b := noise.Exact(src), make([]float64, d)
				eta := draw.FillNormal(b, apart.Binary.Sigma)
				draw.Normals(d)
				p := erm.Problem{Rows: rows, Labels: y, Loss: loss.Logistic{}, Lambda: apart.Binary.Lambda, Linear: b}
				tau := tolerance(with, apart.Binary.Tolerance)*(1-0x1p-50) - eta
				s, err := erm.Minimize(&p, &erm.Settings{Tolerance: tau, Workers: 1, Persist: true})
				if err != nil {
					return nil, err
				}
				all = append(all, s.Theta...)
			}
			return all, nil
		},
		Release: func(with bool, src *noise.Seeded) ([]float64, error) {
			m := apart
			m.Binary.Tolerance = tolerance(with, m.Binary.Tolerance)
			return coefficients(m.Run(rows, places, src, one))
		},
	}
	return []LowBitsCase{first, second}
}

// aCount attacks the noisy number of records.
func aCount(sigma float64) LowBitsCase {
	c := objpert.Count{Sigma: sigma}
	number := func(with bool) int {
		if with {
			return 500
		}
		return 499
	}
	attack := LowBits{
		Scales: []float64{sigma},
		Sums: func(with bool, _ *noise.Seeded) ([]float64, error) {
			return []float64{float64(number(with))}, nil
		},
		Release: func(with bool, src *noise.Seeded) ([]float64, error) {
			return []float64{c.Run(number(with), src)}, nil
		},
	}
	return LowBitsCase{Name: fmt.Sprintf("noisy count, σ = %g", sigma), Attack: attack, Fault: FloatSum}
}

// Softmax, one-vs-rest and the noisy count. DPNB_LOWBITS asks for so many runs, and for 109 features besides 20.
func TestLowBitsOfClassesAndCounts(t *testing.T) {
	testscale.InTurn(t)
	runs, shapes := 40, []int{20}
	if testing.Short() {
		runs = 30
	}
	if n, err := strconv.Atoi(os.Getenv("DPNB_LOWBITS")); err == nil {
		runs, shapes = n, []int{20, 109}
	}
	for _, d := range shapes {
		for _, c := range severalClasses(100, d, 4) {
			found, planted, err := c.Check(t.Context(), runs)
			t.Logf("%s: %v; noise rounded without the result: %v", c.Name, found, planted)
			if err != nil || planted.LastBits < 0.9 {
				t.Errorf("%s: %v, noise rounded without the result: %v", c.Name, err, planted)
			}
		}
	}
	// What is told apart is an error, and so is a fault that is none.
	bare, honest := aCount(50), aCount(50)
	bare.Attack.Sums = func(with bool, _ *noise.Seeded) ([]float64, error) {
		return []float64{map[bool]float64{true: 500.3, false: 499.7}[with]}, nil
	}
	bare.Attack = bare.Attack.With(GridNoise)
	honest.Fault = func(result, scales []float64, src *noise.Seeded) []float64 {
		return []float64{objpert.Count{Sigma: scales[0]}.Run(int(result[0]), src)}
	}
	for want, c := range map[string]LowBitsCase{"told apart": bare, "the fault passes": honest} {
		if _, _, err := c.Check(t.Context(), 200); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want that it says %q", err, want)
		}
	}
	// A release of one number says little at a time: more runs, which cost little.
	for _, sigma := range []float64{50, 8000} {
		c := aCount(sigma)
		if sigma < 8000 {
			c.Fault = nil
		}
		found, planted, err := c.Check(t.Context(), max(20_000, 20*runs))
		if t.Logf("%s: %v; in float64: %v", c.Name, found, planted); err != nil {
			t.Error(err)
		}
	}
}
