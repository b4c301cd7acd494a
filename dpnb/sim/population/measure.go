package population

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Measure is something that is measured of each fit.
type Measure int

const (
	// MSE is ‖β̂ − β⋆‖²/d.
	MSE Measure = iota
	// Overlap is ⟨β̂, β⋆⟩/d, which dtz24 calls the bias.
	Overlap
	// Variance is ‖β̂ − αβ⋆‖²/d for the α that makes it smallest, ⟨β̂, β⋆⟩/‖β⋆‖².
	Variance
	// SignalCorrelation and NoiseCorrelation are the cosines of β̂ with β⋆ and with ξ; 0 for descent, whose noise has
	// many parts.
	SignalCorrelation
	NoiseCorrelation
	// NoiseOverlap is ⟨β̂, ξ⟩/d.
	NoiseOverlap
	// L1 is ‖β̂ − β⋆‖₁/d.
	L1
	// SlopeSquare is Σf′(xᵢᵀβ̂; yᵢ)²/n: for the Huber loss the truncated residuals.
	SlopeSquare
	// ProbabilityGap is ‖ρ′(Xβ⋆) − ρ′(Xβ̂)‖²/n for the probabilities of the logistic model; 0 for a regression.
	ProbabilityGap
	// FittedPositives is Σ½(1 + yᵢ)ρ′(xᵢᵀβ̂)/n, of the records with the label +1; 0 for a regression.
	FittedPositives
	// TestError is the share of new records whose label sign(xᵀβ̂) misses, their labels averaged over; 0 without
	// TestRecords.
	TestError
	measures int = iota
)

// String returns the name.
func (m Measure) String() string {
	return [...]string{"MSE", "overlap", "variance", "correlation with signal", "correlation with noise",
		"overlap with noise", "mean absolute error", "mean squared slope", "gap of probabilities",
		"probabilities of positive records", "test error"}[m]
}

// values are all measures of one fit.
type values [measures]float64

// measure fills in what β̂ says by itself.
func (v *values) measure(beta, signal, xi []float64) {
	d := float64(len(beta))
	var mse, l1, bb float64
	for j, b := range beta {
		e := b - signal[j]
		mse += e * e
		l1 += math.Abs(e)
		bb += b * b
	}
	bs, ss := floats.Dot(beta, signal), floats.Dot(signal, signal)
	v[MSE], v[L1], v[Overlap] = mse/d, l1/d, bs/d
	v[Variance] = bb / d
	if ss > 0 {
		v[Variance] = math.Max(0, bb-bs*bs/ss) / d
	}
	if bb*ss > 0 {
		v[SignalCorrelation] = bs / math.Sqrt(bb*ss)
	}
	if xi == nil {
		return
	}
	bx, xx := floats.Dot(beta, xi), floats.Dot(xi, xi)
	v[NoiseOverlap] = bx / d
	if bb*xx > 0 {
		v[NoiseCorrelation] = bx / math.Sqrt(bb*xx)
	}
}

// onRecords fills in what the fit does on its own records.
func (v *values) onRecords(w *worker, p Population, s *Sample, beta []float64, l loss.Loss) {
	n := p.Records
	fitted, slope := sized(&w.fitted, n), sized(&w.slope, n)
	s.Rows.Margins(fitted, beta, 0, n)
	l.ValueSlope(slope, fitted, s.Labels)
	v[SlopeSquare] = floats.Dot(slope, slope) / float64(n)
	if p.Prob == nil {
		return
	}
	var gap, positive float64
	for i, t := range fitted {
		e := Logistic(s.Scores[i]) - Logistic(t)
		gap += e * e
		positive += 0.5 * (1 + s.Labels[i]) * Logistic(t)
	}
	v[ProbabilityGap], v[FittedPositives] = gap/float64(n), positive/float64(n)
}

// onNew fills in the error on new records.
func (v *values) onNew(w *worker, p Population, r *noise.Seeded, records int, beta, signal []float64) {
	const block = 64
	d := p.Features
	x, wrong := make([]float64, min(block, records)*d), 0.0
	for done := 0; done < records; {
		rows := min(block, records-done)
		p.Design.fill(r, x[:rows*d], d)
		for i := range rows {
			row := x[i*d : (i+1)*d]
			prob := p.Prob(floats.Dot(row, signal))
			if floats.Dot(row, beta) > 0 {
				prob = 1 - prob
			}
			wrong += prob
		}
		done += rows
	}
	v[TestError] = wrong / float64(records)
}

// shares counts the coordinates in the cells between the edges; those outside belong to none.
func shares(edges, beta []float64) []float64 {
	dst := make([]float64, len(edges)-1)
	for _, b := range beta {
		k, found := slices.BinarySearch(edges, b)
		if !found {
			k--
		}
		if k >= 0 && k < len(dst) {
			dst[k] += 1 / float64(len(beta))
		}
	}
	return dst
}
