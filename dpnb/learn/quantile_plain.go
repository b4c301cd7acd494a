package learn

import (
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// nearKink is the width at which the pinball loss is smoothed without privacy.
const nearKink = 1e-3

// plainQuantiles fits each level without privacy: the loss is smoothed less and less.
func plainQuantiles(p recipe, d *frame.Design, _ float64) ([]float64, error) {
	if err := p.validLevels(); err != nil {
		return nil, err
	}
	var all, theta []float64
	for _, tau := range p.levels {
		for _, width := range []float64{0.1, 0.01, nearKink} {
			s, err := erm.Minimize(&erm.Problem{Rows: d.Rows, Labels: d.Labels, Loss: loss.SmoothPinball{Tau: tau, Width: width}, Lambda: nearKink},
				&erm.Settings{Workers: p.workers, Start: theta})
			if err != nil {
				return nil, err
			}
			theta = s.Theta
		}
		all = append(all, theta...)
	}
	return all, nil
}
