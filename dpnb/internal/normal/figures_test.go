package normal

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
)

// The normal law's functions are what they were, on both sides of where one formula gives way to another.
func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-11, func(say func(name string, values ...float64)) {
		for _, x := range []float64{-120, -30, -5, -1.1, -0.9, 0, 1e-9, 0.4, 2.99, 3.01, 4.99, 5.01, 17, 38, 99, 101,
			1e4, 9e7,
			2e8, 1e200} {
			say(fmt.Sprint("at ", x), LogPDF(x), PDF(x), Mills(x), Survival(x), LogSurvival(x), CDF(x), Density(x),
				Mass(x, x+0.5), Mass(-x, 2), Mass(x, math.Inf(1)))
		}
		for _, m := range []float64{0, 0.3, 1.99, 2.01, 9, 700, 1e9, 1e160} {
			for _, h := range []float64{1e-250, 1e-200, 1e-9, 0.01, 0.49, 0.51, 0.68, 3, 100} {
				if h <= m+2 {
					say(fmt.Sprintf("Mills %g ± %g", m, h), millsDiff(m, h), LogMillsDiff(m, h), millsDiffForward(0.3,
						h/9))
				}
			}
		}
	})
}
