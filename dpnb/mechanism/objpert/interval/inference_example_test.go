package interval_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// people are 20,000 records of norm 1, of which two of three have label +1 where the first feature is positive.
func people() (*matrix.Dense, []float64) {
	x, y := matrix.NewDense(20_000, 2, nil), make([]float64, 20_000)
	for i := range y {
		sign := float64(2*(i%2) - 1)
		x.Data[2*i], x.Data[2*i+1] = 0.8*sign, 0.6*float64(2*(i/2%2)-1)
		y[i] = sign
		if i%3 == 0 {
			y[i] = -sign
		}
	}
	return x, y
}

// A tenth of the budget for the curvature makes intervals possible that are nearly as narrow as the noise.
func Example() {
	x, y := people()
	c := objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove}
	fit, curvature, err := interval.Calibrate(c, interval.Share{Curvature: 0.1})
	if err != nil {
		panic(err)
	}
	src := noise.NewSeeded(1) // noise.NewSecure() for a release
	r, moments, err := curvature.Release(x, y, src, nil)
	if err != nil {
		panic(err)
	}
	alone, err := interval.FromRelease(fit, r.Coefficients, 0.95)
	if err != nil {
		panic(err)
	}
	paid, err := interval.Minimiser(fit, r.Coefficients, moments, interval.Settings{Level: 0.95})
	if err != nil {
		panic(err)
	}
	population, err := interval.Population(fit, r.Coefficients, moments,
		interval.Settings{Level: 0.95, Linearise: true})
	if err != nil {
		panic(err)
	}
	fmt.Printf("from the release alone: %.1f wide\n", alone.Width())
	fmt.Printf("with the curvature:     %.3f wide\n", paid.Width())
	fmt.Printf("for the population:     %.3f wide\n", population.Width())
	// Output:
	// from the release alone: 15.1 wide
	// with the curvature:     0.009 wide
	// for the population:     0.091 wide
}

// The release alone bounds how far the noise has moved a coefficient.
func ExampleFromRelease() {
	c := objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove,
		Lambda: 50}
	m, err := objpert.Calibrate(c)
	if err != nil {
		panic(err)
	}
	iv, err := interval.FromRelease(m, []float64{0.7, -1.2}, 0.95)
	if err != nil {
		panic(err)
	}
	for j := range iv.Estimate {
		fmt.Printf("%.2f in [%.2f, %.2f]\n", iv.Estimate[j], iv.Lower[j], iv.Upper[j])
	}
	// Output:
	// 0.70 in [0.52, 0.88]
	// -1.20 in [-1.38, -1.02]
}
