package dtz24_test

import (
	"context"
	"fmt"

	"github.com/dpnb/notebooks/dpnb/paper/dtz24"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// Figure 3 with five dots on each curve, each the mean of 50 fits.
func ExampleFigure3() {
	panels, err := dtz24.Figure3(context.Background(), dtz24.Scale{Dots: 5, Repetitions: 50, Curve: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range panels {
		fmt.Printf("%s: %d curves\n", p.Title, len(p.Curves))
	}
	d := panels[1].Curves[2].Dots[2]
	fmt.Printf("%d×%d at λ = 1: predicted %.1f, simulated %.1f\n", d.Records, d.Features, d.Predicted, d.Simulated.Mean)
	// Output:
	// estimation error, ν = 0: 3 curves
	// estimation error, ν = 1/5: 3 curves
	// training records, ν = 0: 3 curves
	// training records, ν = 1/5: 3 curves
	// 32×31 at λ = 1: predicted 0.5, simulated 0.5
}

// Does the minimax theorem hold at three records and two features, and does it need its factor 2?
func ExampleMinimax_Draw() {
	o, err := dtz24.NewMinimax(3, 2, 1).Draw(context.Background(), 2000, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("refuted with the factor 2:", o.Compare(2, false).Excess > 4 || o.Compare(2, true).Excess > 4)
	fmt.Println("refuted without it:", o.Compare(1, false).Excess > 4 || o.Compare(1, true).Excess > 4)
	// Output:
	// refuted with the factor 2: false
	// refuted without it: true
}

func ExampleSetting_Run() {
	s := dtz24.Setting{Kind: dtz24.LogisticObjective, Design: population.Sparse, Records: 200, Features: 50}
	p, err := s.Run(context.Background(), 20, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	far := 0
	for _, v := range p {
		if e := v.StandardErrors(); e > 5 || e < -5 {
			far++
		}
	}
	fmt.Printf("%s: %d of %d measures are far from the prediction\n", s, far, len(p))
	// Output: objective perturbation, logistic, sparse rows, 200×50: 0 of 9 measures are far from the prediction
}
