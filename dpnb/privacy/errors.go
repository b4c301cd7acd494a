package privacy

import (
	"errors"
	"fmt"
)

// ParamError says that a parameter is outside its range and what range it has. It is returned before anything is
// computed, drawn or spent.
type ParamError struct {
	// Name of the parameter as the caller wrote it, for example "Epsilon".
	Name string
	// Value that was given.
	Value any
	// Want is the range in words, for example "a number in (0, 1)".
	Want string
}

// Error implements error.
func (e *ParamError) Error() string {
	return fmt.Sprintf("privacy: %s = %v, want %s", e.Name, e.Value, e.Want)
}

// CheckGaussianDelta returns nil for 0 < δ < 1, what Gaussian noise can promise, or a *ParamError.
func CheckGaussianDelta(delta float64) error {
	if delta > 0 && delta < 1 {
		return nil
	}
	return &ParamError{Name: "Delta", Value: delta,
		Want: "a number in (0, 1), for example 1e-6: Gaussian noise gives no guarantee at δ = 0"}
}

// Sentinel errors, to be tested with errors.Is.
var (
	// ErrAdjacency: guarantees of different adjacency were mixed. Convert one of them first.
	ErrAdjacency = errors.New("privacy: guarantees of different adjacency cannot be combined; convert one of them " +
		"first")
	// ErrUnsupported: this event has no guarantee of the kind asked for.
	ErrUnsupported = errors.New("privacy: not supported")
)
