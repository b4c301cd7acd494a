package cop

import (
	"fmt"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// BenchmarkTableThree has the cells of Table 3, which were 0.5 to 15 s on a graphics card: C-OP at ε = 1 with the
// constants and the Gaussian kernel of the paper, by the solver that releases use, to its certificate; and one pass for
// the value and the gradient of the smoothed risk.
//
//	go test -run - -bench TableThree ./dpnb/paper/cop
func BenchmarkTableThree(b *testing.B) {
	for _, n := range Counts {
		for _, d := range Dimensions {
			r := Design{Loss: Medians{}, Dimension: d}.Draw(n, noise.NewSeeded(3))
			c, linear := r.plan().printed(1, Delta), make([]float64, d)
			b.Run(fmt.Sprintf("fit/n=%d/d=%d", n, d), func(b *testing.B) {
				for k := 0; b.Loop(); k++ {
					noise.NewSeeded(uint64(k)).Gaussian(linear, c.sigma)
					p := &erm.Problem{Rows: matrix.NewDense(forms*n, d, r.A), Labels: r.Y, Linear: linear,
						Loss: loss.Absolute(smoothing.Gaussian{}, c.width), Lambda: c.lambda}
					must.Get(erm.Minimize(p, nil))
				}
			})
			b.Run(fmt.Sprintf("pass/n=%d/d=%d", n, d), func(b *testing.B) {
				o := tilted{Records: r, Smooth: r.Loss.Blur(c.width), Linear: make([]float64, d)}
				theta, grad := Design{Dimension: d}.Star(), make([]float64, d)
				for b.Loop() {
					o.at(theta, grad, nil)
				}
			})
		}
	}
}
