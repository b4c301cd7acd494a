package quadrature

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
)

// Rules, integrals and the errors that are stated of them are what they were, and so is what they cost.
func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		for i := range Points {
			say(fmt.Sprint("node ", i), panelX[i], panelK[i], panelG[i])
		}
		for _, tol := range []float64{1e-1, 1e-4, 1e-8} {
			asked := 0.0
			values, err := Adaptive(2, func(x []float64, out [][]float64) {
				asked++
				for i, v := range x {
					out[0][i], out[1][i] = math.Sqrt(math.Abs(v-0.3)), math.Exp(-v*v)*(v-1)
				}
			}, []float64{-1, 0.5, 0.5, 2}, tol)
			nothing, _ := Adaptive(1, func(x []float64, out [][]float64) { clear(out[0]) }, []float64{0, 1}, tol)
			jump, off := Adaptive(1, func(x []float64, out [][]float64) {
				asked++
				for i, v := range x {
					out[0][i] = math.Copysign(1, v-0.7)
				}
			}, []float64{0, 1}, tol)
			say(fmt.Sprint("adaptive ", tol), values[0], values[1], math.Round(1e3*math.Log(err)), asked, nothing[0],
				jump[0],
				math.Round(1e3*math.Log(off)))
		}
		for _, n := range []int{1, 2, 7} {
			say(fmt.Sprint("panels ", n), Panels(func(x float64) float64 { return 1 / (1 + x*x) }, -3, 5, n),
				Panels(func(x float64) float64 { return math.Abs(x) }, -3, 5, n))
		}
		for _, h := range []float64{0.1, 0.7, 3} {
			z, w := Normal(h)
			say(fmt.Sprint("normal ", h), float64(len(z)), z[0], z[len(z)/2], w[1], w[len(w)/2])
		}
	})
}
