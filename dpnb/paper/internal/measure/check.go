package measure

import (
	"context"
	"fmt"
	"iter"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/recent"
)

// failure is the panic of Try and Must. It is an error, so that internal/parallel carries it from a worker to the
// caller.
type failure struct{ error }

// Try ends the function that has deferred Catch, or a check, if err is not nil.
func Try(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Ensure ends as Try does, with what is wrong, if it is not so.
func Ensure(so bool, wrong string, of ...any) {
	if !so {
		Try(fmt.Errorf(wrong, of...))
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

// shared are what was measured last.
var shared = recent.Values[any, any]{Kept: 1024}

// Shared is what make returns, made once for all versions of a check: what is measured is the same whatever is claimed.
// The key is of a type of its own, and says what else the measurement depends on, if anything.
func Shared[T any](key any, make func() T) T {
	v, err := shared.Of(key, func() (any, error) { return make(), nil })
	return Must(v, err).(T)
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

// Run is what a check runs with: its context, which may end it, and its size. What a check measures, and what of it is
// times a factor or wrong, is said in its row of claims.txt.
type Run struct {
	context.Context
	claim.Size
}

// Of is a check of something that is claimed, v; Try and Must may end it.
func Of[T any](check func(Run, T) claim.Outcome, v T) claim.Check {
	return func(ctx context.Context, size claim.Size) (o claim.Outcome, err error) {
		defer Catch(&err)
		return check(Run{ctx, size}, v), ctx.Err()
	}
}

// With is a check of which it is said what is checked: a law, a method, a figure's number.
func With[A, B any](check func(Run, A, B) claim.Outcome, a A) func(Run, B) claim.Outcome {
	return func(run Run, b B) claim.Outcome { return check(run, a, b) }
}

// Against is the check of what is right against the same of what is wrong.
func Against[T any](check func(Run, T) claim.Outcome, right T, wrong ...T) claim.Versions {
	var all []claim.Check
	for _, w := range wrong {
		all = append(all, Of(check, w))
	}
	return claim.Against(Of(check, right), all...)
}

// Times is a check of claimed quantities times factors, one of them at a time: those that the claim's row names as
// scaled.
func Times(by ...func(run Run, factor float64) claim.Outcome) claim.Versions {
	var all []func(float64) claim.Check
	for _, check := range by {
		all = append(all, func(factor float64) claim.Check { return Of(check, factor) })
	}
	return claim.Times(all...)
}

// Scaled is Times for a check of one quantity, of what is right, against the same of what is wrong.
func Scaled[T any](check func(run Run, v T, factor float64) claim.Outcome, right T, wrong ...T) claim.Versions {
	var all []claim.Check
	for _, w := range wrong {
		all = append(all, Of(With(check, w), 1))
	}
	return Times(With(check, right)).Against(all...)
}

// Pair is Times for a check of two quantities.
func Pair(check func(run Run, a, b float64) claim.Outcome) claim.Versions {
	return Times(func(r Run, f float64) claim.Outcome { return check(r, f, 1) },
		func(r Run, f float64) claim.Outcome { return check(r, 1, f) })
}

// Sized is the quick value at claim.Quick and the full one at claim.Full.
func Sized[T any](size claim.Size, quick, full T) T {
	if size == claim.Full {
		return full
	}
	return quick
}

// Over is the elements of a list with their places. Between them it looks whether ctx has ended, and ends as Try does.
func Over[T any](ctx context.Context, list []T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, v := range list {
			if Try(ctx.Err()); !yield(i, v) {
				return
			}
		}
	}
}

// To is 0, …, n − 1, as Over.
func To(ctx context.Context, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if Try(ctx.Err()); !yield(i) {
				return
			}
		}
	}
}

// Pairs is each element of a list with each of another, the second faster, as Over.
func Pairs[A, B any](ctx context.Context, as []A, bs []B) iter.Seq2[A, B] {
	return func(yield func(A, B) bool) {
		for k := range To(ctx, len(as)*len(bs)) {
			if !yield(as[k/len(bs)], bs[k%len(bs)]) {
				return
			}
		}
	}
}
