package display_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/display"
)

// A table with a note, as text.
func Example() {
	it := display.Item{Title: "What was spent", Header: []string{"for", "ε"}}
	it.Row("first look", "0.5")
	it.Row("second look", "0.25")
	it.Note("%d fits.", len(it.Rows))
	fmt.Print(it.Text())
	// Output:
	// What was spent
	//   for             ε
	//   first look    0.5
	//   second look  0.25
	// 2 fits.
}
