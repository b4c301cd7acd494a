package learn

import (
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// nearKink is the width at which the pinball loss is smoothed in the end without privacy, and the ridge, which only
// chooses between solutions that fit alike.
const nearKink = 1e-3

// plainSample is how many records the first searches look at.
const plainSample = 20_000

// plainQuantiles fits each level without privacy, to a gradient of 1e-6 for each record of the longest rows. The loss
// is smoothed less and less, for a sample first: begun far off, a search for a kink nearly as it is can take a thousand
// passes.
func plainQuantiles(p spec, d *frame.Design, _ float64) ([]float64, error) {
	r, err := p.regulariser.composite(d)
	if err != nil {
		return nil, err
	}
	some, theirs := d.Rows, d.Labels
	if every := d.Records() / plainSample; every > 1 {
		var at []int
		theirs = nil
		for i := 0; i < d.Records(); i += every {
			at, theirs = append(at, i), append(theirs, d.Labels[i])
		}
		some = matrix.Select(d.Rows, at)
	}
	var all, theta []float64
	for _, tau := range p.levels {
		search := func(rows matrix.Rows, labels []float64, width float64) error {
			var added composite.Regulariser
			if p.regulariser.L1 > 0 { // a sample has its share of it
				r.Weight = p.regulariser.L1 * float64(len(labels)) / float64(d.Records())
				added = r
			}
			nearer, err := p.solved(erm.Problem{Rows: rows, Labels: labels, Lambda: nearKink,
				Loss: loss.SmoothPinball{Tau: tau, Width: width}}, added, nil,
				erm.Settings{Start: theta, Tolerance: 1e-6 * (1 + float64(len(labels))*d.RowNorm)})
			if err == nil {
				theta = nearer
			}
			return err
		}
		for _, width := range []float64{0.1, 0.01, nearKink} {
			if err := search(some, theirs, width); err != nil {
				return nil, err
			}
		}
		if some != d.Rows {
			if err := search(d.Rows, d.Labels, nearKink); err != nil {
				return nil, err
			}
		}
		all = append(all, theta...)
	}
	return all, nil
}
