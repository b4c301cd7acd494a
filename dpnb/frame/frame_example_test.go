package frame_test

import (
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// What is public of the columns makes the matrix; the records decide nothing but their rows.
func ExampleNewDesign() {
	table, err := frame.ReadCSV(strings.NewReader("age,happy\n30,yes\n99,no\n"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	schema := &frame.Schema{Fields: []frame.Field{
		frame.NumericField("age", 20, 80), frame.CategoricalField("happy", "no", "yes")}}
	d, err := frame.NewDesign(table, schema, frame.DesignSettings{Label: "happy"})
	fmt.Println(d.Features, d.Labels, err)
	// Output: [age bias] [1 -1] <nil>
}
