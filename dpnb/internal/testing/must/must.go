// Package must says in one word that a test cannot go on without a result: an error ends it, with where it came from.
// Tests alone may enter; what learners call returns its errors.
package must

// Do ends the test where there is an error.
func Do(err error) {
	if err != nil {
		panic(err)
	}
}

// Get returns v, or ends the test.
func Get[V any](v V, err error) V {
	Do(err)
	return v
}

// Two is Get for two values.
func Two[V, W any](v V, w W, err error) (V, W) {
	Do(err)
	return v, w
}
