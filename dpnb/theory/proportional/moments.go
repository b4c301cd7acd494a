package proportional

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
)

// scoreMoments takes the three expectations over p = prox(s) in place of s: with s = p + γf′(p), ds = (1 + γf″(p))dp,
//
//	E W f′(p)² = ∫ w(s)W f′(p)²(1 + γf″)dp,  E W f″/(1 + γf″) = ∫ w(s)W f″ dp,
//
// w the density of s and W the weight of the label given s. No proximal operator is solved for but at the ends of
// panels, nothing is divided by 1 + γf″, and however large γ is the integrand varies on the scale of f or of w. For a
// loss whose slope jumps s → p is not one to one; see adaptiveMoments.
func (s *classificationSystem) scoreMoments(post *posterior, total, gamma, tol float64) moments {
	return s.sum(func(r *scoreRule) ([]float64, float64) {
		return quadrature.Adaptive(3, func(p []float64, out [][]float64) {
			s.Loss.ValueSlope(r.slope, p, r.labels)
			s.Loss.Curvature(r.curv, p, r.labels)
			for i, slope := range r.slope {
				score := p[i] + gamma*slope
				weight := normal.Density(score/total) / total
				prob, d := post.ofLabel(r.label, score)
				ds := 1 + gamma*r.curv[i]
				out[0][i] = weight * prob * slope * slope * ds
				out[1][i] = weight * d * slope * ds
				out[2][i] = weight * prob * r.curv[i]
			}
		}, r.panels(post, total, gamma), tol)
	})
}

// panels returns the p between which scoreMoments integrates: those where the density of s or the link bends, a
// geometric grid around zero, and the kinks.
func (r *scoreRule) panels(post *posterior, total, gamma float64) []float64 {
	scores := []float64{-normalRange * total, normalRange * total}
	for _, z := range []float64{0.25, 1, 1.8, 2.7, 4, 6} {
		scores = append(scores, z*total, -z*total)
	}
	scores = append(scores, 0)
	if c := math.Abs(post.slope); c > 0 {
		// The link's own scale, widened by what is not known given s.
		scale := math.Hypot(post.link.Width()/math.Pi, post.sd) / c
		for _, z := range []float64{0.5, 2, 5, 12, 30} {
			if z*scale < normalRange*total {
				scores = append(scores, z*scale, -z*scale)
			}
		}
	}
	slices.Sort(scores)
	labels := slices.Repeat([]float64{r.label}, len(scores))
	breaks, slopes := make([]float64, len(scores)), make([]float64, len(scores))
	r.work.solve(breaks, slopes, r.loss, gamma, scores, labels)
	lo, hi := breaks[0], breaks[len(breaks)-1]
	for e := -4; e <= 60; e++ {
		v := math.Ldexp(1, e)
		if v > math.Max(math.Abs(lo), math.Abs(hi)) {
			break
		}
		breaks = appendBetween(breaks, lo, hi, v, -v)
	}
	breaks = appendBetween(breaks, lo, hi, 0)
	breaks = appendBetween(breaks, lo, hi, r.kinks...)
	slices.Sort(breaks)
	return slices.Compact(breaks)
}
