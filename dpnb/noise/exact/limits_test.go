package exact

import (
	"math"
	"testing"
)

// Of every argument the ends of its range are admitted, and what is next to them panics.
func TestLimits(t *testing.T) {
	above := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	below := func(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
	one := make([]float64, 1)
	for name, c := range map[string]struct {
		in, out []float64
		f       func(x float64)
	}{
		"Subset": {[]float64{0, 5e-324, 1}, []float64{-5e-324, above(1)},
			func(x float64) { seeded(1, 64).Subset(nil, x, 100) }},
		"Poisson": {[]float64{5e-324, 1}, []float64{0, above(1e6)}, func(x float64) { seeded(1, 64).Poisson(x) }},
		"Geometrics": {[]float64{leastGeometric, largestGeometric},
			[]float64{below(leastGeometric), above(largestGeometric)},
			func(x float64) { seeded(1, 64).Geometrics(one, x) }},
		"FillNormal": {[]float64{Least, Largest}, []float64{below(Least), above(Largest)},
			func(x float64) { seeded(1, 64).FillNormal(one, x) }},
		"AddRounded": {[]float64{Least, Largest}, []float64{below(Least), above(Largest)},
			func(x float64) { seeded(1, 64).Normals(1).AddRounded([]float64{0}, x, Grid(math.Max(Least, x))) }},
		"preRound, step": {[]float64{0x1p-900, 0x1p900}, []float64{0x1p-901, 0x1p901, 3},
			func(x float64) { preRound([]float64{0}, x) }},
		"preRound, size": {[]float64{below(0x1p51), -below(0x1p51)}, []float64{0x1p51, -0x1p51},
			func(x float64) { preRound([]float64{x}, 1) }},
		"Below": {[]float64{1}, []float64{0, -1}, func(x float64) {
			if x == x {
				seeded(1, 64).Below(int(x))
			} else {
				panic(x)
			}
		}},
	} {
		panics := func(x float64) (did bool) {
			defer func() { did = recover() != nil }()
			c.f(x)
			return false
		}
		for _, x := range c.in {
			if panics(x) {
				t.Errorf("%s refuses %v", name, x)
			}
		}
		for _, x := range append(c.out, math.NaN()) {
			if !panics(x) {
				t.Errorf("%s admits %v", name, x)
			}
		}
	}
}
