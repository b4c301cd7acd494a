package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

var extendables = []Convex{LeastAbsolute{}, Pinball{0.9}, Hinge{}, ReLU{}, Affine{}, Huber{0.7}, Squared{}, Logistic{},
	Softplus{Width: 1}, Softplus{Width: 0.01}, Softplus{Width: 0.5, Margin: 2}}

func bends() []Bend {
	return []Bend{
		FreeBend(1, 1, 2), FreeBend(1, 2, 0.1), FreeBend(3, 0.5, 40), FreeBend(1, 0.125, 1), CoshBend(1, 2),
		CoshBend(2, 0.3),
	}
}

// Γ against 512 digits, also in double-double; h and its conjugate against sums; S̄ and the inverse against their
// definitions.
func TestBend(t *testing.T) {
	for _, b := range bends() {
		for v := 1e-9; v < 1e4; v *= 3.7 {
			got, curvature := b.At(v)
			want := freeExactly(b, v)
			if !(math.Abs(got-want) <= 8*0x1p-53*want) {
				t.Errorf("%v: Γ(%g) = %v, want %v", b, v, got, want)
			}
			precise, _ := b.preciseAt(dd.From(v))
			both := bigref.Sum(bigref.New(precise.Hi), bigref.New(precise.Lo))
			if d := math.Abs(bigref.Float(bigref.Sub(both, freeBig(b, v)))); d > 0x1p-85*b.c {
				t.Errorf("%v: Γ(%g) errs by %g in double-double", b, v, d)
			}
			if s := b.Curvature(got); !(math.Abs(s-curvature) <= 1e-9*b.top*(1e-3+s/b.top)) {
				t.Errorf("%v: S̄(Γ(%g)) = %g, Γ′ = %g", b, v, s, curvature)
			}
			if got < 0.999*b.c {
				if back := b.Inverse(got); !(math.Abs(back-v) <= 1e-10*v) {
					t.Errorf("%v: Γ⁻¹(Γ(%g)) = %g", b, v, back)
				}
			}
		}
		// h by Simpson's rule.
		const n = 4000
		v := 3 * b.c / b.top
		var sum float64
		for i := range n {
			at := func(x float64) float64 { g, _ := b.At(v * x / n); return g }
			sum += (at(float64(i)) + 4*at(float64(i)+0.5) + at(float64(i)+1)) / 6 * v / n
		}
		if got := b.Integral(v); !(math.Abs(got-sum) <= 1e-10*sum) {
			t.Errorf("%v: h(%g) = %v, want %v", b, v, got, sum)
		}
		if got, want := b.Bias(b.c), b.c*1e6*v-b.Integral(1e6*v); !(math.Abs(got-want) <= 1e-8*got) {
			t.Errorf("%v: H*(C) = %v, want %v", b, got, want)
		}
	}
}

func freeBig(b Bend, v float64) bigref.F {
	if b.most == 0 {
		e := bigref.Expm1(bigref.Product(bigref.Int(-2), bigref.Quo(bigref.New(b.top), bigref.New(b.c)), bigref.New(v)))
		return bigref.Product(bigref.New(b.c), bigref.Quo(bigref.Neg(e), bigref.Sum(bigref.Int(2), e)))
	}
	// The parameters of FreeBend: rate = Λ/β, of which only the product is kept.
	lambda := map[float64]float64{1: 2, 2: 0.1, 0.5: 40, 0.125: 1}[b.scale]
	rate := bigref.Quo(bigref.New(lambda), bigref.New(b.scale))
	e := bigref.Neg(bigref.Expm1(bigref.Neg(bigref.Product(rate, bigref.New(v)))))
	most := bigref.Expm1(bigref.Quo(bigref.New(b.c), bigref.New(b.scale)))
	return bigref.Product(bigref.New(b.scale), bigref.Log1p(bigref.Product(most, e)))
}

func freeExactly(b Bend, v float64) float64 { return bigref.Float(freeBig(b, v)) }

// Lemma 7's constants: ln cosh at s = Λe₀/2 against the free curve.
func TestBiasConstants(t *testing.T) {
	for _, c := range []struct{ e0, want float64 }{{1e-3, 1.387}, {0.5, 1.57}, {1, 1.78}, {2, 2.28}} {
		free, cosh := FreeBend(1, 1/c.e0, 1), CoshBend(1, c.e0/2)
		if got := cosh.Bias(1) / free.Bias(1); !(math.Abs(got-c.want) <= 0.006) {
			t.Errorf("e₀ = %g: ratio %.4f, want %.2f", c.e0, got, c.want)
		}
		if got, want := cosh.Bias(1), 2*math.Ln2/c.e0; !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("e₀ = %g: ln cosh %g, want %g", c.e0, got, want)
		}
		if got := free.Bias(1); got > 1/c.e0 {
			t.Errorf("e₀ = %g: τ = %g > 1/e₀", c.e0, got)
		}
	}
}

// valueOf returns φ(t; y).
func valueOf(l Convex, t, y float64) float64 {
	if k, ok := l.(kinked); ok {
		at := k.kink(y)
		return math.Max(at.lo*(t-at.at), at.hi*(t-at.at))
	}
	v, _, _ := l.(bowl).curve(t-l.(bowl).anchor(y, 1), y)
	return v
}

// The extension is the infimum that defines it, by a search over a fine grid; its slope and curvature are the
// derivatives; S ≤ S̄(|γ|); f̃ ≤ f_C ≤ f and f_C − f̃ is what Lemma 7 allows.
func TestExtension(t *testing.T) {
	testscale.Slow(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, l := range extendables {
		for _, b := range bends() {
			for range 12 {
				norm, y := math.Exp(3*r.NormFloat64()), r.NormFloat64()
				if !l.ValidLabel(y) {
					y = math.Copysign(1, y)
				}
				e := Extend(l, b, []float64{norm}, []float64{y}, nil)
				m := 2 * r.NormFloat64()
				at := func(m float64) (v, g, s float64) {
					slope, curv := []float64{0}, []float64{0}
					v = e.ValueSlope(slope, []float64{m}, []float64{0})
					e.Curvature(curv, []float64{m}, []float64{0})
					return v, slope[0], curv[0]
				}
				v, g, s := at(m)
				const h = 1e-5
				vl, gl, _ := at(m - h)
				vh, gh, _ := at(m + h)
				if d := (vh - vl) / (2 * h); !(math.Abs(d-g) <= 1e-4*(b.c+math.Abs(b.top*h))) {
					t.Errorf("%s, ρ=%g, y=%g, m=%g: derivative %g, slope %g", e.Name(), norm, y, m, d, g)
				}
				if s > b.Curvature(math.Abs(g))*(1+1e-9)+1e-12*b.top || gh-gl > 2*h*b.top*(1+1e-6) || gh < gl ||
					!(math.Abs(g) <= b.c) {
					t.Errorf("%s, ρ=%g, m=%g: γ = %g, S = %g, S̄ = %g", e.Name(), norm, m, g, s,
						b.Curvature(math.Abs(g)))
				}
				p := e.precise().Slope(dd.From(m), 0)
				if !(math.Abs(p.Hi-g) <= e.slopeError()+8*0x1p-53*math.Abs(g)) {
					t.Errorf("%s, ρ=%g, m=%g: slope %v, in double-double %v", e.Name(), norm, m, g, p.Hi)
				}
				fc, _ := Cut(l, b.c, norm, norm*m, y)
				if math.IsInf(fc, -1) {
					continue
				}
				if math.IsNaN(fc) || fc > valueOf(l, norm*m, y)+1e-9*(1+math.Abs(fc)) {
					t.Errorf("%s, ρ=%g, m=%g: f_C = %g above f = %g", l.Name(), norm, m, fc, valueOf(l, norm*m, y))
				}
				if gap := fc - v; gap < -1e-9*(1+math.Abs(fc)) || gap > b.Bias(b.c)*(1+1e-9)+1e-9*math.Abs(fc) {
					t.Errorf("%s, ρ=%g, m=%g: f_C − f̃ = %g, H*(C) = %g", e.Name(), norm, m, gap, b.Bias(b.c))
				}
				least, leastCut := math.Inf(1), math.Inf(1)
				for i := -4000; i <= 4000; i++ {
					u := math.Sinh(float64(i) * 5e-3 / 2) // dense at 0, up to ±11,000
					f := valueOf(l, norm*(m-u), y)
					least, leastCut = math.Min(least, f+b.Integral(math.Abs(u))), math.Min(leastCut, f+b.c*math.Abs(u))
				}
				if room := 1e-2 * (1 + math.Abs(v)) * (1 + norm); v > least+1e-9*(1+math.Abs(v)) || v < least-room {
					t.Errorf("%s, ρ=%g, y=%g, m=%g: f̃ = %g, the infimum is %g", e.Name(), norm, y, m, v, least)
				}
				if room := 1e-2 * (1 + math.Abs(fc)) * (1 + norm); fc > leastCut+1e-9*(1+math.Abs(fc)) ||
					fc < leastCut-room {
					t.Errorf("%s, C=%g, ρ=%g, y=%g, m=%g: f_C = %g, the infimum is %g", l.Name(), b.c, norm, y, m, fc,
						leastCut)
				}
			}
		}
	}
}

// The case −∞, and its clipped form.
func TestExtensionOfSteepLine(t *testing.T) {
	if v, _ := Cut(Affine{}, 1, 1, 0.3, 2); !math.IsInf(v, -1) {
		t.Errorf("f_C = %g of a line of slope 2 at C = 1", v)
	}
	b := FreeBend(1, 1, 2)
	e := Extend(Affine{}, b, []float64{1, 1}, []float64{2, -3}, nil)
	slope := []float64{0, 0}
	v := e.ValueSlope(slope, []float64{0.3, 0.3}, []float64{0, 1})
	if slope[0] != 1 || slope[1] != -1 || v != 0 {
		t.Errorf("slopes %v, values %g, want ±1 and those of a line of slope 1", slope, v)
	}
}

// No number makes a slope that is none or longer than C, in either arithmetic; what is not finite, or of norm 0, counts
// as no record.
func TestExtensionOfAnyNumbers(t *testing.T) {
	inf := math.Inf(1)
	extremes := []float64{0, 5e-324, 1e-300, 1e-20, 1, 1e9, 1e20, 1e300, math.MaxFloat64, inf, math.NaN()}
	for _, l := range extendables {
		for _, b := range []Bend{FreeBend(0x1p-60, 0x1p-61, 0x1p60), FreeBend(1, 0.125, 1), CoshBend(1, 2)} {
			for _, norm := range extremes {
				for _, y := range extremes {
					for _, sign := range []float64{1, -1} {
						e := Extend(l, b, []float64{norm}, []float64{sign * y}, nil)
						none := !(norm > 0) || math.IsInf(norm, 1) || !l.ValidLabel(sign*y)
						for _, m := range []float64{0, 1e-300, -1, 1e20, -1e60} {
							slope, curv := []float64{0}, []float64{0}
							v := e.ValueSlope(slope, []float64{m}, []float64{0})
							e.Curvature(curv, []float64{m}, []float64{0})
							p := e.precise().Slope(dd.From(m), 0)
							bounded := math.Abs(slope[0]) <= b.c && curv[0] >= 0 && curv[0] <= b.top
							if near := math.Abs(p.Hi-slope[0]) <= e.slopeError()+0x1p-50*b.c; math.IsNaN(v) ||
								!bounded || !near {
								t.Fatalf("%s, ρ=%g, y=%g, m=%g: value %g, slope %v, curvature %g, precise %v",
									e.Name(), norm, sign*y, m, v, slope[0], curv[0], p)
							}
							if none && (v != 0 || slope[0] != 0) {
								t.Fatalf("%s, ρ=%g, y=%g: counts as a record", l.Name(), norm, sign*y)
							}
						}
					}
				}
			}
		}
	}
}

func BenchmarkExtension(b *testing.B) {
	const n = 1000
	r := rand.New(rand.NewPCG(1, 2))
	norms, y, m, at := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		norms[i], y[i], m[i], at[i] = 1+math.Abs(r.NormFloat64()), 1, r.NormFloat64(), float64(i)
	}
	for _, l := range []Convex{LeastAbsolute{}, Huber{0.7}, Logistic{}} {
		e := Extend(l, FreeBend(1, 1, 100), norms, y, nil)
		slope := make([]float64, n)
		b.Run(l.Name(), func(b *testing.B) {
			for b.Loop() {
				e.ValueSlope(slope, m, at)
			}
		})
	}
}

// With a far centre a slope errs by no more than without: what the offset rounds to is the record's, and both
// arithmetics take it alike.
func TestExtensionWithOffsets(t *testing.T) {
	for _, l := range []Convex{LeastAbsolute{}, Pinball{Tau: 0.5}, Squared{}, Huber{Threshold: 1}} {
		for _, offset := range []float64{0, 40, 1e8, -1e12} {
			bend := FreeBend(1, 1, 1e6)
			at := Extend(l, bend, []float64{1e6}, []float64{1e6 * offset}, []float64{offset})
			near := Extend(l, bend, []float64{1e6}, []float64{0}, nil)
			for _, m := range []float64{1e-9, -3e-8, 2e-7, 1e-5} {
				var got, want, curv, same [1]float64
				at.ValueSlope(got[:], []float64{m}, []float64{0})
				near.ValueSlope(want[:], []float64{m}, []float64{0})
				at.Curvature(curv[:], []float64{m}, []float64{0})
				near.Curvature(same[:], []float64{m}, []float64{0})
				precise := at.precise().Slope(dd.From(m), 0).Float()
				if got != want || curv != same || !(math.Abs(precise-want[0]) <= at.slopeError()) {
					t.Errorf("%s, offset %g, m = %g: slope %g and %g, want %g; curvature %g, want %g",
						l.Name(), offset, m, got[0], precise, want[0], curv[0], same[0])
				}
			}
		}
	}
}
