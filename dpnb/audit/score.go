package audit

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// score is a statistic of a release that is larger, as a rule, under With than under Without.
type score struct {
	name string
	of   func(x []float64) float64
}

// values returns the score, times a sign, of observations.
func (s score) values(x [][]float64, sign float64) []float64 {
	v := make([]float64, len(x))
	for i := range x {
		v[i] = sign * s.of(x[i])
	}
	return v
}

// observed is what a release shows, as numbers: its coefficients, every number that was released beside them, and how
// many these are; and the parameters that it says it ran with, which an earlier part of it may have chosen.
func observed(r *mechanism.Release) []float64 {
	x := slices.Clone(r.Coefficients)
	also := appendNumbers(nil, reflect.ValueOf(r.Also), 0)
	x = append(append(append(x, float64(len(also))), also...), r.Tolerance, r.NoiseScale)
	return appendNumbers(x, reflect.ValueOf(r.Fitted), 0)
}

// appendNumbers appends the numbers in v, in the order in which they are declared; what is true is 1.
func appendNumbers(x []float64, v reflect.Value, depth int) []float64 {
	if depth > 8 {
		return x
	}
	switch v.Kind() {
	case reflect.Float64:
		return append(x, v.Float())
	case reflect.Bool:
		if v.Bool() {
			return append(x, 1)
		}
		return append(x, 0)
	case reflect.Int, reflect.Int64:
		return append(x, float64(v.Int()))
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			x = appendNumbers(x, v.Index(i), depth+1)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			if m, ok := v.Interface().(mat.Matrix); ok {
				r, c := m.Dims()
				for i := range r {
					for j := range c {
						x = append(x, m.At(i, j))
					}
				}
				return x
			}
			return appendNumbers(x, v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				x = appendNumbers(x, v.Field(i), depth+1)
			}
		}
	}
	return x
}

// level makes all observations equally long and finite: what lacks is 0, and an infinite number the largest. One that
// is no number is the least: no adversary is blind to it.
func level(sets ...[][]float64) {
	width := 0
	for _, set := range sets {
		for _, x := range set {
			width = max(width, len(x))
		}
	}
	for _, set := range sets {
		for i, x := range set {
			for len(x) < width {
				x = append(x, 0)
			}
			for j, v := range x {
				if math.IsNaN(v) {
					v = -1e150
				}
				x[j] = math.Max(-1e150, math.Min(1e150, v))
			}
			set[i] = x
		}
	}
}

// learn returns scores that draws under With (p) and Without (q) suggest. Each is a function of a release alone, so
// that a bound from other draws holds whichever is used.
func learn(p, q [][]float64) []score {
	scores := []score{}
	if s, ok := frequencies(p, q); ok {
		scores = append(scores, s)
	}
	raw := newMoments(p, q, func(v, _, _ float64) float64 { return v })
	// Heavy tails spoil means and covariances: the same of asinh of the distance from the median.
	tamed := newMoments(p, q, func(v, median, spread float64) float64 { return math.Asinh((v - median) / spread) })
	for _, m := range []*moments{raw, tamed} {
		if len(m.keep) > 0 {
			scores = append(scores, m.coordinate(), m.linear())
			if len(m.keep) <= 24 {
				scores = append(scores, m.quadratic())
			}
			scores = append(scores, m.distance())
		}
	}
	return scores
}

// frequencies is the logarithm of the ratio of how often a release was seen, where few different ones were.
func frequencies(p, q [][]float64) (score, bool) {
	seen := map[string]*[2]float64{}
	for side, set := range [][][]float64{p, q} {
		for _, x := range set {
			key := fmt.Sprint(x)
			if seen[key] == nil {
				seen[key] = new([2]float64)
			}
			seen[key][side]++
		}
	}
	if len(seen) > (len(p)+len(q))/4 {
		return score{}, false
	}
	return score{"frequencies", func(x []float64) float64 {
		if n := seen[fmt.Sprint(x)]; n != nil {
			return math.Log((n[0] + 0.5) / (n[1] + 0.5))
		}
		return 0
	}}, true
}

// moments of transformed observations: of those coordinates, keep, that are not constant.
type moments struct {
	keep      []int
	mean      [2][]float64
	cov       [2]*mat.SymDense
	transform func(x []float64) []float64
	name      string
}

func newMoments(p, q [][]float64, f func(v, median, spread float64) float64) *moments {
	m := &moments{name: ""}
	if f(3, 1, 2) != 3 {
		m.name = ", tails drawn in"
	}
	var median, spread []float64
	column := make([]float64, 0, len(p)+len(q))
	for j := range p[0] {
		column = column[:0]
		for _, set := range [][][]float64{p, q} {
			for _, x := range set {
				column = append(column, x[j])
			}
		}
		slices.Sort(column)
		n := len(column)
		if column[0] == column[n-1] {
			continue
		}
		m.keep, median = append(m.keep, j), append(median, column[n/2])
		spread = append(spread, cmp.Or(column[n*3/4]-column[n/4], (column[n-1]-column[0])/4))
	}
	m.transform = func(x []float64) []float64 {
		y := make([]float64, len(m.keep))
		for i, j := range m.keep {
			y[i] = f(x[j], median[i], spread[i])
		}
		return y
	}
	d := len(m.keep)
	if d == 0 {
		return m
	}
	for side, set := range [][][]float64{p, q} {
		x := mat.NewDense(len(set), d, nil)
		for i, v := range set {
			x.SetRow(i, m.transform(v))
		}
		m.mean[side], m.cov[side] = make([]float64, d), mat.NewSymDense(d, nil)
		for j := range d {
			m.mean[side][j] = stat.Mean(mat.Col(nil, j, x), nil)
		}
		stat.CovarianceMatrix(m.cov[side], x, nil)
	}
	return m
}

// pooled returns the mean of both covariances with a hundred-thousandth of its diagonal on it.
func (m *moments) pooled() *mat.SymDense {
	d := len(m.keep)
	s := mat.NewSymDense(d, nil)
	s.AddSym(m.cov[0], m.cov[1])
	s.ScaleSym(0.5, s)
	for j := range d {
		s.SetSym(j, j, s.At(j, j)*(1+1e-5)+1e-300)
	}
	return s
}

func (m *moments) difference() []float64 {
	return floats.SubTo(make([]float64, len(m.keep)), m.mean[0], m.mean[1])
}

// coordinate is the one whose means differ most, in standard deviations.
func (m *moments) coordinate() score {
	best, at, diff, s := -1.0, 0, m.difference(), m.pooled()
	for j, v := range diff {
		if t := v * v / s.At(j, j); t > best {
			best, at = t, j
		}
	}
	sign := math.Copysign(1, diff[at])
	return score{"one number" + m.name, func(x []float64) float64 { return sign * m.transform(x)[at] }}
}

// linear is Fisher's: the means' difference over the covariance.
func (m *moments) linear() score {
	w := mat.NewVecDense(len(m.keep), nil)
	var chol mat.Cholesky
	diff := mat.NewVecDense(len(m.keep), m.difference())
	if !chol.Factorize(m.pooled()) || chol.SolveVecTo(w, diff) != nil {
		w = diff
	}
	return score{"linear" + m.name, func(x []float64) float64 {
		return floats.Dot(w.RawVector().Data, m.transform(x))
	}}
}

// quadratic is the logarithm of the ratio of two normal densities with these means and covariances, less a constant.
func (m *moments) quadratic() score {
	d := len(m.keep)
	var chol [2]mat.Cholesky
	for side := range chol {
		s := mat.NewSymDense(d, nil)
		s.CopySym(m.cov[side])
		pooled := m.pooled()
		for j := range d {
			s.SetSym(j, j, s.At(j, j)*(1+1e-5)+1e-4*pooled.At(j, j))
		}
		if !chol[side].Factorize(s) {
			return m.linear()
		}
	}
	return score{"quadratic" + m.name, func(x []float64) float64 {
		y := mat.NewVecDense(d, m.transform(x))
		log := 0.0
		for side, sign := range []float64{-0.5, 0.5} {
			v := mat.NewVecDense(d, nil)
			v.SubVec(y, mat.NewVecDense(d, m.mean[side]))
			var solved mat.VecDense
			if chol[side].SolveVecTo(&solved, v) != nil {
				return 0
			}
			log += sign * mat.Dot(v, &solved)
		}
		return log
	}}
}

// distance is how much farther from Without's mean than from With's: the ratio of two densities that fall off
// exponentially.
func (m *moments) distance() score {
	s := m.pooled()
	return score{"distance" + m.name, func(x []float64) float64 {
		var from [2]float64
		y := m.transform(x)
		for side := range from {
			for j, v := range y {
				from[side] += (v - m.mean[side][j]) * (v - m.mean[side][j]) / s.At(j, j)
			}
		}
		return math.Sqrt(from[1]) - math.Sqrt(from[0])
	}}
}
