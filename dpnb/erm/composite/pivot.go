package composite

import "math"

const (
	// maxPivots of pivot.
	maxPivots = 60
	// pivotPatience is the number of pivots that need not lower the number of coordinates that are wrong.
	pivotPatience = 8
)

// place is where a coordinate is: at a point where it may be held, or free on one side of zero.
type place int8

const (
	atLower place = iota
	below         // free, below zero (or anywhere, without ℓ₁)
	atZero
	above // free, above zero
	atUpper
)

// pivot exchanges all coordinates that are in a wrong place at once (Kim and Park 2011 for bounds; with ℓ₁ zero is one
// more place): held ones that pull are let go, free ones beyond their end are held there. It mostly ends after a few
// exchanges whatever d is, but need not end: x moves only if it did, or to a point that is better.
func (a *activeSet) pivot(norm *float64) {
	a.places()
	copy(a.next, a.x)
	least, left := math.MaxInt, pivotPatience
	for range maxPivots {
		a.toPlaces()
		a.m.steps++
		a.m.gradient(a.gNext, a.next)
		if k := len(a.free); k > 0 {
			if !a.factor() {
				return
			}
			for i, j := range a.free {
				a.step[i] = -a.gNext[j] - a.slopeAt(j)
			}
			solveFactored(a.tri, a.step[:k])
			for i, j := range a.free {
				a.next[j] += a.step[i]
			}
			a.m.steps++
			a.m.gradient(a.gNext, a.next)
		}
		wrong := a.exchange()
		if wrong < least {
			least, left = wrong, pivotPatience
		} else if left--; left == 0 {
			break
		}
		if wrong == 0 {
			break
		}
	}
	a.c.Project(a.next, a.next)
	a.m.gradient(a.gNext, a.next)
	if least > 0 && a.objective(a.next, a.gNext) > a.objective(a.x, a.g) {
		return
	}
	a.x, a.next = a.next, a.x
	a.g, a.gNext = a.gNext, a.g
	*norm = a.residual()
}

// places sets where each coordinate of x is, those that pull let go.
func (a *activeSet) places() {
	for j, x := range a.x {
		lo, hi := a.bounds(j)
		switch {
		case x <= lo && a.w[j] == 0:
			a.where[j] = atLower
		case x >= hi && a.w[j] == 0:
			a.where[j] = atUpper
		case a.omega > 0 && x == 0 && a.w[j] == 0:
			a.where[j] = atZero
		case a.omega > 0 && (x > 0 || x == 0 && a.w[j] < 0):
			a.where[j] = above
		default:
			a.where[j] = below
		}
	}
}

func (a *activeSet) bounds(j int) (lo, hi float64) {
	if b, ok := a.c.(Box); ok {
		return b.bounds(j)
	}
	return math.Inf(-1), math.Inf(1)
}

// toPlaces moves the held coordinates of next to where they are held, and lists the free ones.
func (a *activeSet) toPlaces() {
	a.free = a.free[:0]
	for j, p := range a.where {
		lo, hi := a.bounds(j)
		switch p {
		case atLower:
			a.next[j] = lo
		case atZero:
			a.next[j] = 0
		case atUpper:
			a.next[j] = hi
		default:
			a.free = append(a.free, j)
		}
	}
}

// slopeAt is that of r where the free coordinate j is.
func (a *activeSet) slopeAt(j int) float64 {
	if a.where[j] == above {
		return a.omega
	}
	return -a.omega
}

// exchange changes the places that are wrong and returns their number.
func (a *activeSet) exchange() (wrong int) {
	for j, x := range a.next {
		lo, hi := a.bounds(j)
		g := a.gNext[j]
		to := a.where[j]
		switch a.where[j] {
		case atLower: // it may go up
			if lo < 0 && g < a.omega {
				to = below
			} else if lo >= 0 && g < -a.omega {
				to = a.side(above)
			}
		case atUpper:
			if hi > 0 && g > -a.omega {
				to = a.side(above)
			} else if hi <= 0 && g > a.omega {
				to = below
			}
		case atZero:
			if g > a.omega && lo < 0 {
				to = below
			} else if g < -a.omega && hi > 0 {
				to = above
			}
		case below, above:
			to = a.keep(j, x, lo, hi)
		}
		if lo == hi {
			to = atLower
		}
		if to != a.where[j] {
			a.where[j] = to
			wrong++
		}
	}
	return wrong
}

// side is the given side of zero, of which there is one without ℓ₁.
func (a *activeSet) side(p place) place {
	if a.omega == 0 {
		return below
	}
	return p
}

// keep returns where the free coordinate j is to be, given where it went.
func (a *activeSet) keep(j int, x, lo, hi float64) place {
	up, down := hi, lo
	if a.omega > 0 && a.where[j] == below {
		up = math.Min(hi, 0)
	} else if a.omega > 0 {
		down = math.Max(lo, 0)
	}
	switch {
	case x < down && down == lo:
		return atLower
	case x < down, x > up && up != hi:
		return atZero
	case x > up:
		return atUpper
	}
	return a.where[j]
}
