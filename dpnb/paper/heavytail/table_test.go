package heavytail

import (
	"context"
	"os"
	"slices"
	"testing"
)

// Makes the table, or goes on with it: DPNB_TABLE=FILE go test -run TestMakeTable -timeout 0.
func TestMakeTable(t *testing.T) {
	path := os.Getenv("DPNB_TABLE")
	if path == "" {
		t.Skip("DPNB_TABLE names the file to make the table in")
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	made, err := ReadTable(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range Blocks() {
		p := b.Population
		p.Loss = b.Losses[0]
		if slices.ContainsFunc(made, func(r Row) bool { return r.Population == p.String() && r.Records == b.Records }) {
			continue
		}
		rows, err := b.Rows(context.Background(), Arms(), 0)
		if err == nil {
			err = WriteTable(file, rows)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
