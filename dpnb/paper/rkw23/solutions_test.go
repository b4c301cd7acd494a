package rkw23

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/solutions"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// What the solutions of notebook 02 state.
func TestSolutions02(t *testing.T) {
	solutions.Check(t, "02_objective_perturbation", computed02(t)...)
}

func computed02(t *testing.T) [][]string {
	// 1: where the old claim is below what is exact, at order 8 and at order 2.
	largest := func(alpha float64) (broken, ratio float64) {
		for _, d := range turningDimensions {
			exact, line, _, err := turning(int(d), alpha)
			if err != nil {
				t.Fatal(err)
			}
			if ratio = max(ratio, exact/line); exact > line && broken == 0 {
				broken = d
			}
		}
		return broken, ratio
	}
	at8, _ := largest(8)
	at2, ratio := largest(2)
	first := []string{fmt.Sprintf("dimension %g of those drawn", at8), fmt.Sprintf("%.2f of the claim", ratio)}
	if at2 != 0 {
		t.Errorf("at order 2 the claim is broken in dimension %g", at2)
	}
	// 2: a loose tolerance and the output noise that pays for it.
	m, err := calibratedHere(1, 1, Delta)
	if err != nil {
		t.Fatal(err)
	}
	loose, err := spent(m, 0.1, m.OutputSigma)
	if err != nil {
		t.Fatal(err)
	}
	_, enough := univariate.Bisect(func(out float64) bool {
		eps, err := spent(m, 0.1, out)
		return err == nil && eps < 1.1
	}, 1e-3, 10, univariate.Geometric, 1e-6)
	second := []string{fmt.Sprintf("ε = %.0f", loose), fmt.Sprintf("σ_out = %.2f", enough)}
	// 3: ridge and noise far out.
	table, err := Choices(math.Sqrt2, Delta, 0.01, 100)
	if err != nil {
		t.Fatal(err)
	}
	third := []string{table.Rows[0][5] + " at ε = 0.01", table.Rows[1][5] + " at ε = 100"}
	// 4: fits as if so many records had been planned for.
	var fourth []string
	for _, planned := range []int{300, 30000} {
		data := learn.Binary(learn.Patients(20000, 2), "ill", learn.RowNorm(1))
		model, err := learn.Logistic{Records: planned, Noise: noise.NewSeeded(2)}.Fit(data,
			learn.NewBudget(0.3, 1e-6, learn.Named(fmt.Sprint("planned ", planned))).Spend(0.3))
		if err != nil {
			t.Fatal(err)
		}
		score, err := model.Score(data)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := model.ObjectivePerturbation()
		fourth = append(fourth, fmt.Sprintf("λ = %.1f and σ = %.1f", m.Lambda+m.Shrinkage, m.Sigma),
			fmt.Sprintf("%.1f %%", 100*score))
	}
	return [][]string{first, second, third, fourth}
}

// What the solutions of notebook 01 state.
func TestSolutions01(t *testing.T) {
	// 1: where the curves of the Laplace and of the Gaussian mechanism cross.
	laplace, err := privacy.Laplace{Scale: 1, Sensitivity: 1}.Profile(privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	hides := func(alpha float64) float64 { // by how much more people are missed
		gauss, errGauss := privacy.TradeOff(privacy.GaussianProfile(1, privacy.AddRemove), privacy.Remove, alpha)
		v, err := privacy.TradeOff(laplace, privacy.Remove, alpha)
		if err != nil || errGauss != nil {
			t.Fatal(err, errGauss)
		}
		return v - gauss
	}
	less := func(alpha float64) bool { return hides(alpha) < 0 }
	from, _ := univariate.Bisect(less, 0.001, 0.3, univariate.Arithmetic, 1e-6)
	to, _ := univariate.Bisect(func(alpha float64) bool { return !less(alpha) }, 0.3, 0.6, univariate.Arithmetic, 1e-6)
	first := []string{fmt.Sprintf("α = %.2f and %.2f", from, to), fmt.Sprintf("%.3f more", hides(0.05)),
		fmt.Sprintf("%.3f fewer", -hides(0.3))}
	// 2: Huber's loss at λ = Rσ.
	_, table, err := Needed(loss.Huber{Threshold: 1}, 1, 1, Delta)
	if err != nil {
		t.Fatal(err)
	}
	second := []string{table.Rows[2][3] + " more"}
	// 3: the others that make the exact δ largest.
	most, at := 0.0, 0
	for _, copies := range []int{10, 30, 100, 300, 1000} {
		s := audit.Scalar{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: 1, Lambda: 1, Sigma: 2, X: []float64{1},
			Y: []float64{-1}, Weights: []float64{float64(copies)}}
		if v := max(s.DeltaLower(privacy.Remove, 0.25), s.DeltaLower(privacy.Add, 0.25)); v > most {
			most, at = v, copies
		}
	}
	bound := released(objective.Tight)(1, 2, 0.25)
	third := []string{fmt.Sprintf("%d others", at), fmt.Sprintf("δ = %.4f", most),
		fmt.Sprintf("%.0f %%", 100*most/bound)}
	solutions.Check(t, "01_accounting", first, second, third)
}
