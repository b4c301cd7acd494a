package population

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// Draw writes a vector to dst: the coordinates of a signal, or the noise of the labels. What of it is random is its own
// affair; a Draw is called from several goroutines at once, each with its own source.
type Draw func(r *noise.Seeded, dst []float64)

// Normal draws independent N(mean, sd²).
func Normal(mean, sd float64) Draw {
	return func(r *noise.Seeded, dst []float64) {
		r.Gaussian(dst, sd)
		for i := range dst {
			dst[i] += mean
		}
	}
}

// OnSphere draws uniformly from the vectors with ‖β‖² = κ²·d: like Normal(0, κ), without the chance of its norm.
func OnSphere(kappa float64) Draw {
	return func(r *noise.Seeded, dst []float64) {
		r.Gaussian(dst, 1)
		var s float64
		for _, v := range dst {
			s += v * v
		}
		c := kappa * math.Sqrt(float64(len(dst))/s)
		for i := range dst {
			dst[i] *= c
		}
	}
}

// fixed returns the vector with entries at((j+½)/d), the same each time.
func fixed(at func(u float64) float64) Draw {
	return func(_ *noise.Seeded, dst []float64) {
		for j := range dst {
			dst[j] = at((float64(j) + 0.5) / float64(len(dst)))
		}
	}
}

// Mixed draws the example of dtz24, section 3, times c: the first half of the coordinates 0, the next fifth independent
// N(−3c, (4c)²), the rest fixed, an arithmetic progression from −10c to 10c. Its second moment tends to 15c². The
// progression stops half a step before its ends, so that its own second moment is off by 1/m² for m coordinates and not
// by 2/m.
func Mixed(c float64) Draw {
	progression := fixed(func(u float64) float64 { return 20 * c * (u - 0.5) })
	return func(r *noise.Seeded, dst []float64) {
		d := float64(len(dst))
		k, m := int(math.Round(0.5*d)), int(math.Round(0.7*d))
		clear(dst[:k])
		Normal(-3*c, 4*c)(r, dst[k:m])
		progression(r, dst[m:])
	}
}

// Contaminated draws independent N(0, sd²), and with the given probability the outlier instead.
func Contaminated(probability, sd, outlier float64) Draw {
	return func(r *noise.Seeded, dst []float64) {
		r.Gaussian(dst, sd)
		for i := range dst {
			if r.Float64() < probability {
				dst[i] = outlier
			}
		}
	}
}

// UniformNoise draws independent uniform numbers from [lo, hi].
func UniformNoise(lo, hi float64) Draw {
	return func(r *noise.Seeded, dst []float64) {
		for i := range dst {
			dst[i] = lo + (hi-lo)*r.Float64()
		}
	}
}
