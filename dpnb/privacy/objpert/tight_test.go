package objpert

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestScratch(t *testing.T) {
	type cs struct {
		loss                string
		lam, sig, eps, want float64
	}
	for _, c := range []cs{{"logistic", .25, 2, .25, 0.1214389167578307}, {"logistic", .05, 5, 1, 0.03419194689635906}, {"logistic", .05, 5, 2, 5.177767389671877e-05}, {"logistic", 2, 10, .25, 0.0002311236419800977}, {"logistic", .1, 4, .25, 0.07456273862905738}, {"logistic", .1, 4, 1, 0.015437913317254835}, {"logistic", .1, 4, 2, 1.8076222431521666e-09}, {"logistic", .25, 2, 1, 1e-2}, {"logistic", 1, 10, .1, 1.587e-2}, {"logistic", 1, 2, .25, 0.11029839374852851},
		{"huber", 5, 5, 1, 1.3848695919466998e-07}, {"huber", 1, 2, .5, 0.10144533473478672}, {"huber", 1, 2, 2, 0.0001467824686130435}, {"huber", .1, 2, .25, 0.3664785710081522}, {"huber", 20, 5, 1, 1.827e-8}, {"huber", .1, 2, 2, .123}, {"huber", 1, 1, 10, 1}, {"huber", 1, 1, 100, 1}, {"huber", 1, 10, 1000, 1}, {"huber", 1e-3, 1, 10, 1}} {
		cu, _ := Logistic(1)
		if c.loss == "huber" {
			cu, _ = Huber(1, 1)
		}
		g := &grids{problem: &problem{cu, c.lam, c.sig}}
		t0 := time.Now()
		lo, up := g.removeAt(c.eps)
		d := time.Since(t0)
		t0 = time.Now()
		g.removeAt(c.eps)
		fmt.Printf("%v %v %v %v: lower %.6g upper %.6g ratio %.5f  upper/ref %.5f lower/ref %.5f  %v %v\n", c.loss, c.lam, c.sig, c.eps, math.Exp(lo), math.Exp(up), math.Exp(up-lo), math.Exp(up)/c.want, math.Exp(lo)/c.want, d, time.Since(t0))
	}
}
