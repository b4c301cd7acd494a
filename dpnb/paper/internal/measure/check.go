package measure

import (
	"context"

	"github.com/dpnb/notebooks/dpnb/claim"
)

// failure is the panic of Try and Must. It is an error, so that internal/parallel carries it from a worker to the
// caller.
type failure struct{ error }

// Try ends the function that has deferred Catch, or the body of the Check, if err is not nil.
func Try(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Must returns v; it ends as Try does.
func Must[T any](v T, err error) T {
	Try(err)
	return v
}

// Must2 is Must of two values.
func Must2[T, U any](v T, w U, err error) (T, U) {
	Try(err)
	return v, w
}

// Must3 is Must of three values.
func Must3[T, U, V any](v T, w U, x V, err error) (T, U, V) {
	Try(err)
	return v, w, x
}

// Catch, deferred, makes the error that ended the function in Try or Must its error:
//
//	func draw(path string) (f *figure.Figure, err error) {
//		defer measure.Catch(&err)
//		rows := measure.Must(read(path))
//		…
func Catch(err *error) {
	if p := recover(); p != nil {
		*err = caught(p)
	}
}

// Fatal, deferred by a test, has it fail with the error that ended it in Try or Must.
func Fatal(t interface{ Fatal(...any) }) {
	if p := recover(); p != nil {
		t.Fatal(caught(p))
	}
}

// caught is what Try was given; other panics go on.
func caught(p any) error {
	if f, ok := p.(failure); ok {
		return f.error
	}
	panic(p)
}

// Check is a check that Try and Must may end.
func Check(body func(context.Context, claim.Size) claim.Outcome) claim.Check {
	return func(ctx context.Context, size claim.Size) (o claim.Outcome, err error) {
		defer Catch(&err)
		return body(ctx, size), nil
	}
}

// Sized is the quick value at claim.Quick and the full one at claim.Full.
func Sized[T any](size claim.Size, quick, full T) T {
	if size == claim.Full {
		return full
	}
	return quick
}
