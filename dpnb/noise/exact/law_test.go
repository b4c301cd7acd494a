package exact

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// word is 64 bits that can be had once.
type word struct {
	bits uint64
	used bool
}

type ended struct{}

func (w *word) Uint64() uint64 {
	if w.used {
		panic(ended{})
	}
	w.used = true
	return w.bits
}

// enumerate calls leaf for every string of up to depth bits that decides what draw returns, with its length: it walks
// the tree of all strings, one leaf at a time.
func enumerate(depth int, draw func(s *Sampler) variate, leaf func(v variate, length int)) {
	for next := uint64(0); ; { // the first bit is the highest
		s := &Sampler{bits: &word{bits: bits.Reverse64(next)}, width: 1}
		length := depth
		func() {
			defer func() {
				if r := recover(); r != nil && r != (ended{}) {
					panic(r)
				}
			}()
			v := draw(s)
			if n := 64 - int(s.left); n <= depth {
				length = n
				leaf(v, n)
			}
		}()
		if next = (next>>(64-length) + 1) << (64 - length); next == 0 {
			return
		}
	}
}

// decided runs all bit strings of up to depth bits through the sampler with digits of one bit, and returns by how much,
// at most, the mass that they decide exceeds the law's in a cell of width 1/cells, and how much mass is decided in all.
func decided(depth, cells int, draw func(s *Sampler) variate, cdf func(float64) float64) (excess, total float64) {
	const reach = 8
	mass := make([]float64, 2*reach*cells)
	enumerate(depth, draw, func(v variate, length int) {
		p := math.Ldexp(1, -length)
		total += p
		lo, width := float64(v.whole), 1.0
		for i := range v.fraction.known {
			digit := v.fraction.first
			if i > 0 {
				digit = v.fraction.rest[i-1]
			}
			width /= 2
			lo += width * float64(digit)
		}
		if v.negative {
			lo = -lo - width
		}
		// The further digits are fair: the mass is spread evenly over the interval.
		from, to := (lo+reach)*float64(cells), (lo+width+reach)*float64(cells)
		for k := int(from); float64(k) < to && k < len(mass); k++ {
			share := (math.Min(to, float64(k+1)) - math.Max(from, float64(k))) / (to - from)
			mass[k] += p * share
		}
	})
	excess = math.Inf(-1)
	for k, m := range mass {
		at := float64(k)/float64(cells) - reach
		excess = max(excess, m-(cdf(at+1/float64(cells))-cdf(at)))
	}
	return excess, total
}

// The law without statistics: no cell has more mass decided than the law gives it. What is not decided yet bounds from
// above what any cell may lack.
func TestLawWithoutStatistics(t *testing.T) {
	testscale.Slow(t)
	depth := 18
	if testscale.Full() {
		depth = 21
	}
	for name, c := range map[string]struct {
		draw  func(*Sampler) variate
		cdf   func(float64) float64
		least float64
	}{
		"normal":      {(*Sampler).normal, normalCDF, 0.3},
		"exponential": {(*Sampler).exponential, exponentialCDF, 0.8},
		"laplace":     {(*Sampler).laplace, laplaceCDF, 0.8},
	} {
		excess, total := decided(depth, 16, c.draw, c.cdf)
		t.Logf("%s: %.3f of the mass is decided, largest excess %.2g", name, total, excess)
		if excess > 1e-15 {
			t.Errorf("%s: a cell has %g more than the law gives it", name, excess)
		}
		if !(total > c.least && total < 1) {
			t.Errorf("%s: %v of the mass is decided", name, total)
		}
	}
}

// chance encloses the probability that ask is true, by all strings of up to depth bits: from the mass that is decided
// as true to that which is not decided as false.
func chance(depth int, ask func(s *Sampler) bool) (lower, upper float64) {
	upper = 1
	yes := false
	enumerate(depth, func(s *Sampler) variate { yes = ask(s); return variate{} }, func(_ variate, length int) {
		if p := math.Ldexp(1, -length); yes {
			lower += p
		} else {
			upper -= p
		}
	})
	return lower, upper
}

// The parts of the sampler have the probabilities that the proof says, without statistics, and a wrong luck is seen.
func TestPartsWithoutStatistics(t *testing.T) {
	depth := 17
	if !testscale.Full() {
		depth = 14
	}
	holds := func(ask func(s *Sampler) bool, least, most float64) bool {
		lower, upper := chance(depth, ask)
		return lower <= most && upper >= least
	}
	if lower, upper := chance(depth, (*Sampler).half); upper-lower > 0.02 {
		t.Errorf("half is only known to be from %v to %v", lower, upper)
	}
	if !holds((*Sampler).half, math.Exp(-0.5), math.Exp(-0.5)) {
		t.Error("half has another probability")
	}
	for _, x := range []uint64{0, 0x35, 0x80, 0xc1, 0xff} {
		// x is known to eight digits.
		known := func() *number {
			n := &number{first: x >> 7, known: 8}
			for i := 6; i >= 0; i-- {
				n.rest = append(n.rest, x>>i&1)
			}
			return n
		}
		lo, hi := float64(x)/256, float64(x+1)/256
		if !holds(func(s *Sampler) bool { return s.evenRun(known()) }, math.Exp(-hi), math.Exp(-lo)) {
			t.Errorf("evenRun(%v) has another probability", lo)
		}
		for k := range uint64(4) {
			q := func(x float64) float64 { return (2*float64(k) + x) / (2*float64(k) + 2) }
			if !holds(func(s *Sampler) bool { return s.luck(k, known()) }, q(lo), q(hi)) {
				t.Errorf("luck(%d, %v) has another probability", k, lo)
			}
			if !holds(func(s *Sampler) bool { return s.shrink(k, known()) }, math.Exp(-hi*q(hi)), math.Exp(-lo*q(lo))) {
				t.Errorf("shrink(%d, %v) has another probability", k, lo)
			}
			wrong := faulty{luckOfLast: true}
			if k == 0 && x > 0x80 && holds(func(s *Sampler) bool { return wrong.shrink(s, k, known()) },
				math.Exp(-hi*q(hi)), math.Exp(-lo*q(lo))) {
				t.Errorf("shrink(%d, %v) with a luck that is too large is not seen", k, lo)
			}
		}
	}
}

// faulty is Algorithm N with one thing wrong.
type faulty struct {
	luckOfLast       bool // c = 2k + 1 taken as yes
	halves, oneTrial bool // k(k−1)/2 for k(k−1); k trials for k + 1
	newXOnly         bool // after an odd run a new x, not a new k
}

func (f faulty) normal(s *Sampler) variate {
draw:
	for {
		var v variate
		for s.half() {
			v.whole++
		}
		n := v.whole * (v.whole - 1)
		if v.whole == 0 {
			n = 0
		}
		if f.halves {
			n /= 2
		}
		for ; n > 0; n-- {
			if !s.half() {
				continue draw
			}
		}
		trials := v.whole + 1
		if f.oneTrial {
			trials--
		}
	fraction:
		for v.fraction = (number{}); ; v.fraction = (number{}) {
			for range trials {
				if !f.shrink(s, v.whole, &v.fraction) {
					if f.newXOnly {
						continue fraction
					}
					continue draw
				}
			}
			break
		}
		v.negative = s.take(1) == 1
		return v
	}
}

func (f faulty) shrink(s *Sampler, k uint64, x *number) bool {
	if !f.luckOfLast {
		return s.shrink(k, x)
	}
	var a, b number
	last, next := x, &a
	for even := true; ; even = !even {
		if c := s.below(2*k + 2); c == 2*k {
			var u number
			if !s.less(&u, x) {
				return even
			}
		}
		*next = number{}
		if !s.less(next, last) {
			return even
		}
		if last == x {
			last = &b
		}
		last, next = next, last
	}
}

// The test of the law sees each of the faults that this sampler invites.
func TestLawCatchesFaults(t *testing.T) {
	draws := 100_000
	if !testscale.Full() {
		draws = 25_000
	}
	for _, f := range []faulty{{}, {luckOfLast: true}, {halves: true}, {oneTrial: true}, {newXOnly: true}} {
		wrong := f != faulty{}
		t.Run(fmt.Sprintf("%+v", f), func(t *testing.T) {
			s := seeded(77, 64)
			x := make([]float64, draws)
			for i := range x {
				v := f.normal(s)
				x[i] = s.value(&v)
			}
			if d := ks(x, normalCDF); d > 2.7 != wrong {
				t.Errorf("√n·KS = %.2f", d)
			}
		})
	}
}

// Words that are equal are told apart by further ones, in the right order.
func TestEqualWords(t *testing.T) {
	for name, c := range map[string]struct {
		rest  words
		known int
		even  bool
	}{
		// x begins with 9, and so does u₁: the second words decide.
		"u₁ above x":               {words{9, 5, 4}, 1, true},
		"u₁ below x, u₂ above u₁":  {words{9, 3, 4, 10}, 1, false},
		"u₁ below x, u₂ = u₁ < ":   {words{9, 3, 4, 9, 2, 10}, 1, true},
		"x's second word is known": {words{9, 8}, 2, true},
		// The second step of the run is the one that is equal.
		"u₂ above u₁": {words{7, 7, 6, 5}, 1, false},
		"u₂ below u₁": {words{7, 7, 4, 5, 8}, 1, true},
		// The third and the fourth.
		"u₃ above u₂": {words{7, 5, 5, 6, 5}, 1, true},
		"u₃ below u₂": {words{7, 5, 5, 4, 5, 8}, 1, false},
		"u₄ above u₃": {words{8, 7, 5, 5, 6, 5}, 1, false},
		"u₄ below u₃": {words{8, 7, 5, 5, 4, 5, 8}, 1, true},
	} {
		x := number{first: 9, known: 1}
		if c.known == 2 {
			x.rest, x.known = []uint64{7}, 2
		}
		w := c.rest
		if got := New(&w).evenRun(&x); got != c.even || len(w) > 0 {
			t.Errorf("%s: even is %v, %d words left", name, got, len(w))
		}
	}
}
