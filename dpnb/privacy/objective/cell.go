package objective

import (
	"math"
	"sync"

	"github.com/dpnb/notebooks/dpnb/internal/recent"
)

// problem is a curve at given λ, σ, in units of σ: what does not depend on ε.
type problem struct {
	curve         Curve
	lambda, sigma float64

	// known is W of Pointwise by the noise n.
	known recent.All[float64, float64]

	once sync.Once
	// pieces are those that every integral starts from.
	pieces []*piece

	// levels are the cells of each level of a lattice, refined the integrals of some ε.
	mu      sync.Mutex
	levels  [][]cell
	refined []*refinement
}

// roots returns the pieces that every integral starts from.
func (p *problem) roots() []*piece {
	p.once.Do(func() {
		for _, c := range p.start(32) {
			p.pieces = append(p.pieces, p.newPiece(c))
		}
	})
	return p.pieces
}

// cell is a piece of the range of γ, on one side of 0, in units of σ and reflected to γ ≥ 0.
type cell struct {
	small, big float64 // the ends of |γ|/σ
	neg        bool    // whether γ < 0
	// kLow ≤ λ/S̄ ≤ kHigh (kHigh = +Inf where S̄ vanishes at an end).
	kLow, kHigh float64
	// top and bottom are the raw ends of γ, top > bottom.
	top, bottom float64
	// clockTop and clockBottom are −(γ + λ·Clock(γ))/σ there: a path that falls at full speed from top to bottom needs
	// clockBottom − clockTop of u.
	clockTop, clockBottom float64
	// parent is the index of the cell of the coarser grid that has this one.
	parent int
}

func (c *cell) width() float64 { return c.big - c.small }

// travel is the least u that crossing the cell takes, +Inf if it cannot be.
func (c *cell) travel() float64 { return c.clockBottom - c.clockTop }

// clock returns −(γ + λ·Clock(γ))/σ.
func (p *problem) clock(gamma float64) float64 {
	return -(gamma + p.lambda*p.curve.Clock(gamma)) / p.sigma
}

// cellBetween returns the cell between the raw slopes bottom < top, given their clocks, which neighbours share.
func (p *problem) cellBetween(bottom, top, clockBottom, clockTop float64) cell {
	lower, upper := p.curve.Bounds(bottom, top)
	c := cell{
		kLow: p.lambda / upper, kHigh: p.lambda / lower,
		top: top, bottom: bottom,
		clockTop: clockTop, clockBottom: clockBottom,
	}
	if top > 0 {
		c.small, c.big = bottom/p.sigma, top/p.sigma
	} else {
		c.small, c.big, c.neg = -top/p.sigma, -bottom/p.sigma, true
	}
	return c
}

// split returns the two halves of c, the upper first.
func (p *problem) split(c *cell) (upper, lower cell) {
	mid := 0.5 * (c.top + c.bottom)
	clock := p.clock(mid)
	upper, lower = p.cellBetween(mid, c.top, clock, c.clockTop), p.cellBetween(c.bottom, mid, c.clockBottom, clock)
	upper.parent, lower.parent = c.parent, c.parent
	return upper, lower
}

// piece is a cell whose halves are made once for all ε.
type piece struct {
	cell
	// ln(1 + S̄/λ) at the ends, and at most over the cell.
	lnTop, lnBottom, lnMax float64

	once   sync.Once
	halves [2]*piece
}

func (p *problem) newPiece(c cell) *piece {
	at := func(gamma float64) float64 { return math.Log1p(p.curve.SBar(gamma) / p.lambda) }
	return &piece{cell: c, lnTop: at(c.top), lnBottom: at(c.bottom), lnMax: math.Log1p(1 / c.kLow)}
}

// split returns the two halves of c, the upper first.
func (c *piece) split(p *problem) [2]*piece {
	c.once.Do(func() {
		upper, lower := p.split(&c.cell)
		c.halves = [2]*piece{p.newPiece(upper), p.newPiece(lower)}
	})
	return c.halves
}

// start returns n cells on each side of zero, from the top down.
func (p *problem) start(n int) []cell {
	lo, hi := p.curve.Range()
	var cells []cell
	for _, r := range [][2]float64{{0, hi}, {lo, 0}} {
		if r[0] == r[1] {
			continue
		}
		for i := n; i > 0; i-- {
			t0 := r[0] + (r[1]-r[0])*float64(i-1)/float64(n)
			t1 := r[0] + (r[1]-r[0])*float64(i)/float64(n)
			if i == n {
				t1 = r[1]
			}
			cells = append(cells, p.cellBetween(t0, t1, p.clock(t0), p.clock(t1)))
		}
	}
	return cells
}

// logLeast returns a lower bound on ln ∫_cell sup_u M dγ at ε ≥ 0, of which p is known: −Inf where S̄ may vanish.
func (c *cell) logLeast(eps float64, p peak) float64 {
	switch {
	case p.cBig < 0:
		// φ(c) alone, over an interval of c that may have 0 in it.
		return math.Log(c.width()) + math.Min(logPDF(p.cBig), logPDF(p.cSmall))
	case c.small > 0:
		low := logPDF(p.cSmall)
		if !math.IsInf(c.kHigh, 1) {
			l, _ := peakRate(c.small, c.kHigh, p.cSmall)
			low = math.Max(low, l-2e-6)
		}
		return math.Log(c.width()) + low
	}
	return math.Inf(-1)
}

// peak is where the rate of a cell is largest, at one ε ≥ 0.
type peak struct {
	cBig, cSmall float64 // edges at big (the smaller one) and small
	// at is where M(·, big) is largest, and logRate at least what it is there.
	at, logRate float64
	logMost     float64 // upper bound on ln ∫ sup_u M dγ over the cell
}

func (c *cell) peak(eps float64) peak {
	p := peak{cBig: edge(eps, c.big), cSmall: edge(eps, c.small)}
	p.logRate, p.at = peakRate(c.big, c.kLow, p.cBig)
	// For c ≥ 0 sup_u M rises with γ and falls with λ/S̄.
	most := p.logRate
	switch {
	case p.cBig < 0 && p.cSmall > 0:
		// The part with c > 0 may have a peak too: φ(0) bounds it.
		most = logPDF(0)
	case p.cBig < 0:
		most = logPDF(math.Max(p.cBig, p.cSmall))
	}
	p.logMost = math.Log(c.width()) + most
	return p
}
