package learn

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// The penalty on second differences is a matrix of all coefficients: where they are many, numbers are lines for
// learners of every task.
func TestWideRecordsHaveLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wide.csv")
	must.Do(os.WriteFile(path, []byte("age,city,pressure,visits\n40,c1,120,2\n"), 0o600))
	for cities, bent := range map[int]bool{100: true, mostSmoothed: false} {
		names := make([]string, cities)
		for i := range names {
			names[i] = "c" + strconv.Itoa(i)
		}
		df := ReadCSV(path).WithSchema(Numeric("age", 18, 98), Categorical("city", names...),
			Numeric("pressure", 80, 200), Numeric("visits", 0, 9))
		for name, f := range map[string]struct {
			learner Learner
			data    *Dataset
		}{"numbers": {Linear{}, Regression(df, "pressure")}, "a smooth quantile": {Quantile{Smooth: 0.1},
			Regression(df, "pressure")}, "counts": {Poisson{}, Counts(df, "visits")}} {
			if got := f.learner.spec().seen(f.data, false).design.Encoding.Curves() != nil; got != bent {
				t.Errorf("%s, %d cities: curves are %v, want %v", name, cities, got, bent)
			}
		}
	}
}
