// Package permit has what only code of this module can show. It is internal, and a Permit has no methods and no
// exported fields: a program that cannot name the type can still have its zero value, by the inference of type
// parameters, and that permits nothing.
package permit

// Permit opens what rests on more than a type can say, such as that nothing is shown before it is returned.
type Permit struct{ given bool }

// New returns a permit.
func New() Permit { return Permit{true} }

// Given reports whether p is of New.
func Given(p Permit) bool { return p.given }
