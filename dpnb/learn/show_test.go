package learn_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// shown is what Show writes, or panics with.
func shown(t *testing.T, v any) (text string) {
	t.Helper()
	var b bytes.Buffer
	display.Out = &b
	defer func() {
		display.Out = nil
		text = b.String()
		if r := recover(); r != nil {
			text += fmt.Sprint(r)
		}
	}()
	learn.Show(v)
	return ""
}

// A notebook types dpnb.Dataset, and is told of a dpnb.Dataset.
func TestTextsSpeakOfTheFrontDoor(t *testing.T) {
	for want, v := range map[string]any{
		"*dpnb.Dataset": (*learn.Dataset)(nil), "*dpnb.Comparison": (*learn.Comparison)(nil),
		"*dpnb.Budget":     (*learn.Budget)(nil),
		"*dpnb.ScoreCurve": (*learn.ScoreCurve)(nil), "a dpnb.Study": learn.Study{},
		"a dpnb.Logistic": learn.Logistic{},
		"a dpnb.Field":    learn.Numeric("x", 0, 1), "[]dpnb.Field": []learn.Field{}, "*dpnb.CSV": &learn.CSV{},
		"a dpnb.Allowance": learn.Simulate(1, 1e-6), "a dpnb.Option": learn.NoBias(),
	} {
		text := shown(t, v)
		if !strings.Contains(text, want) || strings.Contains(text, "learn.") || strings.Contains(text, "frame.") {
			t.Errorf("%T is shown as %q", v, text)
		}
	}
}

// Coefficients of a fit without privacy are shown with its warning, those of a release without.
func TestCoefficientsWithoutPrivacyAreMarked(t *testing.T) {
	data := learn.Regression(learn.Patients(60, 1), "pressure", learn.RowNorm(1))
	released, err := learn.Quantiles{Steps: 5, Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []learn.Learner{learn.Quantiles{}, learn.Linear{}} {
		plain, err := l.FitWithoutPrivacy(data)
		if err != nil {
			t.Fatal(err)
		}
		if text := shown(t, plain.Coefficients()); !strings.Contains(text, "NOT PRIVATE") {
			t.Errorf("%T without privacy is shown as %q", l, text)
		}
	}
	text := shown(t, released.Coefficients())
	if strings.Contains(text, "RAW RECORDS") || strings.Contains(text, "NOT PRIVATE") {
		t.Errorf("a release is shown as %q", text)
	}
}

// A model of several classes has a column for each: a feature stands in one row with
// its coefficients, the largest first.
func TestClassesHaveColumns(t *testing.T) {
	data := learn.Classes(learn.Patients(40, 1), "ward", learn.RowNorm(1))
	m, err := learn.Softmax{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6))
	if err != nil {
		t.Fatal(err)
	}
	it, theta := m.Display(), m.Theta()
	if want := []string{"feature", "heart", "lungs", "bones"}; !slices.Equal(it.Header, want) {
		t.Errorf("columns %q, want %q", it.Header, want)
	}
	d := len(theta) / 3
	columns := m.Coefficients()
	for _, row := range it.Rows {
		for j := range d {
			if row[0] != columns.Elem(j, 1).String() {
				continue
			}
			for c, cell := range row[1:] {
				if want := fmt.Sprintf("%+.3f", theta[c*d+j]); cell != want {
					t.Errorf("%s of class %d: %s, want %s", row[0], c, cell, want)
				}
			}
		}
	}
	if len(it.Rows) != min(10, d) {
		t.Errorf("%d rows of %d features", len(it.Rows), d)
	}
	iv, err := m.ProvedIntervals(0.95)
	if err != nil {
		t.Fatal(err)
	}
	var classes []string
	for _, row := range iv.Display().Rows {
		classes = append(classes, row[0])
	}
	if got := slices.Compact(slices.Clone(classes)); !slices.Equal(got, it.Header[1:]) {
		t.Errorf("intervals are in the order %q", classes)
	}
}
