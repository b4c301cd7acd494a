package learn_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// shown is what Show writes, or panics with.
func shown(t *testing.T, things ...any) (text string) {
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
	learn.Show(things...)
	return ""
}

// says wants all of these in a text.
func says(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
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

// A model of several classes has a column for each: a feature stands in one row with its coefficients, the largest
// first.
func TestClassesHaveColumns(t *testing.T) {
	data := learn.Classes(learn.Patients(40, 1), "ward", learn.RowNorm(1))
	m := must.Get(learn.Softmax{Noise: learn.Seed(1)}.Fit(data, learn.Simulate(1, 1e-6)))
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
	iv := must.Get(m.ProvedIntervals(0.95))
	var classes []string
	for _, row := range iv.Display().Rows {
		classes = append(classes, row[0])
	}
	if got := slices.Compact(slices.Clone(classes)); !slices.Equal(got, it.Header[1:]) {
		t.Errorf("intervals are in the order %q", classes)
	}
}

// An error is shown once: what came with it and has nothing, or only says that there is an error, is left out; what has
// something is not.
func TestAnErrorIsShownOnce(t *testing.T) {
	failed := learn.ReadCSV("nowhere.csv")
	data := learn.Binary(failed, "ill")
	m, err := learn.Logistic{}.Fit(data, learn.Simulate(1, 1e-6))
	if err == nil {
		t.Fatal("a fit of no file")
	}
	want := shown(t, err)
	for i, things := range [][]any{{m, err}, {failed, err}, {data, m, err}, {m.PredictFrame(failed), err}, {err, m}} {
		if got := shown(t, things...); got != want {
			t.Errorf("%d: shown as\n%s\nwant\n%s", i, got, want)
		}
	}
	if got := shown(t, "before", err); !strings.HasSuffix(got, want) || !strings.Contains(got, "before") {
		t.Errorf("shown as\n%s", got)
	}
	if got := shown(t, m); !strings.Contains(got, "look at the err") {
		t.Errorf("without its error: %s", got)
	}
	if !strings.Contains(want, "relative to the folder in which the program runs") {
		t.Errorf("a plain program is told %s", want)
	}
}
