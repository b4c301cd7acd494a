package learn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// A calibrated model has slope·s + intercept in place of the log-odds s, of people whom nobody has, too, says so
// wherever it is shown, and is calibrated once; what has no such log-odds is not.
func TestCalibrated(t *testing.T) {
	data, simulate := kinds(t, 400), learn.Simulate(1, 1e-6)
	for name, of := range map[string]*learn.Dataset{"centred": data["Binary"], "as they are": plain(t, 400)["Binary"]} {
		m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(of, simulate))
		c := must.Get(m.Calibrated(1.5, -0.5, "a curve of 50 records.", "READ OFF"))
		was, is := must.Get(m.Losses(true)), must.Get(c.Losses(true))
		all := was.Usual()
		if !slices.IsSorted(all) || !slices.Equal(all, was.Usual()) || len(all) < 1000 {
			t.Errorf("%s: %d log-odds that are not sorted, or others when asked again", name, len(all))
		}
		mean, square := 0.0, 0.0
		for i, s := range is.Usual() {
			if want := 1.5*all[i] - 0.5; name == "centred" && !(math.Abs(s-want) <= 1e-9*(1+math.Abs(s))) {
				t.Fatalf("%s: place %d has %v, want %v", name, i, s, want)
			}
			mean, square = mean+all[i]/float64(len(all)), square+all[i]*all[i]/float64(len(all))
		}
		if sd := math.Sqrt(square - mean*mean); name != "centred" && !(math.Abs(sd-2) <= 0.1) {
			t.Errorf("%s: log-odds of a deviation of %v, want 2", name, sd)
		}
		if was.String() == is.String() || !strings.Contains(is.String(), "of coefficients") {
			t.Errorf("%s is named %q, and calibrated %q", name, was, is)
		}
		words := "their log-odds s became 1.5·s -0.5, by a curve of 50 records."
		again := reloaded(t, c)
		for _, text := range []string{c.Display().Text(), string(must.Get(c.Card())), again.Display().Text()} {
			says(t, strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "\\", ""), words)
		}
		if got := must.Get(again.Losses(true)).String(); got != is.String() {
			t.Errorf("%s is %q when it was read back, was %q", name, got, is)
		}
		if _, err := c.Calibrated(1, 0, "", ""); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("calibrated twice: %v", err)
		}
		for _, pair := range [][2]float64{{0, 0}, {-1, 0}, {math.Inf(1), 0}, {math.NaN(), 0}, {1, math.Inf(1)},
			{1, math.NaN()}} {
			if _, err := m.Calibrated(pair[0], pair[1], "", ""); err == nil {
				t.Errorf("%v is taken for a slope and an intercept", pair)
			}
		}
	}
	public := must.Get(learn.Logistic{}.FitWithoutPrivacy(data["Binary"]))
	number := must.Get(learn.Linear{Noise: learn.Seed(1)}.Fit(data["Regression"], simulate))
	classes := must.Get(learn.Softmax{Noise: learn.Seed(1)}.Fit(data["Classes"], simulate))
	for _, m := range []*learn.Model{nil, public, number, classes} {
		if _, err := m.Calibrated(1, 0, "", ""); err == nil {
			t.Errorf("%v is calibrated", m.Err())
		}
	}
}

// The weight of a class goes with its name, whichever is the positive one, and only their ratio counts.
func TestClassWeightsGoByName(t *testing.T) {
	df := learn.Patients(300, 4)
	theta := func(weights map[string]float64, opts ...learn.Option) []float64 {
		opts = append(opts, learn.ClassWeights(weights), learn.Uncentred())
		return must.Get(learn.Logistic{}.FitWithoutPrivacy(learn.Binary(df, "ill", opts...))).Theta()
	}
	first := theta(map[string]float64{"yes": 4})
	turned := theta(map[string]float64{"yes": 4}, learn.Positive("no"))
	for j, v := range first {
		if !(math.Abs(v+turned[j]) <= 1e-6*(1+math.Abs(v))) {
			t.Errorf("coefficient %d: %v, and %v with the classes exchanged", j, v, turned[j])
		}
	}
	if !slices.Equal(first, theta(map[string]float64{"yes": 1, "no": 0.25})) {
		t.Error("weights of 1 and ¼ are others than of 4 and 1")
	}
	for want, data := range map[string]*learn.Dataset{
		"no class":    learn.Binary(df, "ill", learn.ClassWeights(map[string]float64{"maybe": 2})),
		"positive":    learn.Binary(df, "ill", learn.ClassWeights(map[string]float64{"yes": -1})),
		"finite":      learn.Binary(df, "ill", learn.ClassWeights(map[string]float64{"yes": math.Inf(1)})),
		"thousandth":  learn.Binary(df, "ill", learn.ClassWeights(map[string]float64{"yes": 1001})),
		"two classes": learn.Regression(df, "pressure", learn.ClassWeights(map[string]float64{"yes": 2})),
	} {
		if err := data.Err(); err == nil || want != "finite" && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := learn.Binary(df, "ill", learn.ClassWeights(map[string]float64{"yes": 1000})).Err(); err != nil {
		t.Error(err)
	}
	broken := learn.Binary(df, "absent")
	if f := learn.StudyOf(broken, 100, 1, 1e-6).Forecast(); f.Err() == nil || broken.Err() == nil {
		t.Error("records that are none are studied")
	}
}
