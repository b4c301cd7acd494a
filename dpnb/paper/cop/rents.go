package cop

import (
	"fmt"
	"os"

	"github.com/dpnb/notebooks/dpnb/noise"
)

// Rents writes a file of invented flats: rent = 200 + (8 + 6u²)·size − 15·km, u uniform, so that the τ-quantile at a
// size and a distance is RentQuantile. A square metre costs more, the dearer a flat is for its size.
func Rents(n int, seed uint64) (path string, err error) {
	src := noise.NewSeeded(seed)
	file, err := os.CreateTemp("", "rents-*.csv")
	if err != nil {
		return "", err
	}
	fmt.Fprintln(file, "size,km,rent")
	for range n {
		size, km := 20+120*src.Float64(), 15*src.Float64()
		fmt.Fprintf(file, "%.0f,%.1f,%.0f\n", size, km, RentQuantile(src.Float64(), size, km))
	}
	return file.Name(), file.Close()
}

// RentQuantile returns the rent below which a share tau of Rents of a size and distance lies.
func RentQuantile(tau, size, km float64) float64 { return 200 + (8+6*tau*tau)*size - 15*km }
