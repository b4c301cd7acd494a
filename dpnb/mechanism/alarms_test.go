package mechanism_test

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// slowToAudit take a tenth of a second or more for the 200 releases of an audit, or for reading their profile once.
var slowToAudit = map[string]bool{"quadratic": true, "TukeyEM": true, "DP-SGD": true, "summary": true,
	"summary, by ε": true, "phases": true, "counted, any length": true}

// readOnce is a profile that remembers what it said: every audit of a table reads it at the same hundred ε, and some
// take longer to read than two hundred releases take to draw.
type readOnce struct {
	privacy.Profile
	logDelta map[at]float64
}

type at struct {
	direction privacy.Direction
	epsilon   float64
}

func (p readOnce) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	l, ok := p.logDelta[at{d, eps}]
	if !ok {
		l = p.Profile.LogDeltaUpper(d, eps)
		p.logDelta[at{d, eps}] = l
	}
	return l
}

func (p readOnce) Symmetric() bool { return privacy.IsSymmetric(p.Profile) }

// Audits at 90 % of sound mechanisms, each with a seed of its own, are false alarms in at most a tenth of the cases, of
// every mechanism: the number of alarms is not above what a rate of a tenth has in all but one of a million tables of
// seeds. Those of sums with a fifth of their noise are above it.
func TestSoundMechanismsAreNotFlagged(t *testing.T) {
	testscale.InTurn(t)
	runs, all, flagged := 8, 0, 0
	if testscale.Full() {
		runs = 1000
	}
	tooMany := func(alarms, runs int) bool { return audit.ClopperPearson(alarms, runs, 1-2e-6).Lower > 0.1 }
	for k, c := range strongTenants(t) {
		if (slowToAudit[c.name] || k%4 > 0 && c.name != "sums") && !testscale.Full() {
			continue // TestAudit flags none of the others, by more draws
		}
		t.Run(c.name, func(t *testing.T) {
			pair, profile := c.audited(t)
			claim := readOnce{profile, map[at]float64{}}
			alarms := func(m mechanism.Mechanism) (n int) {
				for k := range runs {
					o := &audit.Options{Draws: 100, Level: 0.9, Delta: c.delta, Claim: claim}
					r := must.Get(audit.Mechanism(t.Context(), m, pair, o, noise.NewSeeded(uint64(5000+k))))
					if r.Refuted || r.Epsilon > r.Claimed {
						n++
					}
				}
				return n
			}
			n := alarms(c.m)
			all, flagged = all+runs, flagged+n
			t.Logf("%d of %d, with 99 %% confidence at most a rate of %.4f", n, runs,
				audit.ClopperPearson(n, runs, 0.98).Upper)
			if tooMany(n, runs) {
				t.Errorf("%d of %d audits at 90 %% are alarms", n, runs)
			}
			if c.name == "sums" {
				if n := alarms(quieter(c.m, 0.2)); !tooMany(n, runs) {
					t.Errorf("%d of %d audits at 90 %% see a fifth of the noise", n, runs)
				}
			}
		})
	}
	t.Logf("of all %d of %d", flagged, all)
	if tooMany(flagged, all) {
		t.Errorf("%d of %d audits at 90 %% are alarms", flagged, all)
	}
}
