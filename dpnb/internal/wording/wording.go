// Package wording has settings, which are called one thing in Go and another in a shell, as texts and errors name them.
package wording

import (
	"slices"
	"strconv"
	"strings"
)

// Shell is how a program that is no Go program of the user's calls a setting; nil is as in Go. A program sets it once,
// before it says anything.
var Shell func(Setting) string

// Setting is a setting as it is named.
type Setting struct {
	// Field is its name, and Value what it is or should be, in the words of a shell; "" where the name alone is said.
	// Without a Field it is of Go alone, and a shell says nothing.
	Field, Value string
	// Go is how a program writes it; "" for Field, or Field: Value.
	Go string
}

// Quoted is a text in quotation marks, as a shell takes it.
func Quoted(text string) string {
	if !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text) + `"`
}

// Of returns a setting of the same name in both, with its value if there is one.
func Of(field string, value ...string) Setting {
	return Setting{Field: field, Value: strings.Join(value, " ")}
}

// Weights are those of records, by a column and by their class.
var Weights = Setting{Field: "WeightsFrom", Value: "and --class-weight", Go: "WeightsFrom and ClassWeights"}

// Names lists names, all in quotation marks where one has a comma in it.
func Names(names []string) string {
	if slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, ",") }) {
		quoted := make([]string, len(names))
		for i, n := range names {
			quoted[i] = strconv.Quote(n)
		}
		names = quoted
	}
	return strings.Join(names, ", ")
}

// String implements fmt.Stringer.
func (s Setting) String() string {
	switch {
	case Shell != nil && s.Field == "":
		return ""
	case Shell != nil:
		return Shell(s)
	case s.Go != "":
		return s.Go
	case s.Value != "":
		return s.Field + ": " + s.Value
	}
	return s.Field
}
