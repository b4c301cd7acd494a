package loss_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/loss"
)

// Squared loss has no bound on its slope; clipped at 2 it goes on as a line.
func ExampleClipped() {
	f := loss.Clipped(loss.Squared{}, 2)
	t, y := []float64{-5, -1, 0, 3}, []float64{0, 0, 0, 0}
	slope := make([]float64, 4)
	value := f.ValueSlope(slope, t, y)
	fmt.Println(f.Name(), f.Lipschitz(), f.Smoothness())
	fmt.Println(slope, value)
	// Output:
	// squared, |f′| ≤ 2 2 1
	// [-2 -1 0 2] 12.5
}

func ExampleUnclip() {
	of, level, ok := loss.Unclip(loss.Clipped(loss.Probit{}, 1.5))
	fmt.Println(of.Name(), level, ok)
	// Output: probit 1.5 true
}

// Which losses can be used as they are, and which need clipping.
func ExampleLoss() {
	for _, l := range []loss.Loss{
		loss.Logistic{}, loss.Softplus{Width: 0.5}, loss.SmoothedHinge{Width: 0.5}, loss.SquaredHinge{}, loss.Probit{},
		loss.Squared{}, loss.Huber{Threshold: 2}, loss.PseudoHuber{Threshold: 2}, loss.Poisson{MaxCount: 9},
	} {
		fmt.Printf("%-22s sup|f′| = %-5v sup f″ = %v\n", l.Name(), l.Lipschitz(), l.Smoothness())
	}
	// Output:
	// logistic               sup|f′| = 1     sup f″ = 0.25
	// softplus(h=0.5)        sup|f′| = 1     sup f″ = 0.5
	// smoothed hinge(h=0.5)  sup|f′| = 1     sup f″ = 2
	// squared hinge          sup|f′| = +Inf  sup f″ = 1
	// probit                 sup|f′| = +Inf  sup f″ = 1
	// squared                sup|f′| = +Inf  sup f″ = 1
	// huber(T=2)             sup|f′| = 2     sup f″ = 1
	// pseudo-huber(T=2)      sup|f′| = 2     sup f″ = 1
	// poisson(y≤9)           sup|f′| = +Inf  sup f″ = +Inf
}
