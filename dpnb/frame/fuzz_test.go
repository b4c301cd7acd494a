package frame_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// FuzzReadCSV: whatever the bytes are, reading gives a table of equal columns or an *InputError, and making records of
// it gives finite rows within the stated norm or an *InputError. Nothing panics.
func FuzzReadCSV(f *testing.F) {
	for _, seed := range []string{people, "", "a\n1\n", "a,b\n1,x\n2,\"y\n\"\n", "a,b\n1e999,x\n",
		"y,a\nlow,NaN\nhigh,-0\n", "\ufeffy,x\r\nlow,1\r\nhigh,2\r\n", "a,a\n1,2\n", "y\nlow\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tab, err := frame.ReadCSV(strings.NewReader(text), nil)
		var in *frame.InputError
		if err != nil {
			if !errors.As(err, &in) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		for _, name := range tab.Names() {
			c := must.Get(tab.Column(name))
			if n := max(len(c.Numbers), len(c.Texts)); n != tab.Rows() {
				t.Fatalf("column %q has %d of %d rows", name, n, tab.Rows())
			}
		}
		label := tab.Names()[0]
		d, err := frame.NewDesign(tab, frame.InferSchema(tab), frame.DesignSettings{Label: label, RowNorm: 1})
		if err != nil {
			if !errors.As(err, &in) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		norms := make([]float64, dense(d).N)
		d.Rows.Norms(norms, 0, dense(d).N)
		for i, r := range norms {
			if math.IsNaN(r) || r > d.RowNorm {
				t.Fatalf("row %d has norm %v, stated %v", i, r, d.RowNorm)
			}
		}
	})
}

// FuzzNeighbour: one record more, of whatever texts, in a file or a raw line of one, changes no other row, no label and
// no word.
func FuzzNeighbour(f *testing.F) {
	for i, text := range oddTexts {
		if len(text) < 100 {
			f.Add(text, uint(i), uint(i/3))
		}
	}
	schema := patientSchema()
	read := func(t *testing.T, text string) []*frame.Design {
		tab, err := frame.ReadCSV(strings.NewReader(text), nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var out []*frame.Design
		for _, s := range settingsOf {
			d, err := frame.NewDesign(tab, schema, s)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			out = append(out, d)
		}
		return out
	}
	f.Fuzz(func(t *testing.T, text string, column, place uint) {
		odd := slices.Clone(patients[0])
		odd[column%uint(len(odd))] = text
		at := int(place % uint(len(patients)+1))
		plain := written(t, patients)
		more := []string{written(t, slices.Insert(slices.Clone(patients), at, odd))}
		if !strings.ContainsAny(text, "\",\r\n") {
			lines := strings.SplitAfter(plain, "\n")
			more = append(more, strings.Join(slices.Insert(lines, at+1, strings.Join(odd, ",")+"\n"), ""))
		}
		before := read(t, plain)
		for _, file := range more {
			for k, d := range read(t, file) {
				if what := sameBut(before[k], d, at); what != "" {
					t.Fatalf("%s of %q: %s", settingsOf[k].Label, file, what)
				}
			}
		}
	})
}
