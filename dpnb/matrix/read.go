package matrix

import (
	"errors"

	"github.com/dpnb/notebooks/dpnb/internal/mapped"
)

// ReadError says that records are not to be had any longer: a file that is gone or damaged, a machine that does not
// answer. What reads rows panics with one, so that nothing is computed of records that are not there; Reading makes it
// an error again.
type ReadError struct{ Err error }

// Error implements error.
func (e *ReadError) Error() string { return "records cannot be read: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ReadError) Unwrap() error { return e.Err }

// Reading begins a function that reads rows, and ends it: defer Reading(&err)(). A panic with a *ReadError or a
// *DataError, or a fault of a mapped file, is its error then; other panics go on.
func Reading(err *error) (end func()) {
	restore := mapped.Watch()
	return func() {
		restore()
		p := recover()
		if fault := mapped.Fault(p); fault != nil {
			p = &ReadError{fault}
		}
		switch p := p.(type) {
		case nil:
		case *ReadError:
			*err = p
		case *DataError:
			*err = p
		case error:
			if !errors.Is(p, mapped.ErrFault) {
				panic(p)
			}
			*err = &ReadError{p}
		default:
			panic(p)
		}
	}
}

// Elsewhere is an N×D matrix of records that cannot be had one by one: what asks for rows panics with a *ReadError. It
// is what rows that add up over themselves (erm.Source) are built on.
type Elsewhere struct{ N, D int }

var errElsewhere = &ReadError{errors.New("what was asked for looks at single records, and these are not here: they " +
	"are only added up over; take another learner")}

// The methods of Rows.

func (m Elsewhere) Dims() (n, d int)                   { return m.N, m.D }
func (m Elsewhere) Margins(_, _ []float64, _, _ int)   { panic(errElsewhere) }
func (m Elsewhere) AddScaled(_, _ []float64, _, _ int) { panic(errElsewhere) }
func (m Elsewhere) Norms(_ []float64, _, _ int)        { panic(errElsewhere) }
func (m Elsewhere) Row([]float64, int)                 { panic(errElsewhere) }
