package privacy

import (
	"errors"
	"fmt"
	"math"
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

// Within returns nil where ok says that a parameter is in its range, else the *ParamError; of several cmp.Or takes the
// first.
func Within(ok bool, name string, value any, want string) error {
	if ok {
		return nil
	}
	return &ParamError{Name: name, Value: value, Want: want}
}

// Positive is Within of a positive finite number, NotNegative of a finite one ≥ 0, Fraction of one in (0, 1). What is
// in its range allocates nothing: accountants ask at every α.
func Positive(name string, v float64) error {
	if v > 0 && !math.IsInf(v, 1) {
		return nil
	}
	return &ParamError{Name: name, Value: v, Want: "a positive finite number"}
}

// NotNegative is like Positive.
func NotNegative(name string, v float64) error {
	if v >= 0 && !math.IsInf(v, 1) {
		return nil
	}
	return &ParamError{Name: name, Value: v, Want: "a finite number ≥ 0"}
}

// Fraction is like Positive.
func Fraction(name string, v float64) error {
	if v > 0 && v < 1 {
		return nil
	}
	return &ParamError{Name: name, Value: v, Want: "a number in (0, 1)"}
}

// CheckGaussianDelta returns nil for 0 < δ < 1, what Gaussian noise can promise, or a *ParamError.
func CheckGaussianDelta(delta float64) error {
	return Within(delta > 0 && delta < 1, "Delta", delta,
		"a number in (0, 1), for example 1e-6: Gaussian noise gives no guarantee at δ = 0")
}

// CheckEpsilon returns nil for 0 < ε ≤ 1000, for which noise is looked for, or a *ParamError.
func CheckEpsilon(epsilon float64) error {
	return Within(epsilon > 0 && epsilon <= 1e3, "Epsilon", epsilon, "a number in (0, 1000]")
}

// Sentinel errors, to be tested with errors.Is.
var (
	// ErrAdjacency: guarantees of different adjacency were mixed. Convert one of them first.
	ErrAdjacency = errors.New("privacy: guarantees of different adjacency cannot be combined; convert one of them " +
		"first")
	// ErrUnsupported: this event has no guarantee of the kind asked for.
	ErrUnsupported = errors.New("privacy: not supported")
)
