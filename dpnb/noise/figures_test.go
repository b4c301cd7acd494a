package noise

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/noisekey"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
)

func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for _, seed := range []uint64{0, 1, 1 << 63} {
			s := NewSeeded(seed)
			a, b := s.Stream(0), s.Stream(1).Stream(2)
			at, known := s.Seed()
			put(fmt.Sprint("seeded ", seed), s.Float64(), s.NormFloat64(), s.Uint64()>>12, a.Float64(), b.Float64(),
				at>>12, known,
				mix(seed)>>12)
			dst := make([]float64, 3)
			b.Gaussian(dst, 2.5)
			put("gaussian", dst)
			sampler := Exact(NewSeeded(seed))
			sums := []float64{1, 2, 3}
			sampler.Normals(3).AddRounded(sums, 2, 0x1p-10)
			put("exact", sums, sampler.Below(1000))
		}
		for _, d := range []int{1, 3} {
			for _, m := range []int{3, 4, 8} {
				w := Wishart(NewSeeded(4), d, m)
				put(fmt.Sprint("Wishart ", d, m), w.RawSymmetric().Data)
			}
		}
		var zero noisekey.Key
		key := noisekey.Derived(zero, "test", 7)
		keyed := OfKey(key)
		put("keyed", keyed.Uint64()>>12, keyed.Uint64()>>12, keyed.keyed.next().Uint64()>>12)
		for _, src := range []Source{NewSeeded(3), NewSecure(), keyed} {
			seed, ok := OriginOf(src).Seed()
			_, forks := Forks(src)
			put(fmt.Sprintf("origin %T %s", src, OriginOf(src).Warning()), Simulated(src), OriginOf(src).Simulated(),
				seed, ok, forks,
				OrSecure(src) == src, OrSecure(nil) != nil)
		}
		fork, _ := Forks(NewSeeded(9))
		put("forks", fork(0).Uint64()>>12, fork(3).Uint64()>>12, Origin{}.Simulated())
		put(Origin{}.Warning())
		for _, sigma := range []float64{0, 1, -1, math.NaN(), math.Inf(1)} {
			func() {
				defer func() { put(fmt.Sprint("σ ", sigma, " ", recover())) }()
				checkSigma(sigma)
			}()
		}
	})
}
