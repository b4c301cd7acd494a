package loss

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A sum is called by its parts, one that stands several times in a row once.
func TestNameOfASum(t *testing.T) {
	s := &sum{of: []Loss{Logistic{}, Logistic{}, Huber{Threshold: 1}, Logistic{}}}
	of, between := Logistic{}.Name(), " + "
	if want := of + between + (Huber{Threshold: 1}).Name() + between + of; s.Name() != want {
		t.Errorf("%s, want %s", s.Name(), want)
	}
}

// Where every part of a sum has its largest slope at once its gradient is as long as all of them together, and so is
// the bound of it.
func TestSumIsAsSteepAsItsParts(t *testing.T) {
	s := Sum(Logistic{}, Logistic{}, Logistic{})
	slope := make([]float64, 3)
	s.Derivatives(slope, nil, []float64{-50, -50, -50}, []float64{1})
	if steep, most := floats.Norm(slope, 2), s.Lipschitz(); !(steep <= most*(1+1e-15) && steep > 0.999*most) {
		t.Errorf("a slope of %v, and the bound is %v", steep, most)
	}
}

// Every loss has a row among losses(), is written down and read back as it is (Codec), and has its slope in
// double-double (precise.go). Not all that are Convolved have; counts have it when
// they are Clipped.
func TestNoLossIsLeftOut(t *testing.T) {
	rows := map[string]bool{"Linear": true, "Pinball": true, "Stacked": true} // with tests of their own
	for _, c := range losses() {
		name := reflect.TypeOf(c.loss).Name()
		rows[name] = true
		if name == "clipped" || name == "Convolved" || name == "foreign" {
			continue
		}
		type holder struct{ Of Loss }
		var back holder
		text, err := Codec().Marshal(holder{c.loss})
		if err = errors.Join(err, Codec().Unmarshal(text, &back)); err != nil || back.Of.Name() != c.loss.Name() {
			t.Errorf("%s is read back as %v (%v): has Codec its type?", c.loss.Name(), back.Of, err)
		}
		if _, ok := PreciseSlope(c.loss); !ok && name != "Poisson" {
			t.Errorf("%s has no slope in double-double: give it precise()", c.loss.Name())
		}
	}
	files := must.Get(filepath.Glob("*.go"))
	for _, path := range files {
		for _, of := range regexp.MustCompile(`(?m)^func \((?:\w+ )?([A-Z]\w*)\) ValueSlope\(`).FindAllSubmatch(
			must.Get(os.ReadFile(path)), -1) {
			if !rows[string(of[1])] {
				t.Errorf("%s has no row among losses() in loss_test.go", of[1])
			}
		}
	}
}
