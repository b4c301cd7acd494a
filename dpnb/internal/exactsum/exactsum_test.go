package exactsum

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// numbers returns n float64 of all sizes and signs, some of them the negatives of others.
func numbers(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		switch rng.IntN(8) {
		case 0:
			x[i] = math.Float64frombits(rng.Uint64N(1<<52) | rng.Uint64()&(1<<63)) // subnormal
		case 1:
			x[i] = -x[rng.IntN(i+1)]
		case 2:
			x[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(2000)-1000)
		default:
			x[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(60))
		}
	}
	return x
}

// TestSumIsExact: against sums in 2,300 bits, rounded once. A sum in float64, or one rounded twice, differs in most of
// the draws.
func TestSumIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	naive := 0
	for trial := range 400 {
		x := numbers(rng, 1+rng.IntN(30))
		if trial%2 == 0 {
			for i := range x {
				x[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(60))
			}
		}
		exact := new(big.Float).SetPrec(2300)
		v, plain := New(2), 0.0
		for _, f := range x {
			exact.Add(exact, new(big.Float).SetFloat64(f))
			v.Add([]float64{f, 1})
			plain += f
		}
		want, _ := exact.Float64()
		got := make([]float64, 2)
		v.Sum(got)
		if got[0] != want || got[1] != float64(len(x)) {
			t.Fatalf("%v: %v, want %v", x, got, want)
		}
		if plain != want {
			naive++
		}
	}
	if naive < 100 {
		t.Errorf("float64 gets all but %d of the sums right: the test tells nothing", naive)
	}
}

// TestAnyBundlingGivesTheSameBits: whatever the order, the bundles, the merges and the round trips through bytes, parts
// that are empty included.
func TestAnyBundlingGivesTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const n, d = 40, 3
	terms := make([][]float64, n)
	for i := range terms {
		terms[i] = numbers(rng, d)
	}
	var want []byte
	for trial := range 300 {
		rng.Shuffle(n, func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
		parts := make([]*Vector, 1+rng.IntN(8))
		for i := range parts {
			parts[i] = New(d)
		}
		for _, x := range terms {
			parts[rng.IntN(len(parts))].Add(x)
		}
		for len(parts) > 1 {
			i := rng.IntN(len(parts) - 1)
			b, _ := parts[i+1].MarshalBinary()
			var back Vector
			must.Do(back.UnmarshalBinary(b))
			if rng.IntN(2) == 0 {
				parts[i].Merge(&back)
			} else {
				back.Merge(parts[i].Clone())
				parts[i] = &back
			}
			parts = append(parts[:i+1], parts[i+2:]...)
		}
		got, _ := parts[0].MarshalBinary()
		if trial == 0 {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("trial %d: other bytes", trial)
		}
	}
	// One unit in the last place of one term is seen.
	v := New(d)
	for i, x := range terms {
		if i == 0 {
			x[0] = math.Nextafter(x[0], 0)
		}
		v.Add(x)
	}
	if got, _ := v.MarshalBinary(); bytes.Equal(got, want) {
		t.Error("a term that differs in its last bit gives the same sum")
	}
}

func TestSpecialNumbers(t *testing.T) {
	inf, top := math.Inf(1), math.MaxFloat64
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{nil, 0}, {[]float64{math.NaN(), 1}, math.NaN()}, {[]float64{inf, 1}, inf}, {[]float64{-inf, top}, -inf},
		{[]float64{inf, -inf}, math.NaN()}, {[]float64{top, top}, inf}, {[]float64{-top, -top, top}, -top},
		{[]float64{5e-324, -5e-324}, 0}, {[]float64{top, 5e-324, -top}, 5e-324},
		{[]float64{math.Copysign(0, -1)}, 0},
	} {
		v, got := New(1), make([]float64, 1)
		for _, f := range c.x {
			v.Add([]float64{f})
		}
		v.Sum(got)
		if got[0] != c.want && !(math.IsNaN(got[0]) && math.IsNaN(c.want)) {
			t.Errorf("%v: %v, want %v", c.x, got[0], c.want)
		}
	}
}

// TestManyTerms: limbs that are full are carried on.
func TestManyTerms(t *testing.T) {
	v, got := New(1), make([]float64, 1)
	v.Add([]float64{-math.MaxFloat64})
	for range 40 { // doubles the sum
		v.Merge(v.Clone())
		v.terms = maxTerms - 1
	}
	v.Merge(v.Clone())
	for range 41 {
		w := v.Clone()
		w.Add([]float64{math.MaxFloat64})
		w.Sum(got)
		if !math.IsInf(got[0], -1) {
			t.Fatal(got)
		}
	}
	w := New(1)
	w.Add([]float64{math.MaxFloat64})
	for range 41 {
		w.Merge(w.Clone())
	}
	v.Merge(w)
	v.Sum(got)
	if got[0] != 0 {
		t.Error(got)
	}
}

// Limbs are brought back before there are more terms than they can take, whether these come one by one or as sums.
func TestLimbsAreBroughtBack(t *testing.T) {
	one, many := New(1), New(1)
	one.Add([]float64{math.MaxFloat64})
	many.Add([]float64{math.MaxFloat64})
	for range 30 { // as if so many had been added one by one
		many.limb, many.terms = append([]int64(nil), many.limb...), 2*many.terms
		for i := range many.limb {
			many.limb[i] *= 2
		}
	}
	if many.terms != maxTerms {
		t.Fatalf("%d terms were counted, not %d", many.terms, maxTerms)
	}
	for _, add := range []func(v *Vector){func(v *Vector) { v.Add([]float64{math.MaxFloat64}) },
		func(v *Vector) { v.Merge(one) }} {
		v, want := many.Clone(), many.Clone()
		add(v)
		want.normalise()
		want.Merge(one)
		if v.terms > 3 || !bytes.Equal(must.Get(v.MarshalBinary()), must.Get(want.MarshalBinary())) {
			t.Errorf("%d terms are in limbs that take %d", v.terms, maxTerms)
		}
	}
}

func TestBytesThatAreNone(t *testing.T) {
	v := New(2)
	v.Add([]float64{1, -1e300})
	whole, _ := v.MarshalBinary()
	for k := range whole {
		if err := new(Vector).UnmarshalBinary(whole[:k]); !errors.Is(err, errDamaged) {
			t.Errorf("%d of %d bytes are taken: %v", k, len(whole), err)
		}
	}
	if err := new(Vector).UnmarshalBinary(append(whole, 0)); !errors.Is(err, errDamaged) {
		t.Error("a byte more is taken")
	}
	if err := new(Vector).UnmarshalBinary([]byte{255, 255, 255, 255, 0, 0, 0}); !errors.Is(err, errDamaged) {
		t.Error("4 billion coordinates are allocated")
	}
}

// Bytes of sums pass between programs and versions: what is special has the bits that it has.
func TestBytesOfSpecialNumbers(t *testing.T) {
	for bits, x := range [][]float64{{}, {math.NaN()}, {math.Inf(1)}, {math.Inf(1), math.NaN()}, {math.Inf(-1)},
		{math.NaN(), math.Inf(-1)}, {math.Inf(-1), math.Inf(1)}, {math.Inf(1), math.Inf(-1), math.NaN()}} {
		v := New(1)
		for _, f := range x {
			v.Add([]float64{f})
		}
		if got, want := must.Get(v.MarshalBinary()), []byte{1, 0, 0, 0, byte(bits), 0, 0}; !bytes.Equal(got, want) {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
	if err := new(Vector).UnmarshalBinary([]byte{1, 0, 0, 0, 8, 0, 0}); !errors.Is(err, errDamaged) {
		t.Errorf("a fourth bit is taken: %v", err)
	}
}

func BenchmarkAdd(b *testing.B) {
	x := numbers(rand.New(rand.NewPCG(1, 1)), 100)
	v := New(100)
	for b.Loop() {
		v.Add(x)
	}
}
