package objpert

import (
	"fmt"
	"testing"
	"time"
)

func TestTune(t *testing.T) {
	lo1, _ := Logistic(1)
	hu, _ := Huber(1, 1)
	type cs struct {
		c             Curve
		lam, sig, eps float64
	}
	var set []cs
	for _, x := range [][3]float64{{.25, 2, .25}, {.05, 5, 1}, {.05, 5, 2}, {2, 10, .25}, {.1, 4, 1}, {.1, 4, 2}, {.25, 2, 1}, {1, 10, .1}} {
		set = append(set, cs{lo1, x[0], x[1], x[2]})
	}
	for _, x := range [][3]float64{{5, 5, 1}, {1, 2, .5}, {1, 2, 2}, {.1, 2, .25}, {20, 5, 1}, {.1, 2, 2}, {1, 1, 10}, {.001, 1, 10}} {
		set = append(set, cs{hu, x[0], x[1], x[2]})
	}
	for _, p := range [][6]float64{{.8, 1.5, 1, .125, .5, 1}, {.8, 1, 1, .125, .5, 1}, {.4, 1, 1, .125, .5, 1}, {.2, 1, 1, .125, .5, 1}, {.4, 1, 1, .0625, .5, 1}, {.4, 1, 1, .125, .25, 1}, {.4, 1, 1, .125, .5, .75}, {.4, 1, 1, .125, .5, .5}, {.2, 1, 1, .0625, .5, .75}} {
		travelUnit, travelPower, widthPower, widthUnit, nodeUnit, nodePower = p[0], p[1], p[2], p[3], p[4], p[5]
		fmt.Print(p, ": ")
		tot := time.Duration(0)
		for _, c := range set {
			g := &grids{problem: &problem{c.c, c.lam, c.sig}}
			g.removeAt(c.eps)
			t0 := time.Now()
			l, u := g.removeAt(c.eps)
			d := time.Since(t0)
			tot += d
			fmt.Printf("%.0f(%.4f) ", float64(d.Microseconds())/1000, u-l)
		}
		fmt.Println(" total", tot)
	}
}
