package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Patients returns rows invented patients with an outcome for each kind of learner, by a law that is known. With a =
// (age − 18)/72, w = (weight − 40)/110 and s = 1 for smokers:
//
//	pressure = 100 + 40a + 25w + 12s + N(0, 10²),  rounded
//	visits   ~ Poisson(exp(0.3 + 0.9a + 0.6s))
//	ill      = yes with log-odds −3.5 + 4a + 1.5s
//	ward     = heart, lungs or bones, with weights e^{3a − 1}, e^{2s − 0.5}, 1
//
// age is uniform, weight is N(75, 15²) within its bounds, a third smoke. The same seed gives the same patients.
func Patients(rows int, seed uint64) (*frame.Table, error) {
	if rows < 1 {
		return nil, fmt.Errorf("dataset: %d patients, want at least one", rows)
	}
	rng := noise.NewSeeded(seed)
	number := func(name string) frame.Column { return frame.Column{Name: name, Numbers: make([]float64, rows)} }
	text := func(name, usual string) frame.Column {
		return frame.Column{Name: name, Kind: frame.Categorical, Texts: slices.Repeat([]string{usual}, rows)}
	}
	age, weight, smoker := number("age"), number("weight"), text("smoker", "no")
	pressure, visits := number("pressure"), number("visits")
	ill, ward := text("ill", "no"), text("ward", "heart")
	for i := range rows {
		age.Numbers[i] = 18 + float64(rng.IntN(73))
		weight.Numbers[i] = math.Round(math.Min(150, math.Max(40, 75+15*rng.NormFloat64())))
		a, w, s := (age.Numbers[i]-18)/72, (weight.Numbers[i]-40)/110, 0.0
		if rng.Float64() < 1.0/3 {
			smoker.Texts[i], s = "yes", 1
		}
		pressure.Numbers[i] = math.Round(100 + 40*a + 25*w + 12*s + 10*rng.NormFloat64())
		visits.Numbers[i] = poisson(rng, math.Exp(0.3+0.9*a+0.6*s))
		if rng.Float64() < 1/(1+math.Exp(3.5-4*a-1.5*s)) {
			ill.Texts[i] = "yes"
		}
		heart, lungs := math.Exp(3*a-1), math.Exp(2*s-0.5)
		switch u := (heart + lungs + 1) * rng.Float64(); {
		case u < heart:
		case u < heart+lungs:
			ward.Texts[i] = "lungs"
		default:
			ward.Texts[i] = "bones"
		}
	}
	t, err := frame.NewTable(age, weight, smoker, pressure, visits, ill, ward)
	if err != nil {
		return nil, err
	}
	t.Source = frame.Source{Name: fmt.Sprintf("%d invented patients, seed %d", rows, seed), Rows: rows, Public: true,
		Invented: true}
	return t, t.Source.Log()
}

// PatientsSchema is what is publicly known of invented patients: round bounds.
func PatientsSchema() *frame.Schema {
	return &frame.Schema{Fields: []frame.Field{
		frame.NumericField("age", 18, 90),
		frame.NumericField("weight", 40, 150),
		frame.CategoricalField("smoker", "no", "yes"),
		frame.NumericField("pressure", 80, 200),
		frame.NumericField("visits", 0, 20),
		frame.CategoricalField("ill", "no", "yes"),
		frame.CategoricalField("ward", "heart", "lungs", "bones"),
	}}
}

// poisson draws a count of the given mean, which is small: the number of uniform variates whose product stays above
// e^{−mean}.
func poisson(rng *noise.Seeded, mean float64) float64 {
	limit, n := math.Exp(-mean), 0.0
	for p := rng.Float64(); p > limit; p *= rng.Float64() {
		n++
	}
	return n
}
