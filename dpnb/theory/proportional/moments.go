package proportional

import (
	"math"
	"slices"
)

// scoreMoments takes the three expectations over p = prox(s) in place of s: with
// s = p + γf′(p), ds = (1 + γf″(p))dp,
//
//	E W f′(p)² = ∫ w(s)W f′(p)²(1 + γf″)dp,  E W f″/(1 + γf″) = ∫ w(s)W f″ dp,
//
// w the density of s and W the weight of the label given s. No proximal operator
// is solved for but at the ends of panels, nothing is divided by 1 + γf″, and
// however large γ is the integrand varies on the scale of f or of w. For a
// loss whose slope jumps s → p is not one to one; see adaptiveMoments.
func (s *classificationSystem) scoreMoments(post *posterior, total, gamma, tol float64) moments {
	var m moments
	weight, curv := make([]float64, 15), make([]float64, 15)
	for k, y := range []float64{1, -1} {
		times := 1.0
		if s.symmetric {
			if k == 0 {
				continue
			}
			times = 2
		}
		slope, labels := s.slope[k], s.labels[k]
		v, relErr := integrate(3, func(p []float64, out [][]float64) {
			s.Loss.ValueSlope(slope, p, labels)
			s.Loss.Curvature(curv, p, labels)
			for i := range p {
				score := p[i] + gamma*slope[i]
				weight[i] = phi(score/total) / total
				if weight[i] == 0 {
					out[0][i], out[1][i], out[2][i] = 0, 0, 0
					continue
				}
				prob, d := post.at(score)
				if y < 0 {
					prob, d = 1-prob, -d
				}
				ds := 1 + gamma*curv[i]
				out[0][i] = weight[i] * prob * slope[i] * slope[i] * ds
				out[1][i] = weight[i] * d * slope[i] * ds
				out[2][i] = weight[i] * prob * curv[i]
			}
		}, s.panels(k, y, post, total, gamma), tol)
		m.slope2 += times * v[0]
		m.signal += times * v[1]
		m.response += times * v[2]
		m.relErr = math.Max(m.relErr, relErr)
	}
	return m
}

// panels returns the p between which scoreMoments integrates: those where the
// density of s or the link bends, a geometric grid around zero, and the kinks.
func (s *classificationSystem) panels(k int, y float64, post *posterior, total, gamma float64) []float64 {
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
	labels := make([]float64, len(scores))
	for i := range labels {
		labels[i] = y
	}
	breaks, slopes := make([]float64, len(scores)), make([]float64, len(scores))
	s.work[k].solve(breaks, slopes, s.Loss, gamma, scores, labels)
	lo, hi := breaks[0], breaks[len(breaks)-1]
	add := func(p float64) {
		if p > lo && p < hi {
			breaks = append(breaks, p)
		}
	}
	for e := -4; e <= 60; e++ {
		v := math.Ldexp(1, e)
		if v > math.Max(math.Abs(lo), math.Abs(hi)) {
			break
		}
		add(v)
		add(-v)
	}
	add(0)
	for _, p := range s.kinks[k] {
		add(p)
	}
	slices.Sort(breaks)
	return slices.Compact(breaks)
}
