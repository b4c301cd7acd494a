package privacy

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Two compositions that are known exactly: a Gaussian with a Gaussian, and the half-normal loss with a Gaussian. Never
// below; at most two percent above where the output noise is the small part that it should be.
func TestWithGaussianAgainstExact(t *testing.T) {
	for _, a := range []float64{1e-3, 0.3, 2} {
		for _, ratio := range []float64{1e-6, 0.01, 0.1, 1, 5} {
			mu, asked := a*ratio, 0
			half := HalfNormal{K: 0.1, A: a}
			halfProfile := must.Get(half.Profile(AddRemove))
			halfExact := must.Get(HalfNormalGaussian{HalfNormal: half, Mu: mu}.Profile(AddRemove))
			for _, c := range []struct {
				name  string
				part  Profile
				exact LowerProfile
			}{
				{"Gaussian", GaussianProfile(a, AddRemove), GaussianProfile(math.Hypot(a, mu), AddRemove)},
				{"half-normal", halfProfile, halfExact},
			} {
				for _, k := range []float64{-1, 0, 0.5, 2, 4, 8, 20} {
					eps := k * math.Hypot(a, mu)
					got := WithGaussian(c.part, mu, a).LogDeltaUpper(Remove, eps)
					low := c.exact.LogDeltaLower(Remove, eps)
					if got < low {
						t.Errorf("%s a=%v μ=%v ε=%v: ln δ %v below the exact %v", c.name, a, mu, eps, got, low)
					}
					if ratio <= 0.1 && got > low+0.02+1e-12*math.Abs(low) {
						t.Errorf("%s a=%v μ=%v ε=%v: ln δ %v, exactly %v: loose", c.name, a, mu, eps, got, low)
					}
					with := WithGaussian(counted{c.part, &asked}, mu, a).(QuickProfile)
					fast, least := with.QuickLogDeltaUpper(eps), LogDeltaLower(c.exact, eps)
					if fast < least {
						t.Errorf("%s a=%v μ=%v ε=%v: quickly ln δ %v below the exact %v", c.name, a, mu, eps, fast,
							least)
					}
					if ratio <= 1 && k >= 2 && least < -2 && fast > least+0.02+1e-12*math.Abs(least) {
						t.Errorf("%s a=%v μ=%v ε=%v: quickly ln δ %v, exactly %v: loose", c.name, a, mu, eps, fast,
							least)
					}
					if got := with.LogDeltaUpper(Remove, eps); got > fast {
						t.Errorf("%s a=%v μ=%v ε=%v: ln δ %v, and %v quickly", c.name, a, mu, eps, got, fast)
					}
				}
			}
			// Without its output noise the claim would be too small, and is found out.
			if ratio >= 0.1 {
				eps := 3 * a
				bare := GaussianProfile(a, AddRemove).LogDeltaUpper(Remove, eps)
				if exact := GaussianProfile(math.Hypot(a, mu), AddRemove).LogDeltaLower(Remove, eps); bare >= exact {
					t.Errorf("leaving out μ = %v is not noticed", mu)
				}
			}
		}
	}
}

// counted is a profile with quick values, which are its own, that counts them.
type counted struct {
	Profile
	asked *int
}

func (p counted) QuickLogDeltaUpper(eps float64) float64 {
	*p.asked++
	return LogDeltaUpper(p.Profile, eps)
}

// The quick values of a part of a budget, which are what a calibration waits for, are few.
func TestQuickValuesAreFew(t *testing.T) {
	for share, most := range map[float64]int{0.03: 8, 0.23: 30, 0.33: 36} {
		asked := 0
		p := WithGaussian(counted{GaussianProfile(0.2, AddRemove), &asked}, share*0.2, 0.2)
		p.(QuickProfile).QuickLogDeltaUpper(1)
		if asked > most {
			t.Errorf("share %v: %d values, want %d at most", share, asked, most)
		}
	}
}

func TestWithGaussianExtremes(t *testing.T) {
	for _, mu := range []float64{1e-9, 0.1, 50} {
		p := WithGaussian(GaussianProfile(0.3, AddRemove), mu, 0.3)
		last := 0.0
		for _, eps := range []float64{math.Inf(-1), -30, -1, 0, 1, 3, 10, 100, 1e4, math.Inf(1)} {
			v := p.LogDeltaUpper(Remove, eps)
			if math.IsNaN(v) || v > last {
				t.Errorf("μ = %v: ln δ(%v) = %v after %v", mu, eps, v, last)
			}
			if q := p.(QuickProfile).QuickLogDeltaUpper(eps); math.IsNaN(q) || q > 0 || q < v-0.1*math.Abs(v) {
				t.Errorf("μ = %v: ln δ(%v) = %v, and quickly %v", mu, eps, v, q)
			}
			last = v
		}
	}
	p := WithGaussian(GaussianProfile(0.3, AddRemove), 0.1, 0.3)
	if p.Adjacency() != AddRemove {
		t.Error("adjacency")
	}
}

// roughGaussian has rough values a twentieth above the exact ones.
type roughGaussian struct {
	LowerProfile
	asked *int
}

func (p roughGaussian) LogDeltaUpper(d Direction, eps float64) float64 {
	*p.asked++
	return p.LowerProfile.LogDeltaUpper(d, eps)
}

func (p roughGaussian) RoughLogDeltaUpper(d Direction, eps float64) float64 {
	return math.Min(0, p.LowerProfile.LogDeltaUpper(d, eps)+0.05)
}

// Rough values where they weigh little cost a thousandth of δ at most, and save most of the dear ones.
func TestWithGaussianOfRoughValues(t *testing.T) {
	for _, a := range []float64{0.01, 0.3, 2} {
		for _, k := range []float64{0, 0.5, 3, 5} {
			eps, exact, asked := k*a, GaussianProfile(a, AddRemove), 0
			want := WithGaussian(exact, 0.03*a, a).LogDeltaUpper(Remove, eps)
			got := WithGaussian(roughGaussian{exact, &asked}, 0.03*a, a).LogDeltaUpper(Remove, eps)
			least := GaussianProfile(a*math.Hypot(1, 0.03), AddRemove).LogDeltaLower(Remove, eps)
			if got < least || got > want+1.1e-3 || asked > 5 {
				t.Errorf("a=%v ε=%v: ln δ %v, %v without rough values; %d values asked for", a, eps, got, want, asked)
			}
		}
	}
}
