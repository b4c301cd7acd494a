package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// The invented patients follow the stated law: means and shares lie within five standard errors, in every cell of
// smoker and half of the ages.
func TestPatientsFollowTheirLaw(t *testing.T) {
	const rows = 40_000
	tab := must.Get(Patients(rows, 7))
	column := func(name string) *frame.Column {
		return must.Get(tab.Column(name))
	}
	age, weight, smoker := column("age").Numbers, column("weight").Numbers, column("smoker").Texts
	var pressure, visits, ill, heart, lungs []float64
	share := func(hit bool, p float64) float64 {
		if hit {
			return (1 - p) / math.Sqrt(p*(1-p))
		}
		return -p / math.Sqrt(p*(1-p))
	}
	for i := range rows {
		a, w, s := (age[i]-18)/72, (weight[i]-40)/110, 0.0
		if smoker[i] == "yes" {
			s = 1
		}
		pressure = append(pressure, (column("pressure").Numbers[i]-100-40*a-25*w-12*s)/10)
		mean := math.Exp(0.3 + 0.9*a + 0.6*s)
		visits = append(visits, (column("visits").Numbers[i]-mean)/math.Sqrt(mean))
		ill = append(ill, share(column("ill").Text(i) == "yes", 1/(1+math.Exp(3.5-4*a-1.5*s))))
		h, l := math.Exp(3*a-1), math.Exp(2*s-0.5)
		heart = append(heart, share(column("ward").Text(i) == "heart", h/(h+l+1)))
		lungs = append(lungs, share(column("ward").Text(i) == "lungs", l/(h+l+1)))
	}
	for name, z := range map[string][]float64{"pressure": pressure, "visits": visits, "ill": ill, "heart": heart,
		"lungs": lungs} {
		for cell := range 4 {
			var in []float64
			for i, v := range z {
				if (smoker[i] == "yes") == (cell%2 == 1) && (age[i] < 54) == (cell < 2) {
					in = append(in, v)
				}
			}
			m, sd := stat.MeanStdDev(in, nil)
			if !(math.Abs(m)*math.Sqrt(float64(len(in))) <= 5) || !(math.Abs(sd-1) <= 0.15) {
				t.Errorf("%s, cell %d: mean %.4f of %d, deviation %.3f", name, cell, m, len(in), sd)
			}
		}
	}
	if again, _ := Patients(rows, 7); again.Source.Name != tab.Source.Name || column("age").Numbers[9] != age[9] {
		t.Error("the same seed gives other patients")
	}
	for _, s := range []frame.DesignSettings{{Label: "pressure", Task: frame.Number},
		{Label: "visits", Task: frame.Count}, {Label: "ill"}, {Label: "ward", Task: frame.ManyClasses}} {
		if _, err := frame.NewDesign(tab, PatientsSchema(), s); err != nil {
			t.Error(err)
		}
	}
	if _, err := Patients(0, 1); err == nil {
		t.Error("no patients are invented")
	}
	// The last of these would weigh more than the bounds say.
	heavy := must.Get(must.Get(Patients(1141, 3186)).Column("weight")).Numbers
	if heavy[1140] != 150 || slices.Max(heavy) != 150 {
		t.Errorf("somebody weighs %v, at most %v", heavy[1140], slices.Max(heavy))
	}
}

// The patients of a seed are what they were: notebooks and figures show them.
func TestPatientsOfASeed(t *testing.T) {
	tab := must.Get(Patients(40_000, 7))
	var all []string
	for _, name := range []string{"age", "weight", "pressure", "visits"} {
		x := must.Get(tab.Column(name)).Numbers
		all = append(all, fmt.Sprintf("%s %g to %g, in sum %g", name, slices.Min(x), slices.Max(x), floats.Sum(x)))
	}
	for name, value := range map[string]string{"smoker": "yes", "ill": "yes", "ward": "lungs"} {
		n := 0
		for _, v := range must.Get(tab.Column(name)).Texts {
			if v == value {
				n++
			}
		}
		all = append(all, fmt.Sprintf("%s: %d of %s", name, n, value))
	}
	slices.Sort(all)
	if got, want := strings.Join(all, "; "), "age 18 to 90, in sum 2.157938e+06; ill: 12782 of yes; "+
		"pressure 68 to 196, in sum 5.277943e+06; smoker: 13177 of yes; visits 0 to 16, in sum 110511; "+
		"ward: 12929 of lungs; weight 40 to 138, in sum 3.002349e+06"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
