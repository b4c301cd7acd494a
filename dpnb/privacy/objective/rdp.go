package objective

import (
	"cmp"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// RDP returns the Rényi guarantee of order α ≥ 1 of both directions: αa²/2, a = L/σ, where the mechanism is proved to
// be the Gaussian one (IsGaussian), and otherwise that of DTZ24,
//
//	ln(1 + s/λ) + a²/2 + ln E e^{(α−1)a|N|}/(α−1).
//
// It is never derived from a truncated or discretised profile, whose mass at infinity would make it infinite.
//
// Errors: *ParamError if a field of cfg or α is out of range.
// Source: Dwork, Tankala, Zhang 2024, Theorem 5.1; Theorem B.
func RDP(cfg Config, alpha float64) (float64, error) {
	cfg.Bound = DTZ24
	if err := cmp.Or(cfg.Validate(), privacy.Within(alpha >= 1 && !math.IsInf(alpha, 1), "Alpha", alpha,
		"a finite number ≥ 1")); err != nil {
		return 0, err
	}
	w := cfg.Law()
	if IsGaussian(cfg.Curve, cfg.Lambda, cfg.Sigma) {
		a := cfg.slope() / cfg.Sigma
		return 0.5 * alpha * a * a * (1 + 1e-14), nil
	}
	return w.RDP(alpha)
}

// ZCDP returns ρ of zero-concentrated privacy, which is RDP at α = 1: a²/2 where IsGaussian holds, and otherwise ln(1 +
// s/λ) + a²/2 + √(2/π)·a.
//
// Errors: *ParamError if a field of cfg is out of range.
// Source: Dwork, Tankala, Zhang 2024, Corollary 5.2.
func ZCDP(cfg Config) (float64, error) { return RDP(cfg, 1) }
