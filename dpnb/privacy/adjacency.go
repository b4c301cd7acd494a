package privacy

import "fmt"

// Adjacency says which two datasets count as neighbours. It is a part of every guarantee: an ε under one adjacency is
// not an ε under another. The zero value is invalid, so that it can never be taken by default.
type Adjacency int

const (
	// AddRemove: Z′ = Z ∪ {z} or Z = Z′ ∪ {z}; the number of records is private.
	AddRemove Adjacency = iota + 1
	// ReplaceOne: Z and Z′ have the same size and differ in one record.
	ReplaceOne
)

// String returns the name that flags and JSON use; sentences have Words.
func (a Adjacency) String() string {
	switch a {
	case AddRemove:
		return "add-remove"
	case ReplaceOne:
		return "replace"
	}
	return fmt.Sprintf("Adjacency(%d)", int(a))
}

// Words is what a is called in sentences: add/remove-one or replace-one.
func (a Adjacency) Words() string {
	if a == AddRemove {
		return "add/remove-one"
	}
	return a.String() + "-one"
}

// Validate returns a *ParamError if a is not one of the named adjacencies.
func (a Adjacency) Validate() error {
	return Within(a == AddRemove || a == ReplaceOne, "Adjacency", int(a), "AddRemove or ReplaceOne")
}

// ParseAdjacency is the inverse of Adjacency.String.
func ParseAdjacency(s string) (Adjacency, error) {
	for _, a := range []Adjacency{AddRemove, ReplaceOne} {
		if s == a.String() {
			return a, nil
		}
	}
	return 0, &ParamError{Name: "adjacency", Value: s, Want: `"add-remove" or "replace"`}
}

// Direction says from which of two neighbours the output is drawn, that is, which of the two is P in the hockey-stick
// divergence H(P‖Q). Under ReplaceOne the family of pairs is symmetric and the two directions agree.
type Direction int

const (
	// Remove: the output is drawn from the dataset that has the record.
	Remove Direction = iota
	// Add: the output is drawn from the dataset without the record.
	Add
)

// Directions lists both, for loops.
var Directions = [...]Direction{Remove, Add}

// String returns "remove" or "add".
func (d Direction) String() string {
	if d == Remove {
		return "remove"
	}
	return "add"
}

// Opposite returns the other direction.
func (d Direction) Opposite() Direction { return 1 - d }
