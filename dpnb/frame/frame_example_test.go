package frame_test

import (
	"fmt"
	"os"
	"path/filepath"
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

// A file as a spreadsheet in Zürich writes it, read a chunk at a time.
func ExampleScanCSV() {
	path := filepath.Join(os.TempDir(), "dpnb-example.csv")
	defer os.Remove(path)
	text := "Umsatz 2024\nTag;Umsatz\n3.1.;1'234,50\n4.1.;20,5\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	s, err := frame.ScanCSV(path, &frame.CSVSettings{Comma: ';', Decimal: ',', Thousands: '\'', Skip: 1,
		Rename: map[string]string{"Umsatz": "sales"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = s.Scan([]string{"sales"}, func(chunk *frame.Table) error {
		sales, err := chunk.Column("sales")
		fmt.Println(chunk.Rows(), sales.Number(0), sales.Number(1))
		return err
	})
	fmt.Println(err)
	// Output:
	// 2 1234.5 20.5
	// <nil>
}
