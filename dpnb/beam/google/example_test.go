package google_test

import (
	"context"
	"fmt"
	"os"

	"github.com/dpnb/notebooks/dpnb/beam/google"
	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/beam/tally"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// Four questions about a file, each for a tenth of a budget that is kept beside it.
func ExampleQuestion_Ask() {
	records, err := parquet.Open("people.parquet", nil)
	if err != nil {
		fmt.Println("no people.parquet here")
		return
	}
	df := learn.FromScanner(records, nil).WithSchema(learn.Numeric("age", 18, 100),
		learn.Categorical("town", "Bern", "Rome", "Oslo"))
	table := tally.Table{Pieces: frame.Pieces(records)}
	budget := learn.NewBudget(1, 1e-6, learn.KeptIn("people.budget.json"))
	ask := func(q google.Question) (*google.Answer, error) {
		return q.Ask(context.Background(), runner.Where{}, df, table, os.TempDir(), budget.Spend(0.1))
	}
	fmt.Println(ask(google.Question{Kind: google.Count, By: "town"}))
	fmt.Println(ask(google.Question{Kind: google.Quantiles, Column: "age", Levels: []float64{0.5}}))
	for _, kind := range []google.Kind{google.Sum, google.Mean} {
		fmt.Println(ask(google.Question{Kind: kind, Column: "age", By: "town"}))
	}
	// Output: no people.parquet here
}
