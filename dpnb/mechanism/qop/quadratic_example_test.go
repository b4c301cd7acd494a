package qop_test

import (
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// A lasso on a box, by quadratic perturbation about a public model.
func ExampleCalibrate() {
	anchor := []float64{1, 0, -1} // from public data
	m, err := qop.Calibrate(qop.Config{
		Loss: loss.Squared{}, RowNorm: 1, Epsilon: 1, Delta: 1e-3, Adjacency: privacy.ReplaceOne,
		Interpolation: qop.AssumeInterpolation(anchor, 0),
		Regulariser:   composite.L1{Weight: 0.1}, Constraint: composite.NewBox(2), Records: 4,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := matrix.NewDense(4, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, 0.6, 0, 0.8})
	labels := []float64{1, 0, -1, -0.2}
	release, err := m.Run(rows, labels, noise.NewSeeded(1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	inLines := strings.NewReplacer(": ", ":\n", ", up", ",\nup", "; ", ";\n", ", but", ",\nbut", ", and", ",\nand")
	fmt.Println(inLines.Replace(release.Guarantee.Words()))
	fmt.Println(inLines.Replace(release.Guarantee.Assumptions[0]))
	// Output:
	// (ε = 1, δ = 0.001), replace-one:
	// replacing any one record changes the probability of any result by a factor of at most e^ε ≤ 2.72,
	// up to a probability of δ.
	// interpolation:
	// the loss of every record that could be in the data is minimal at one common point, at the anchor itself,
	// but for the rounding of its label to float64,
	// and the anchor was found without the data;
	// if a single record violates this, nothing is protected
}

// Public records can contradict the assumption, and cannot prove it.
func ExampleInterpolation_CheckPublic() {
	rows := matrix.NewDense(2, 2, []float64{1, 0, 0, 0.5})
	check, err := qop.AssumeInterpolation([]float64{1, 2}, 0.1).CheckPublic(
		qop.PublicData{Rows: rows, Labels: []float64{1, 1.25}}, loss.Squared{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d records contradict it; the anchor would have to be off by %.2f\n", check.Violations,
		check.Records, check.Needed)
	// Output:
	// 1 of 2 records contradict it; the anchor would have to be off by 0.50
}
