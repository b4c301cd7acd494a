package convolution

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Account names a proved way to account for COP. What cop prints is none of them.
type Account int

const (
	// ByRows is the composition of what each form would cost alone, for every A with ‖A‖₂ ≤ Ā.
	ByRows Account = iota
	// ByRank takes the norm of the whole gradient, and as many eigenvalues as forms: the correction of cop's Theorem
	// 3.2.
	ByRank
	// FreeCurvature is a closed form at one ε, for one form whose curvature falls to zero where its slope is largest: a
	// kernel whose tail is no lighter than exponential.
	FreeCurvature
	// Entropic is a closed form for every ε ≥ 0, for the logistic kernel and λw ≥ 2σ², and for Pieces, whatever λ is.
	Entropic
	// Tight is the exact worst case of one form. It takes seconds where the others take milliseconds.
	Tight
)

var accounts = [...]struct{ name, theorem string }{
	ByRows:        {"rows composed", "composition of the forms (docs/theory/smoothing.md, Theorem 6)"},
	ByRank:        {"rank", "rank of the Hessian (docs/theory/objective_perturbation.md, section 9)"},
	FreeCurvature: {"free curvature", "curvature that is free at one ε (docs/theory/smoothing.md, Theorem 4)"},
	Entropic:      {"entropic", "entropic smoothing (docs/theory/smoothing.md, Theorems 7 and 8)"},
	Tight:         {"tight", "tight (docs/theory/objective_perturbation.md)"},
}

// String returns the name of the account.
func (a Account) String() string {
	if a < 0 || int(a) >= len(accounts) {
		return fmt.Sprintf("Account(%d)", int(a))
	}
	return accounts[a].name
}

func (a Account) theorem() string {
	if a < 0 || int(a) >= len(accounts) {
		return a.String()
	}
	return accounts[a].theorem
}

// mu returns the cost of the output noise, 2τ/(λσ_out), rounded up.
func (m COP) mu() float64 {
	_, mu := privacy.ApproximateMinimum{Tolerance: m.Tolerance, Lambda: m.Lambda, SigmaOut: m.OutputSigma}.MuBounds()
	return mu
}

// event is one run as the accountant sees it, the loss being valid.
func (m COP) event() (privacy.Event, error) {
	if m.Pieces != nil && m.Account != Entropic {
		return nil, fmt.Errorf("%w: Pieces are accounted for by Entropic, not by %v", privacy.ErrUnsupported, m.Account)
	}
	switch m.Account {
	case ByRows:
		r, err := m.rows()
		return r, err
	case ByRank:
		return m.beside(objective.RankK{Rank: m.Loss.rows(), Smoothness: m.Smoothness(), Slope: m.Lipschitz(),
			Lambda: m.Lambda, Sigma: m.Sigma})
	case Entropic:
		e, err := m.entropic()
		if err != nil {
			return nil, err
		}
		return m.beside(e)
	case FreeCurvature, Tight:
		c, err := m.single()
		if err != nil {
			return nil, err
		}
		if m.Account == FreeCurvature {
			return m.beside(objective.FreeRelease{Curve: c, Lambda: m.Lambda, Sigma: m.Sigma, From: m.From})
		}
		return objective.Event{
			Config:    objective.Config{Curve: c, Lambda: m.Lambda, Sigma: m.Sigma, Bound: objective.Tight},
			Tolerance: m.Tolerance, OutputSigma: m.OutputSigma,
		}, nil
	}
	return nil, &privacy.ParamError{Name: "Account", Value: int(m.Account),
		Want: "ByRows, ByRank, FreeCurvature, Entropic or Tight"}
}

// rows is the event by Theorem 6, the output noise with it.
func (m COP) rows() (objective.Rows, error) {
	c := cmp.Or(m.Stack, m.balance())
	f, err := m.Loss.forms(c)
	return objective.Rows{Forms: f, Lambda: m.Lambda, Sigma: m.Sigma,
		Mu: math.Hypot(m.mu(), m.Loss.fixed(c)/m.Sigma) * (1 + 0x1p-50)}, err
}

// single returns the curve of a loss of one form.
func (m COP) single() (objective.Curve, error) {
	if m.Loss.rows() != 1 {
		return nil, fmt.Errorf("%w: the account %v is for one form a record, and there are %d; use ByRows",
			privacy.ErrUnsupported, m.Account, m.Loss.rows())
	}
	f, err := m.Loss.forms(1)
	if err != nil {
		return nil, err
	}
	return f[0].Curve, nil
}

// entropic is the event by Theorem 7. A combination of pieces is a vertex p of the box of slopes, and ‖Aᵀp‖ ≤ Ā‖p‖.
func (m COP) entropic() (objective.Entropic, error) {
	if m.Pieces != nil {
		return m.entropicPieces(), nil
	}
	t, below, above, ok := softMaximum(m.Form)
	if !ok || m.Other != nil {
		return objective.Entropic{}, fmt.Errorf("%w: the %s loss, or with it Other, is no soft maximum of two lines; "+
			"use the logistic kernel", privacy.ErrUnsupported, m.Form.Name())
	}
	e := objective.Entropic{Temperature: t, Lambda: m.Lambda, Sigma: m.Sigma}
	for j := 0; j <= m.Forms; j++ {
		ways := combin.LogGeneralizedBinomial(float64(m.Forms), float64(j))
		norm := m.bound() * math.Sqrt(float64(j)*below*below+float64(m.Forms-j)*above*above)
		e.Vertices = append(e.Vertices, objective.Vertex{Norm: norm * (1 + 1e-15), Count: math.Exp(ways) * (1 + 1e-12)})
	}
	return e, nil
}

// softMaximum returns t, a and b of f = t·ln(e^{av/t} + e^{bv/t}) and a constant, v = t − y.
func softMaximum(l loss.Loss) (temperature, below, above float64, ok bool) {
	s, ok := l.(interface {
		SoftMaximum() (temperature, below, above float64, ok bool)
	})
	if !ok {
		return 0, 0, 0, false
	}
	return s.SoftMaximum()
}

// beside returns the event of e and the output noise.
func (m COP) beside(e privacy.Event) (privacy.Event, error) {
	p, err := e.Profile(privacy.AddRemove)
	if err != nil {
		return nil, err
	}
	p = privacy.WithGaussian(p, m.mu(), m.Lipschitz()/m.Sigma)
	return mechanism.Known(m, p, nil)
}
