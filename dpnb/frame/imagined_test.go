package frame

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Weights of a column are suited to a mean that they can have: what a record has of the column then has that mean, and
// a number without curves the variance that is taken of one.
func TestSuitedWeightsHaveTheMean(t *testing.T) {
	schema := &Schema{Fields: []Field{NumericField("x", 0, 10), NumericField("low", 0, 10).Typically(0.3),
		CategoricalField("c", "p", "q", "r"), {Name: "h", Upper: 24, Period: 24}, CategoricalField("y", "0", "1")}}
	for _, curves := range []int{0, 8} {
		e := must.Get(newEncoding([]string{"x", "low", "c", "h", "y"}, schema, DesignSettings{Label: "y", Centred: true,
			Curves: curves}))
		for k := range e.encoders {
			c := &e.encoders[k]
			size := points
			if c.levels != nil {
				size = c.width()
			}
			for _, tilt := range []float64{0.5, 2, 300} {
				mean, got := make([]float64, len(e.Features)), make([]float64, c.width())
				weights := make([]float64, size)
				add := func(to []float64, i int, w float64) float64 {
					own := make([]float64, c.width())
					if c.levels != nil {
						floats.AddConst(-1/float64(size), own)
						own[i]++
					} else {
						c.line(own, place(i))
					}
					floats.AddScaled(to, w, own)
					return own[0]
				}
				for i := range weights {
					weights[i] = math.Pow(0.5+place(i*points/size)/2, tilt)
					if c.periodic() {
						weights[i] = 2 + math.Sin(2*math.Pi*place(i)+tilt)
					}
				}
				floats.Scale(1/floats.Sum(weights), weights)
				for i, w := range weights {
					add(mean[c.at:c.at+c.width()], i, 0.8*w)
				}
				c.suit(weights, mean, doubt{}, 0.8)
				square := 0.0
				for i, w := range weights {
					v := add(got, i, w)
					square += w * v * v
				}
				floats.Scale(0.8, got)
				most := 0.006
				if c.periodic() {
					most = 0.01 // its first place and its last are one
				}
				if off := floats.Distance(got, mean[c.at:c.at+c.width()], 2); off > most {
					t.Errorf("%d curves, %s, %v: the mean is off by %v", curves, c.field.Name, tilt, off)
				}
				u := c.typical + c.reach*got[0]/0.8
				if sd := math.Sqrt(square-got[0]*got[0]/0.64) * c.reach; curves == 0 && c.levels == nil &&
					!c.periodic() && !(math.Abs(sd-math.Sqrt(u*(1-u)/12)) <= 0.01) {
					t.Errorf("%s, %v: a deviation of %v, want %v", c.field.Name, tilt, sd, math.Sqrt(u*(1-u)/12))
				}
			}
		}
	}
}

// Where nothing is known of the mean, numbers are all over their scales, and none is missing.
func TestImaginedOfNoMean(t *testing.T) {
	schema := &Schema{Fields: []Field{NumericField("x", 0, 10).OrMissing(), CategoricalField("c", "p", "q").OrMissing(),
		CategoricalField("y", "0", "1")}}
	e := must.Get(newEncoding([]string{"x", "c", "y"}, schema, DesignSettings{Label: "y", Centred: true, RowNorm: 1}))
	src, seen := rand.New(rand.NewPCG(1, 2)), map[bool]int{}
	rows := e.Imagined(nil, 0, 0.5, 0.5, 1000, src.Float64)
	row := make([]float64, len(e.Features))
	for i := range 1000 {
		rows.Row(row, i)
		if seen[row[0] > 0]++; row[1] > 0 {
			t.Fatalf("record %d, of %v, is without a number", i, e.Features)
		}
	}
	if seen[true] < 400 || seen[false] < 400 {
		t.Errorf("of 1000 numbers %d are above the middle, %d not", seen[true], seen[false])
	}
}

// A category that does not stand out of its noise by two standard deviations is taken lower by one of them, by more
// where more is asked for; what stands out, and the hats of a number, as was asked for.
func TestRareCategoriesAreTakenLower(t *testing.T) {
	const off = 0.01
	for _, c := range []struct{ less, v, category, hat float64 }{
		{0.5, 0.03, 0.025, 0.025}, {0.5, 0.0201, 0.0151, 0.0151}, {0.5, 0.0199, 0.0099, 0.0149},
		{0.5, 0.005, off / 16, off / 4}, {0.5, -0.01, off / 16, off / 4}, {1.5, 0.019, 0.004, 0.004},
	} {
		d := doubt{off, c.less, 1}
		if got := d.category(c.v); !(math.Abs(got-c.category) <= 1e-8) {
			t.Errorf("less %v of %v: a category has %v, want %v", c.less, c.v, got, c.category)
		}
		if got := d.share(c.v); !(math.Abs(got-c.hat) <= 1e-8) {
			t.Errorf("less %v of %v: a hat has %v, want %v", c.less, c.v, got, c.hat)
		}
	}
	e := must.Get(newEncoding([]string{"c", "y"}, &Schema{Fields: []Field{CategoricalField("c", "p", "q", "r"),
		CategoricalField("y", "0", "1")}}, DesignSettings{Label: "y", Centred: true, RowNorm: 1}))
	weights := make([]float64, 3)
	e.encoders[0].suit(weights, []float64{0.8 - 1./3, 0.185 - 1./3, 0.015 - 1./3}, doubt{off, 0.5, 1}, 1)
	if want := 0.005 / (0.795 + 0.18 + 0.005); !(math.Abs(weights[2]-want) <= 1e-8) {
		t.Errorf("a rare category weighs %v, want %v", weights[2], want)
	}
	e = must.Get(newEncoding([]string{"n", "c", "y"}, &Schema{Fields: []Field{NumericField("n", 0, 1),
		CategoricalField("c", "p", "q", "r"), CategoricalField("y", "0", "1")}},
		DesignSettings{Label: "y", Centred: true, ClipNorm: 100}))
	shares, noise := e.Shares([]float64{0.1, 0.8 - 1./3, 0.185 - 1./3, 0.015 - 1./3}, off, 0.5, 1)
	for j, want := range []float64{0, 0.795 / 0.98, 0.18 / 0.98, 0.005 / 0.98} {
		if !(math.Abs(shares[j]-want) <= 1e-5*want) || j == 0 && noise[j] != 0 || j > 0 && noise[j] != off {
			t.Errorf("the share of feature %d is %v with noise of %v, want %v", j, shares[j], noise[j], want)
		}
	}
}
