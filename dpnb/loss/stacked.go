package loss

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Stacked is one loss for some rows and another for the rest, for objectives of records of several rows. The label of a
// row is its place i in the table, 0 … len(Table) − 1: its loss is First for i < Split, else Second, and its own label
// is Table[i].
type Stacked struct {
	First, Second Loss
	// Table has the labels of the rows, Split how many of them are of First.
	Table []float64
	Split int
}

// The methods of Loss.

func (s Stacked) Name() string       { return s.First.Name() + " and " + s.Second.Name() }
func (s Stacked) Lipschitz() float64 { return math.Max(s.First.Lipschitz(), s.Second.Lipschitz()) }

// each calls f for runs of rows with one loss, with their own labels.
func (s Stacked) each(places []float64, f func(l Loss, lo, hi int, labels []float64)) {
	for lo := 0; lo < len(places); {
		l, second := s.First, int(places[lo]) >= s.Split
		if second {
			l = s.Second
		}
		hi, straight := lo+1, true
		for hi < len(places) && (int(places[hi]) >= s.Split) == second {
			straight = straight && places[hi] == places[hi-1]+1
			hi++
		}
		var labels []float64
		if at := int(places[lo]); straight {
			labels = s.Table[at : at+hi-lo]
		} else {
			for _, p := range places[lo:hi] {
				labels = append(labels, s.Table[int(p)])
			}
		}
		f(l, lo, hi, labels)
		lo = hi
	}
}

func (s Stacked) ValueSlope(slope, t, y []float64) float64 {
	sum := 0.0
	s.each(y[:len(t)], func(l Loss, lo, hi int, labels []float64) {
		sum += l.ValueSlope(slope[lo:hi], t[lo:hi],
			labels)
	})
	return sum
}

func (s Stacked) Curvature(curv, t, y []float64) {
	s.each(y[:len(t)], func(l Loss, lo, hi int, labels []float64) { l.Curvature(curv[lo:hi], t[lo:hi], labels) })
}

// Smoothness returns the larger of both.
func (s Stacked) Smoothness() float64 {
	return math.Max(s.First.Smoothness(), s.Second.Smoothness())
}

// ValidLabel reports whether y is a place in the table whose label its loss is made for.
func (s Stacked) ValidLabel(y float64) bool {
	if !(y >= 0 && y < float64(len(s.Table)) && y == math.Floor(y)) {
		return false
	}
	l := s.First
	if int(y) >= s.Split {
		l = s.Second
	}
	return l.ValidLabel(s.Table[int(y)])
}

// Labels says in words which labels those are.
func (s Stacked) Labels() string {
	return "places in a table of labels, first " + s.First.Labels() + ", then " + s.Second.Labels()
}

func (s Stacked) slopeError() float64 { return math.Max(SlopeError(s.First), SlopeError(s.Second)) }

// precise is that of both, with the larger errors.
func (s Stacked) precise() Precise {
	a, ok := PreciseSlope(s.First)
	b, also := PreciseSlope(s.Second)
	if !ok || !also {
		return Precise{}
	}
	return Precise{Relative: math.Max(a.Relative, b.Relative), Absolute: math.Max(a.Absolute, b.Absolute),
		Slope: func(t dd.Number, y float64) dd.Number {
			if int(y) >= s.Split {
				return b.Slope(t, s.Table[int(y)])
			}
			return a.Slope(t, s.Table[int(y)])
		}}
}
