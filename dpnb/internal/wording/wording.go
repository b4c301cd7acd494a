// Package wording has errors that name settings, which are called one thing in Go and another in a shell.
package wording

import (
	"fmt"
	"strings"
)

// Setting is a setting as an error names it.
type Setting struct {
	// Field is its name, and Value what it is or should be, in the words of a shell; "" where the name alone is said.
	Field, Value string
	// Go is how a program writes it; "" for Field, or Field: Value.
	Go string
}

// Of returns a setting of the same name in both, with its value if there is one.
func Of(field string, value ...string) Setting {
	return Setting{Field: field, Value: strings.Join(value, " ")}
}

// String implements fmt.Stringer: in Go.
func (s Setting) String() string {
	switch {
	case s.Go != "":
		return s.Go
	case s.Value != "":
		return s.Field + ": " + s.Value
	}
	return s.Field
}

// Error is a text with settings in it.
type Error struct {
	format string
	args   []any
}

// Errorf returns an error of which Settings among the arguments are written as those it is shown to call them.
func Errorf(format string, args ...any) *Error { return &Error{format, args} }

// Error implements error: in Go.
func (e *Error) Error() string { return fmt.Sprintf(e.format, e.args...) }

// In returns the text of an error, in which the settings of what it wraps are written by name.
func In(err error, name func(Setting) string) string {
	text := err.Error()
	var within func(err error)
	within = func(err error) {
		switch e := err.(type) {
		case *Error:
			args := make([]any, len(e.args))
			for i, a := range e.args {
				if s, ok := a.(Setting); ok {
					a = name(s)
				}
				args[i] = a
			}
			text = strings.Replace(text, e.Error(), fmt.Sprintf(e.format, args...), 1)
		case interface{ Unwrap() error }:
			within(e.Unwrap())
		case interface{ Unwrap() []error }:
			for _, one := range e.Unwrap() {
				within(one)
			}
		}
	}
	within(err)
	return text
}
