package learn

import (
	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
)

// Origin says in a coloured box which records df has, where that is known: blue
// for real people whose records are public, yellow for invented ones. Show it
// before the first result, so that nobody takes the one for the other.
func (df DataFrame) Origin() display.Item {
	if err := df.Err(); err != nil {
		return display.Item{Warning: err.Error()}
	}
	return withOrigin(df.table.Source, display.Item{})
}

// withOrigin adds to it what is to be known of where its records come from.
func withOrigin(s frame.Source, it display.Item) display.Item {
	it.Origin, it.Invented = s.Note, s.Invented
	if it.Origin == "" && s.Invented {
		it.Origin = "INVENTED: " + s.Name
	}
	return it
}
