// Package pictures holds what the figures of a paper's room draw, and the tables beside them, against a text that is
// kept beside the tests. Tests alone may enter.
package pictures

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// Seen is what there is to be seen, as text: the numbers that are drawn, their description, the tables.
type Seen struct {
	t    *testing.T
	text string
}

// New returns an empty Seen, whose errors fail the test.
func New(t *testing.T) *Seen { return &Seen{t: t} }

// Beside adds a figure, which must be drawable, and the table beside it.
func (s *Seen) Beside(f *figure.Figure, table display.Item, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := f.PNG(); err != nil {
		s.t.Fatal(err)
	}
	s.text += f.Numbers() + f.Words() + "\n" + table.Text() + "\n"
}

// Figure adds a figure without a table.
func (s *Seen) Figure(f *figure.Figure, err error) {
	s.t.Helper()
	s.Beside(f, display.Item{}, err)
}

// Figures adds several.
func (s *Seen) Figures(f []*figure.Figure, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, one := range f {
		s.Figure(one, nil)
	}
}

// Long adds what draw adds, where every test was asked for: what takes seconds. Elsewhere it is not held.
func (s *Seen) Long(draw func()) {
	if testscale.Full() {
		draw()
		return
	}
	s.text += golden.Elsewhere + "\n"
}

// Table adds a table without a figure.
func (s *Seen) Table(table display.Item, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	s.text += table.Text()
}

// Compare holds all of it against testdata/pictures.txt of the room.
func (s *Seen) Compare() {
	s.t.Helper()
	golden.Compare(s.t, "testdata/pictures.txt", s.text)
}
