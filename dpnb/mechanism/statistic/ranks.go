package statistic

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// cells is into how many cells the range of a column is cut, points how many points each has. A record counts as spread
// evenly over its cell.
const (
	cells  = 1 << 20
	points = 1 << 10
)

// sketch is how many records are in each cell.
type sketch struct {
	keys   []uint32
	counts []int64 // nil while there are few keys
}

// many is how many keys are kept before they are counted.
const many = 1 << 16

func (s *sketch) add(key uint32) {
	if s.counts != nil {
		s.counts[key]++
		return
	}
	if s.keys = append(s.keys, key); len(s.keys) == many {
		s.dense()
	}
}

// dense returns how many there are of each key.
func (s *sketch) dense() []int64 {
	if s.counts == nil {
		s.counts = make([]int64, cells)
		for _, k := range s.keys {
			s.counts[k]++
		}
		s.keys = nil
	}
	return s.counts
}

// ranks has the cells with records, in order: their places, and how many records are before each and, last, in all.
type ranks struct {
	cell   []int64
	before []int64
}

func (s *sketch) ranks() ranks {
	r := ranks{before: []int64{0}}
	enter := func(cell, count int64) {
		r.cell = append(r.cell, cell)
		r.before = append(r.before, r.total()+count)
	}
	for k, c := range s.counts {
		if c > 0 {
			enter(int64(k), c)
		}
	}
	slices.Sort(s.keys)
	for i := 0; i < len(s.keys); {
		j := i
		for j < len(s.keys) && s.keys[j] == s.keys[i] {
			j++
		}
		enter(int64(s.keys[i]), int64(j-i))
		i = j
	}
	return r
}

// total returns the number of records.
func (r *ranks) total() int64 { return r.before[len(r.before)-1] }

// from returns the first place of r whose cell is not before that of a point.
func (r *ranks) from(point int64) int {
	return sort.Search(len(r.cell), func(i int) bool { return r.cell[i] >= point/points })
}

// at returns how many records are before a point, those of its cell in part.
func (r *ranks) at(point int64) float64 {
	i := r.from(point)
	rank := float64(r.before[i])
	if i < len(r.cell) && r.cell[i] == point/points {
		rank += float64(r.before[i+1]-r.before[i]) * float64(point%points) / points
	}
	return rank
}

// round numbers are more often the values of columns than others: cells that hold one have more weight before anything
// is known of the records. cell are their places, before the sum of what the points of those before each have more than
// others, and last of all.
type roundNumbers struct {
	cell   []int64
	before []uint64
}

// mostRound is how many multiples of a power of ten are round numbers.
const mostRound = 1 << 12

// roundNumbers returns the multiples of all powers of ten of which there are at most mostRound within the bounds. Those
// of each power have together as much weight as all points have.
func (m Quantiles) roundNumbers() (r roundNumbers) {
	r.before = []uint64{0}
	unit := math.Pow(10, math.Ceil(math.Log10(2*m.Of.half()/mostRound)))
	first, last := math.Ceil(m.Of.Lower/unit), math.Floor(m.Of.Upper/unit)
	if !(math.Abs(first) < 1<<40 && math.Abs(last) < 1<<40) {
		return r // as good as one number
	}
	// more has what each power of ten gives to its multiples: of 1, 10, 100, … units.
	var more []uint64
	for power := 1.0; ; power *= 10 {
		n := math.Floor(last/power) - math.Ceil(first/power) + 1
		if n < 2 {
			break
		}
		more = append(more, max(1, uint64(cells/n)))
	}
	for k := int64(first); k <= int64(last); k++ {
		sum := uint64(0)
		for i, power := 0, int64(1); i < len(more) && k%power == 0; i, power = i+1, 10*power {
			sum += more[i]
		}
		c := int64(m.cell(float64(k) * unit))
		if n := len(r.cell); n == 0 || r.cell[n-1] < c {
			r.cell, r.before = append(r.cell, c), append(r.before, r.before[n])
		}
		r.before[len(r.before)-1] += sum
	}
	return r
}

// from returns the first place whose cell is not before c.
func (r *roundNumbers) from(c int64) int {
	return sort.Search(len(r.cell), func(i int) bool { return r.cell[i] >= c })
}

// more returns what a point of the cells from c to before d has more than one of others, summed over the cells.
func (r *roundNumbers) more(c, d int64) uint64 { return r.before[r.from(d)] - r.before[r.from(c)] }

// node is one exponential mechanism: a point j of [lo, hi) is drawn with a probability proportional to what it has by
// roundNumbers times the weight of the distance from zero to [r(j), r(j+1)], r(j) being how many records of [lo, hi)
// are before j, less the share q of all of them. Its range is at most η.
type node struct {
	kappa    float64
	round    *roundNumbers
	segments []segment
	// mass is how much the segments weigh up to each, at most.
	mass []uint128
}

// segment is points from … to, in which the rank rises evenly from first by slope for each: of one cell, or of whole
// cells if the slope is 0.
type segment struct {
	from, to     int64
	first, slope float64
	most         uint128 // the largest weight
}

// slack is what rounding may add to a range, relatively: the theory page has the sum.
const slack = 0x1p-16

// node returns the mechanism of [lo, hi) at the share q. One record changes r by between −q and 1 − q, rising from left
// to right, and so distances by numbers from an interval of the length 2·max(q, 1 − q).
func (r *ranks) node(round *roundNumbers, lo, hi int64, q, eta float64) *node {
	if hi <= lo {
		hi = lo + 1 // two cuts at one point: the quantile between is there, whatever the records
	}
	n := &node{kappa: eta / (2 * math.Max(q, 1-q)) * (1 - slack), round: round}
	start := r.at(lo)
	target := start + q*(r.at(hi)-start)
	enter := func(from, to int64, first, slope float64) {
		if to <= from {
			return
		}
		last := first + slope*float64(to-from)
		nearest := math.Max(0, math.Max(first, -last))
		s := segment{from, to, first, slope, n.weight(nearest)}
		n.segments = append(n.segments, s)
		mass := s.most.times(n.base(s))
		if k := len(n.mass); k > 0 {
			mass = mass.plus(n.mass[k-1])
		}
		n.mass = append(n.mass, mass)
	}
	// Cells that are all too far away weigh the same, point by point.
	far := mostExponent / n.kappa
	first, end := r.from(lo), r.from(hi+points-1)
	near := first + sort.Search(end-first, func(i int) bool { return float64(r.before[first+i+1])-target >= -far })
	end = near + sort.Search(end-near, func(i int) bool { return float64(r.before[near+i])-target > far })
	n.segments, n.mass = make([]segment, 0, 2*(end-near)+6), make([]uint128, 0, 2*(end-near)+6)
	// even enters points of one rank, the whole cells among them by themselves.
	even := func(from, to int64, rank float64) {
		inner, outer := (from+points-1)/points*points, to/points*points
		if inner > outer {
			inner, outer = to, to // of one cell
		}
		enter(from, inner, rank, 0)
		enter(inner, outer, rank, 0)
		enter(outer, to, rank, 0)
	}
	at := lo
	if near > first {
		at = min(hi, r.cell[near]*points) // one is near: they have the share q between them
		even(lo, at, -far)
	}
	for i := near; i < end; i++ {
		from, to := max(lo, r.cell[i]*points), min(hi, (r.cell[i]+1)*points)
		count := float64(r.before[i+1] - r.before[i])
		before := float64(r.before[i]) - target
		even(at, from, before)
		enter(from, to, before+count*float64(from-r.cell[i]*points)/points, count/points)
		at = to
	}
	even(at, hi, float64(r.before[end])-target)
	return n
}

// base returns what the points of a segment have by roundNumbers, in all.
func (n *node) base(s segment) uint64 {
	more := n.round.more(s.from/points, (s.to+points-1)/points)
	if s.to-s.from < points {
		return uint64(s.to-s.from) * (1 + more)
	}
	return uint64(s.to-s.from) + more*points
}

// point draws a point of a segment by what each has.
func (n *node) point(s segment, draw *exact.Sampler) int64 {
	plain := s.to - s.from
	if k := int64(draw.Below(int(n.base(s)))); k < plain || plain <= points {
		return k % plain // of one cell all points have the same
	}
	first, last := n.round.from(s.from/points), n.round.from(s.to/points)
	u := n.round.before[first] + uint64(draw.Below(int(n.round.before[last]-n.round.before[first])))
	i := sort.Search(len(n.round.cell), func(i int) bool { return n.round.before[i+1] > u })
	return n.round.cell[i]*points - s.from + int64(draw.Below(points))
}

// mostExponent caps κd, d the distance: further away all points weigh the same. That is as private, since a cap moves
// no two numbers apart.
const mostExponent = 38

// weight returns ⌊2⁹²e^{−min(κd, 38)}⌋ of the float64 exponential.
func (n *node) weight(d float64) uint128 {
	f, e := math.Frexp(math.Exp(-math.Min(n.kappa*d, mostExponent)))
	return uint128{0, uint64(f * 0x1p53)}.shift(e - 53 + 92)
}

// draw returns a point, of exactly the law that the weights say: a segment by the most that its points could weigh, a
// point of it as if all did, taken with the share that it does.
func (n *node) draw(draw *exact.Sampler, src noise.Source) int64 {
	for {
		u := n.mass[len(n.mass)-1].below(src)
		s := n.segments[sort.Search(len(n.mass), func(i int) bool { return u.less(n.mass[i]) })]
		j := n.point(s, draw)
		if s.slope == 0 || s.most.below(src).less(n.weight(s.distance(j))) {
			return s.from + j
		}
	}
}

// distance returns that of point from + j.
func (s segment) distance(j int64) float64 {
	r := s.first + s.slope*float64(j)
	return math.Max(0, math.Max(r, -(r+s.slope)))
}

// uint128 is hi·2⁶⁴ + lo.
type uint128 struct{ hi, lo uint64 }

func (a uint128) less(b uint128) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a uint128) plus(b uint128) uint128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return uint128{hi, lo}
}

func (a uint128) times(b uint64) uint128 {
	hi, lo := bits.Mul64(a.lo, b)
	return uint128{hi + a.hi*b, lo}
}

// shift returns a·2^k, rounded down, of a < 2⁶⁴.
func (a uint128) shift(k int) uint128 {
	switch {
	case k <= 0:
		return uint128{0, a.lo >> -k}
	case k < 64:
		return uint128{a.lo >> (64 - k), a.lo << k}
	}
	return uint128{a.lo << (k - 64), 0}
}

// below returns a number that is uniform over 0 … a − 1.
func (a uint128) below(src noise.Source) uint128 {
	mask := uint128{0, math.MaxUint64 >> bits.LeadingZeros64(a.lo)}
	if a.hi > 0 {
		mask = uint128{math.MaxUint64 >> bits.LeadingZeros64(a.hi), math.MaxUint64}
	}
	for {
		u := uint128{0, src.Uint64() & mask.lo}
		if a.hi > 0 {
			u.hi = src.Uint64() & mask.hi
		}
		if u.less(a) {
			return u
		}
	}
}
