package parquet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
)

// A table of public rows is written, and two of its columns are read, chunk by chunk.
func ExampleOpen() {
	path := filepath.Join(os.TempDir(), "dpnb-example.parquet")
	defer os.Remove(path)
	table, err := frame.ReadCSV(strings.NewReader("town,inhabitants,canton\nThun,43000,BE\nChur,,GR\n"), nil)
	if err == nil {
		err = parquet.Write(path, table)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := parquet.Open(path, &parquet.Settings{ChunkRows: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = s.Scan([]string{"inhabitants", "town"}, func(chunk *frame.Table) error {
		n, err := chunk.Column("inhabitants")
		fmt.Println(chunk.Names(), n.Number(0), n.Number(1))
		return err
	})
	fmt.Println(s.Origin().Rows, err)
	// Output:
	// [inhabitants town] 43000 NaN
	// 2 <nil>
}
