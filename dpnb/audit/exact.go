package audit

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Law is a mechanism on two neighbours whose densities are known: *Neighbours, *Curvature, Shifted.
type Law interface {
	// privacyLoss draws a release, in direction Remove from the data with the record, and returns ln p/q of the density
	// that it was drawn from and the other.
	privacyLoss(dir privacy.Direction, src *noise.Seeded) (float64, error)
}

// Shifted is normal noise of standard deviation Sigma on what moves by Distance.
type Shifted struct{ Distance, Sigma float64 }

func (s Shifted) privacyLoss(_ privacy.Direction, src *noise.Seeded) (float64, error) {
	mu := s.Distance / s.Sigma
	return mu * (mu/2 + src.NormFloat64()), nil
}

// Losses draws privacy losses in a direction, the k-th from stream k of src.
//
// Errors: *privacy.ParamError if samples < 1; a draw that cannot be solved.
func Losses(law Law, dir privacy.Direction, samples, workers int, src *noise.Seeded) ([]float64, error) {
	if samples < 1 {
		return nil, &privacy.ParamError{Name: "samples", Value: samples, Want: "at least 1"}
	}
	out := make([]float64, samples)
	err := parallel.For(context.Background(), samples, workers, func(_, k int) (err error) {
		out[k], err = law.privacyLoss(dir, src.Stream(k))
		return err
	})
	return out, err
}

// ExactCertificate is what sampled privacy losses say of a claim.
type ExactCertificate struct {
	// Draws that were tested, and the Level at which Refuted holds.
	Draws int
	Level float64
	// Direction and Epsilon where the losses speak most against the claim: δ there is at least Delta and claimed to be
	// at most Claimed.
	Direction               privacy.Direction
	Epsilon, Delta, Claimed float64
	Refuted                 bool
}

// String says what was found and what it means.
func (c ExactCertificate) String() string {
	verdict := "The claim is not refuted on this pair, which says nothing about others."
	if c.Refuted {
		verdict = "THE CLAIM IS REFUTED."
	}
	return fmt.Sprintf("exact losses: with %g %% confidence δ(%.3g) ≥ %s in direction %v, claimed %s. %s", 100*c.Level,
		c.Epsilon, privacy.FormatDown(c.Delta, 3), c.Direction, privacy.FormatUp(c.Claimed, 3), verdict)
}

// Exact holds privacy losses that are drawn from the two laws against a claim, which options must have. A half of the
// draws chooses an ε in each direction, where δ(ε) = E(1 − e^{ε−loss})₊ is tested by the other half: by Clopper–Pearson
// bounds on coins of those probabilities, which share 1 − Level.
//
// Errors: *privacy.ParamError; as Losses. Proof: docs/theory/audit.md#dpnb-audit-losses.
func Exact(law Law, options *Options, src *noise.Seeded) (*ExactCertificate, error) {
	o, err := options.value()
	if err != nil {
		return nil, err
	}
	if o.Claim == nil {
		return nil, &privacy.ParamError{Name: "Claim", Value: nil, Want: "a profile to hold the losses against"}
	}
	claimed, err := privacy.EpsilonUpper(o.Claim, math.Max(o.Delta, 1e-9))
	if err != nil {
		return nil, err
	}
	half := o.Draws / 2
	c := &ExactCertificate{Draws: o.Draws - half, Level: o.Level}
	most := math.Inf(-1)
	for i, dir := range privacy.Directions {
		losses, err := Losses(law, dir, o.Draws, o.Workers, src.Stream(i))
		if err != nil {
			return nil, err
		}
		allowed := newTangents(o.Claim, dir, claimed)
		best, at := math.Inf(-1), 0
		for k, slope := range allowed.slope {
			mean, square := 0.0, 0.0
			for _, l := range losses[:half] {
				v := math.Max(0, -math.Expm1(math.Log(slope)-l))
				mean += v / float64(half)
				square += v * v / float64(half)
			}
			if mean*float64(half) < 5 {
				break // beyond nearly all losses that were drawn
			}
			// The coins vary as a coin of the mean does.
			if z := (mean - allowed.offset[k]) / math.Sqrt(mean*(1-mean)+1/float64(half)); z > best {
				best, at = z, k
			}
		}
		eps := math.Log(allowed.slope[at])
		low := DeltaOfLosses(losses[half:], eps, o.Level, src.Stream(2+i)).Lower
		if excess := low - allowed.offset[at]; excess > most {
			most, c.Direction, c.Epsilon, c.Delta, c.Claimed = excess, dir, eps, low, allowed.offset[at]
		}
	}
	c.Refuted = most > 0
	return c, nil
}
