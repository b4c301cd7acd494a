package frame

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// spreadOfUnseen is 1/(1 + that of a Beta law) with which a number without hats is taken to vary about its mean, of
// which nothing more is known: two thirds of an even spread in the middle.
const spreadOfUnseen = 12

// Imagined returns n centred rows of records that nobody has: columns are independent, each with the shares of its
// categories, or of its hats, that the given mean row has (the bias apart), which says no more of a number without hats
// than its mean. That mean has noise of a standard deviation off in each entry: shares are taken lower by less times
// that, those of categories that do not stand out of the noise by rare times that, if it is more. Of a mean of nil all
// shares are the same, and no number is missing. uniform draws from [0, 1).
func (e *Encoding) Imagined(mean []float64, off, less, rare float64, n int, uniform func() float64) matrix.Rows {
	draws, of := make([]func() given, len(e.encoders)), make([]given, len(e.encoders))
	for k, weights := range e.margins(mean, doubt{off, less, rare}).weights {
		draws[k] = e.encoders[k].imagine(mean, weights, uniform)
	}
	all, starts, scales := make([]entries, 1), make([]int, n+1), make([]float64, n)
	for i := range n {
		before := len(all[0].values)
		for k, draw := range draws {
			of[k] = draw()
		}
		scales[i] = e.scaleOf(math.Sqrt(e.enter(&all[0], e.encoders, of)))
		starts[i+1] = len(all[0].values) - before
	}
	return e.entered(all, starts, scales)
}

// atBound is what is at either bound of a number to begin with, of 1 between them.
const atBound = 0.15

// points are how many places of a number's scale stand for all of it.
const points = 128

func place(i int) float64 { return float64(i) / (points - 1) }

// margins returns for each column the weights of its categories, or of the places of the scale of a number, with which
// records have the given mean row, of which that is doubted; of nil all weigh the same. Where a row z is scaled by s,
// its part in a column is so by about s(‖z_c‖² + the mean of all else), and E s·z_c is of the weights times s. They are
// shared, and not to be changed.
func (e *Encoding) margins(mean []float64, of doubt) margins {
	bits, err := binary.Append(nil, binary.LittleEndian, mean)
	if err != nil {
		panic(err) // numbers have bytes
	}
	known, _ := weighed.Of(weighedKey{e, mean == nil, string(bits), of}, func() (margins, error) {
		return e.weigh(mean, of), nil
	})
	return known
}

// Shares returns of each feature that is the indicator of a category the share of the records, as Imagined takes it by
// the same mean and noise, and the standard deviation of the noise in it; 0 of all others.
func (e *Encoding) Shares(mean []float64, noise, less, rare float64) (shares, off []float64) {
	shares, off = make([]float64, len(e.Features)), make([]float64, len(e.Features))
	known := e.margins(mean, doubt{noise, less, rare})
	for k := range e.encoders {
		if c := &e.encoders[k]; c.levels != nil {
			for j, share := range known.weights[k] {
				shares[c.at+j], off[c.at+j] = share, known.off[k]
			}
		}
	}
	return shares, off
}

// margins are the weights of the categories of each column, or of the places of its scale, and the standard deviation
// of the noise in a share of it.
type margins struct {
	weights [][]float64
	off     []float64
}

// weighed are the margins that were asked for last: those of a model are asked for whenever it is shown.
var weighed = recent.Values[weighedKey, margins]{Kept: 16}

type weighedKey struct {
	e    *Encoding
	even bool
	mean string // its bytes
	of   doubt
}

// weigh computes margins.
func (e *Encoding) weigh(mean []float64, of doubt) margins {
	all, off := make([][]float64, len(e.encoders)), make([]float64, len(e.encoders))
	squares := make([][]float64, len(e.encoders))
	for k, c := range e.encoders {
		if c.levels != nil {
			all[k] = slices.Repeat([]float64{1 / float64(c.width())}, c.width())
			squares[k] = slices.Repeat([]float64{c.longest()}, c.width())
			continue
		}
		all[k], squares[k] = slices.Repeat([]float64{1. / points}, points), make([]float64, points)
		row := make([]float64, c.width())
		for i := range points {
			clear(row)
			c.line(row, place(i))
			squares[k][i] = floats.Dot(row, row)
		}
	}
	if mean == nil {
		return margins{all, off}
	}
	for k := range all { // many a number has its most frequent values at a bound
		if e.encoders[k].levels == nil && !e.encoders[k].periodic() {
			all[k][0], all[k][points-1] = atBound, atBound
			floats.Scale(1/floats.Sum(all[k]), all[k])
		}
	}
	norm, clipped := e.settings.RowNorm+e.settings.ClipNorm, e.Clipped()
	const rounds = 4
	for range rounds {
		total := 0.0
		for k := range all {
			total += floats.Dot(all[k], squares[k])
		}
		for _, x := range e.crosses { // about, for they vary with their columns
			if x.bare {
				total += x.even(e.encoders, nil)
				continue
			}
			total += floats.Dot(all[x.a], squares[x.a]) * floats.Dot(all[x.b], squares[x.b])
		}
		for k := range all {
			scaled, rest := slices.Clone(all[k]), total-floats.Dot(all[k], squares[k])
			scales := make([]float64, len(scaled))
			for i, v := range squares[k] {
				if scales[i] = norm / math.Sqrt(v+rest); clipped {
					scales[i] = math.Min(1, scales[i])
				}
			}
			floats.Mul(scaled, scales)
			sum := floats.Sum(scaled)
			floats.Scale(1/sum, scaled)
			off[k] = of.off / sum
			e.encoders[k].suit(scaled, mean, doubt{off[k], of.less, of.rare}, sum)
			floats.Div(scaled, scales)
			floats.Scale(1/floats.Sum(scaled), scaled)
			all[k] = scaled
		}
	}
	return margins{all, off}
}

// doubt is of shares that have noise of a standard deviation off, of which they are taken lower by less, and those of
// rare categories by rare, if that is more.
type doubt struct{ off, less, rare float64 }

// share is that of a noisy one: lower, so that a rare category is not taken for a frequent one, and never without
// records.
func (d doubt) share(v float64) float64 {
	if d.off == 0 {
		return math.Max(v, 1e-9)
	}
	return math.Max(v-d.less*d.off, d.off/(16*d.less*d.less)+1e-9)
}

// standsOut is by how many standard deviations of its noise a share does that.
const standsOut = 2

// category is the share of a noisy one of a category: of one that does not stand out of the noise, nearly all may be
// noise.
func (d doubt) category(v float64) float64 {
	if v < standsOut*d.off {
		d.less = math.Max(d.less, d.rare)
	}
	return d.share(v)
}

// suit changes the weights of a column so that its part of a row, times by, has the given mean, as far as it says: of
// categories these are the weights; of hats the algorithm of Richardson and Lucy makes weights likelier; of a number
// without hats there are two places, with half of the variance of an even spread or what the bounds leave room for.
func (e *encoder) suit(weights, mean []float64, of doubt, by float64) {
	own := mean[e.at : e.at+e.width()]
	if e.more && e.levels == nil { // of those that have the number
		const most = 0.95
		there := 1 - math.Min(math.Max(0, own[e.size]/by), most)
		by, of.off = by*there, of.off/there
	}
	switch {
	case e.periodic(): // the density that has these cosines and sines
		for i := range weights {
			var at [2 * harmonics]float64
			wave(at[:], place(i), 1)
			weights[i] = 1
			for j, v := range own[:e.size] {
				w := 1 / (float64(j/2+1) * harmonicNorm)
				weights[i] += 2 * v * at[j] / (by * w * w)
			}
			weights[i] = math.Max(weights[i], 1e-3)
		}
	case e.levels != nil:
		for k, v := range own {
			weights[k] = of.category(1/float64(len(own)) + v/by)
		}
	case e.hats > 0:
		shares := slices.Clone(own[1 : 1+e.hats])
		floats.Scale(1/by, shares)
		if e.field.Typical != nil { // less the hats of that value, not their mean
			hat(shares, e.typical, 1)
		} else {
			floats.AddConst(1/float64(e.hats), shares)
		}
		hats, ratio := mat.NewDense(points, e.hats, nil), mat.NewVecDense(e.hats, nil)
		for i := range points {
			hat(hats.RawRowView(i), place(i), 1)
		}
		now, more := mat.NewVecDense(points, weights), mat.NewVecDense(points, nil)
		const steps = 200
		for range steps {
			ratio.MulVec(hats.T(), now)
			for k, v := range shares {
				ratio.SetVec(k, of.share(v)/ratio.AtVec(k))
			}
			more.MulVec(hats, ratio)
			now.MulElemVec(now, more)
		}
	default:
		u := math.Min(math.Max(e.typical+e.reach*own[0]/by, 1e-3), 1-1e-3)
		if math.IsNaN(u) { // a mean that no rows have
			u = e.typical
		}
		sd := math.Sqrt(u * (1 - u) / spreadOfUnseen)
		odds := math.Min(math.Max(1, sd/(1-u)), u/sd) // up by sd/odds, down by sd·odds
		clear(weights)
		up := odds * odds / (1 + odds*odds)
		weights[min(int((u+sd/odds)*points), points-1)] += up
		weights[max(int((u-sd*odds)*points), 0)] += 1 - up
	}
	floats.Scale(1/floats.Sum(weights), weights)
}

// imagine returns what draws what a record has of a column with such weights.
func (e *encoder) imagine(mean, weights []float64, uniform func() float64) func() given {
	sums := make([]float64, len(weights))
	floats.CumSum(sums, weights)
	draw := func() int { return min(sort.SearchFloat64s(sums, uniform()*sums[len(sums)-1]), len(sums)-1) }
	if e.levels != nil {
		return func() given { return given{place: draw()} }
	}
	missing := e.missing(mean)
	return func() given {
		if missing > 0 && uniform() < missing {
			return given{place: 1}
		}
		return given{share: place(draw())}
	}
}
