package report_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/report"
)

// A mistyped parameter is found before anything is set up or run.
func ExampleCheck() {
	o := report.Options{Notebooks: []string{"testdata/small.ipynb"}, Parameters: map[string]string{"epsilom": "0.5"}}
	fmt.Println(report.Check(o))
	// Output:
	// testdata/small.ipynb: it has no parameter "epsilom"; it has epsilon, name, rows
}
