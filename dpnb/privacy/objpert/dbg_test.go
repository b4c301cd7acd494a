package objpert

import (
	"fmt"
	"testing"
)

func TestDbg(t *testing.T) {
	cu, _ := Huber(1, 1)
	g := &grids{problem: &problem{cu, 1, 10}}
	for _, e := range []float64{1, 5, 10, 30, 100, 300, 1000} {
		q := g.integral(e, 1e-3, 3000)
		lo, up := gaussBounds(e)(.1)
		gr := g.greedy(e, -q.logUpper, q.cells)
		fmt.Println(e, q.logUpper, q.logLower, len(q.cells), lo, up, gr)
	}
	debug = true
	travelUnit, travelPower, widthPower, widthUnit, nodeUnit, nodePower = .4, 1, 1, .125, .5, .75

	g = &grids{problem: &problem{cu, 5, 5}}
	g.removeAt(1)
}
