package composite

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Whatever the problem, a loose solution is as near to a tight one as it says.
func FuzzCertificateIsHonest(f *testing.F) {
	f.Add(uint64(1), uint8(6), uint16(3), 1.0, false)
	f.Add(uint64(2), uint8(9), uint16(40), 1e-3, true)
	f.Add(uint64(3), uint8(7), uint16(77), 1e3, true)
	f.Fuzz(func(t *testing.T, seed uint64, d uint8, which uint16, tolerance float64, far bool) {
		if !(tolerance > 1e-4 && tolerance < 1e6) {
			return
		}
		all := table(6+int(d%10), seed)
		s := all[int(which)%len(all)]
		var start []float64
		if far {
			rng := rand.New(rand.NewPCG(seed, 7))
			start = make([]float64, 6+d%10)
			for j := range start {
				start[j] = 10 * rng.NormFloat64()
			}
		}
		tight, err := Solve(s.p, &Settings{Tolerance: 5e-5, Modulus: s.modulus})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		loose, err := Solve(s.p, &Settings{Tolerance: tolerance, Modulus: s.modulus, Start: start})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if dist := floats.Distance(loose.Theta, tight.Theta,
			2); dist > loose.Certificate.Distance()+tight.Certificate.Distance() {
			t.Errorf("%s: %v from the minimiser, certified %v", s.name, dist, loose.Certificate.Distance())
		}
		if !s.p.projector().Contains(loose.Theta) {
			t.Errorf("%s: outside the constraint", s.name)
		}
	})
}
