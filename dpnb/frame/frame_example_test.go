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

// A sum by a scan is the same for a table in memory and for a file larger than it.
func ExampleScanner() {
	table, err := frame.ReadCSV(strings.NewReader("age,happy\n30,yes\n99,no\n"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var s frame.Scanner = table
	sum := 0.0
	err = s.Scan([]string{"age"}, func(chunk *frame.Table) error {
		age, err := chunk.Column("age")
		for i := range chunk.Rows() {
			sum += age.Number(i)
		}
		return err
	})
	whole, collected := frame.Collect(s, nil)
	fmt.Println(sum, err, whole.Names(), collected)
	// Output: 129 <nil> [age happy] <nil>
}
