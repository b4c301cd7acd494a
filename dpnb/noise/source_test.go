package noise

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/noisekey"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// ksNormal returns √n times the Kolmogorov–Smirnov distance to N(0, 1).
func ksNormal(x []float64) float64 {
	sort.Float64s(x)
	n := float64(len(x))
	var d float64
	for i, v := range x {
		f := 0.5 * math.Erfc(-v/math.Sqrt2)
		d = math.Max(d, math.Max(f-float64(i)/n, float64(i+1)/n-f))
	}
	return math.Sqrt(n) * d
}

func TestGaussianLaw(t *testing.T) {
	const limit = 2.69
	for name, s := range map[string]*Seeded{"seeded": NewSeeded(1), "stream": NewSeeded(1).Stream(3)} {
		x := make([]float64, 50_000)
		s.Gaussian(x, 0.3)
		for i := range x {
			x[i] /= 0.3
		}
		if ks := ksNormal(x); ks > limit {
			t.Errorf("%s: √n·KS = %.3f > %v", name, ks, limit)
		}
		// The test must be able to fail: a sample with 3 % too small a deviation.
		for i := range x {
			x[i] *= 0.93
		}
		if ks := ksNormal(x); ks < limit {
			t.Errorf("%s: a deviation of 0.93 goes unnoticed (√n·KS = %.3f)", name, ks)
		}
	}
}

// A seed gives the same bits in every version with the same three numbers (docs/versions.md).
func TestBitsOfASeed(t *testing.T) {
	s := NewSeeded(7)
	if a, b, c := s.Uint64(), s.Stream(3).Uint64(), s.Stream(3).Stream(1).Uint64(); a != 0xc7e3b87c8d668541 ||
		b != 0xe4b8c9904bab6af4 || c != 0xfd96814fdad8b21e {
		t.Errorf("%#x %#x %#x", a, b, c)
	}
}

func TestStreams(t *testing.T) {
	draw := func(s *Seeded) [4]uint64 {
		return [4]uint64{s.Uint64(), s.Uint64(), s.Uint64(), s.Uint64()}
	}
	a := NewSeeded(7)
	first := draw(a.Stream(2))
	draw(a)
	if draw(a.Stream(2)) != first {
		t.Error("a stream depends on what was drawn from its parent")
	}
	seen := map[[4]uint64]string{}
	add := func(name string, s *Seeded) {
		v := draw(s)
		if other, ok := seen[v]; ok {
			t.Errorf("%s repeats %s", name, other)
		}
		seen[v] = name
	}
	for seed := uint64(0); seed < 20; seed++ {
		s := NewSeeded(seed)
		add("root", s)
		for i := 0; i < 20; i++ {
			add("stream", s.Stream(i))
			add("substream", s.Stream(i).Stream(0))
			add("substream", s.Stream(0).Stream(i+1))
		}
		// Of siblings that were both made before, at every depth.
		for depth, parent := 0, s.Stream(100); depth < 6; depth, parent = depth+1, parent.Stream(0) {
			one, two := parent.Stream(1), parent.Stream(2)
			add("child of a sibling", one.Stream(3))
			add("child of a sibling", two.Stream(3))
		}
	}
}

func TestStreamsAreUncorrelated(t *testing.T) {
	const n = 20_000
	x, y := make([]float64, n), make([]float64, n)
	root := NewSeeded(3)
	for i := range x {
		root.Stream(i).Gaussian(x[i:i+1], 1)
		root.Stream(i+1).Gaussian(y[i:i+1], 1)
	}
	var c float64
	for i := 0; i+1 < n; i++ {
		c += x[i] * x[i+1]
	}
	if z := c / math.Sqrt(n); !(math.Abs(z) <= 4.9) {
		t.Errorf("first draws of neighbouring streams are correlated: z = %.2f", z)
	}
	if x[1] != y[0] {
		t.Error("a stream is not reproducible")
	}
}

func TestSourcesSayWhatTheyAre(t *testing.T) {
	if Simulated(NewSecure()) || Simulated(&Secure{}) {
		t.Error("a secure source counts as a simulation")
	}
	for name, src := range map[string]Source{"seeded": NewSeeded(1), "boast": boast{NewSeeded(1)},
		"wrapped": wrapped{NewSecure()}, "nil": (*Secure)(nil)} {
		if !Simulated(src) {
			t.Errorf("%s passes for secure", name)
		}
	}
	if _, ok := NewSecure().Seed(); ok {
		t.Error("a secure source has a seed")
	}
	if seed, ok := NewSeeded(9).Stream(1).Seed(); !ok || seed != 9 {
		t.Error("a stream forgot its seed")
	}
}

func TestBadSigmaPanics(t *testing.T) {
	for sigma, fine := range map[float64]bool{0: true, math.MaxFloat64: true, -5e-324: false, math.NaN(): false,
		math.Inf(1): false} {
		func() {
			defer func() {
				if (recover() == nil) != fine {
					t.Errorf("sigma = %v", sigma)
				}
			}()
			NewSeeded(0).Gaussian(make([]float64, 1), sigma)
		}()
	}
}

// boast claims to be no simulation; wrapped is a secure source whose bits are not.
type boast struct{ *Seeded }

func (boast) Simulation() bool     { return false }
func (boast) Seed() (uint64, bool) { return 0, false }

type wrapped struct{ *Secure }

func (wrapped) Uint64() uint64 { return 4 }

func TestOrigin(t *testing.T) {
	var o Origin
	if !o.Simulated() || o.Warning() == "" {
		t.Error("an unknown origin passes for secure")
	}
	if o = OriginOf(NewSecure()); o.Simulated() || o.Warning() != "" {
		t.Error("a secure origin is a simulation")
	}
	o = OriginOf(NewSeeded(7))
	if seed, ok := o.Seed(); !o.Simulated() || !ok || seed != 7 {
		t.Errorf("%+v is not a simulation with seed 7", o)
	}
	for _, seed := range []uint64{0, 1, 1 << 63} {
		if w := OriginOf(NewSeeded(seed)).Warning(); !strings.Contains(w, fmt.Sprint("seed ", seed)) {
			t.Errorf("seed %d: %q", seed, w)
		}
	}
	if o = OriginOf(boast{NewSeeded(1)}); !o.Simulated() || o.Warning() == "" {
		t.Error("a source that only claims to be secure is believed")
	}
}

// One secure source of several goroutines gives no word twice.
func TestSecureIsSafeForConcurrentUse(t *testing.T) {
	src := NewSecure()
	const workers, draws = 8, 4000
	words := make([][]uint64, 2*workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			buffered := bufferOf(src)
			for range draws {
				words[w] = append(words[w], src.Uint64())
				words[workers+w] = append(words[workers+w], buffered.Uint64())
			}
		})
	}
	wait.Wait()
	seen := map[uint64]bool{}
	for _, list := range words {
		for _, v := range list {
			if seen[v] {
				t.Fatal("a word came twice")
			}
			seen[v] = true
		}
	}
}

// bufferOf is the bits that a run over src draws from.
func bufferOf(src Source) exact.Bits {
	if Simulated(src) {
		return src
	}
	return &buffer{}
}

// What was read from the generator and not used is not kept for another run, and what was used is forgotten.
func TestRunsShareNoBuffer(t *testing.T) {
	b := &buffer{}
	b.Uint64()
	if used := b.bytes[b.left:]; !bytes.Equal(used, make([]byte, 8)) {
		t.Error("a used word is still in memory")
	}
	src := NewSecure()
	one, two := make([]float64, 4), make([]float64, 4)
	Exact(src).FillNormal(one, 1)
	Exact(src).FillNormal(two, 1)
	if slices.Equal(one, two) {
		t.Error("two runs drew the same")
	}
	if first, second := src.bits(), src.bits(); first.(*buffer) == second.(*buffer) {
		t.Error("two runs draw from one buffer, which a copy of this process would go on with")
	}
}

// No bit of a word is always the same: of 64 words one is with a probability of 2⁻⁵⁶.
func TestEveryBitIsDrawn(t *testing.T) {
	src, keyed := NewSecure(), OfKey(noisekey.New())
	for name, draw := range map[string]func() uint64{"words": src.Uint64, "runs": src.bits().Uint64,
		"words of a key": keyed.Uint64, "runs of a key": keyed.bits().Uint64, "seeds": NewSeeded(1).Uint64} {
		some, all := uint64(0), ^uint64(0)
		for range 64 {
			v := draw()
			some, all = some|v, all&v
		}
		if some != ^uint64(0) || all != 0 {
			t.Errorf("%s: bits %x are always 1, %x always 0", name, all, ^some)
		}
	}
}

// zeros is a generator that everybody knows.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// Whoever replaces crypto/rand's Reader knows nothing of what a secure source or a key draws: two words are equal with
// a probability of 2⁻⁶⁴.
func TestNoVariableDecidesNoise(t *testing.T) {
	was := rand.Reader
	rand.Reader = zeros{}
	defer func() { rand.Reader = was }()
	keyed := func() uint64 { return OfKey(noisekey.New()).Uint64() }
	buffered := func() uint64 { return NewSecure().bits().Uint64() }
	for name, draw := range map[string]func() uint64{"words": NewSecure().Uint64, "runs": buffered, "keys": keyed} {
		if v := draw(); v == 0 || v == draw() {
			t.Errorf("%s are known to whoever replaces the generator", name)
		}
	}
}
