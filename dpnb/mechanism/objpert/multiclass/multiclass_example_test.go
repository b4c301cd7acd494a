package multiclass_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func ExampleCalibrateSoftmax() {
	// Three classes, of which each is at one corner.
	const n = 3000
	x, y := matrix.NewDense(n, 3, nil), make([]float64, n)
	for i := range y {
		y[i] = float64(i % 3)
		x.Data[3*i+i%3] = 1
	}
	m, err := multiclass.CalibrateSoftmax(multiclass.Config{
		Classes: 3, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
	}, multiclass.Vertex)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := m.Run(x, y, noise.NewSeeded(1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("σ = %.3f, λ = %.2f\n", m.Sigma, m.Lambda)
	for _, x := range [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} {
		fmt.Println(multiclass.Predict(r.Coefficients, x))
	}
	// Output:
	// σ = 5.770, λ = 3.92
	// 0
	// 1
	// 2
}

func ExampleCalibrateOneVsRest() {
	m, err := multiclass.CalibrateOneVsRest(multiclass.Config{
		Classes: 3, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
	}, loss.Logistic{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("σ = %.3f, λ = %.2f, exactly Gaussian: %v\n", m.Binary.Sigma, m.Binary.Lambda, m.Gaussian())
	// Output:
	// σ = 6.465, λ = 1.81, exactly Gaussian: true
}
