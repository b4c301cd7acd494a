package audit

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Worst returns the pair whose data sets a pilot tells apart best: by the distance of the means of a score, in standard
// deviations, learned on one half of the pilot's draws and measured on the other. Give Mechanism draws of another
// stream: what chose the pair must not test it. A pair whose data m refuses is passed over.
//
// options.Draws is the number of draws of the pilot from each data set; zero means 200.
//
// Errors: as Mechanism; also if m refuses every pair.
func Worst(ctx context.Context, m mechanism.Mechanism, pairs []Pair, options *Options, src *noise.Seeded) (Pair,
	error) {
	o, err := options.value()
	if err != nil {
		return Pair{}, err
	}
	if options == nil || options.Draws == 0 {
		o.Draws = 200
	}
	best, found := math.Inf(-1), Pair{}
	var refusals error
	for i, pair := range pairs {
		if err := pair.check(m.Describe().Adjacency, rowsOf(m)); err != nil {
			return Pair{}, err
		}
		if err := errors.Join(mechanism.Check(m, pair.With.Rows, pair.With.Labels),
			mechanism.Check(m, pair.Without.Rows, pair.Without.Labels)); err != nil {
			refusals = err
			continue
		}
		var drawn [2][][]float64
		for side, data := range []Data{pair.With, pair.Without} {
			if drawn[side], err = draw(ctx, m, data, o, src.Stream(i).Stream(side)); err != nil {
				return Pair{}, err
			}
		}
		if apart := separation(drawn[0], drawn[1]); apart > best {
			best, found = apart, pair
		}
	}
	if math.IsInf(best, -1) {
		if refusals == nil {
			refusals = &privacy.ParamError{Name: "pairs", Value: len(pairs), Want: "at least one"}
		}
		return Pair{}, refusals
	}
	return found, nil
}

// separation returns how far apart the means of the best score are, in standard deviations.
func separation(p, q [][]float64) float64 {
	level(p, q)
	half := len(p) / 2
	best := 0.0
	for _, s := range learn(p[:half], q[:half]) {
		m, sd := stat.MeanStdDev(s.values(p[half:], 1), nil)
		n, se := stat.MeanStdDev(s.values(q[half:], 1), nil)
		if spread := math.Hypot(sd, se); spread > 0 {
			best = math.Max(best, (m-n)/spread)
		} else if m != n {
			best = math.Inf(1)
		}
	}
	return best
}
