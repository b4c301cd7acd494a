package dpnb_test

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpnb/notebooks/dpnb"
)

// A table of what a program has in memory: a slice for each column.
func ExampleFromColumns() {
	ages, cities := []float64{31, 62, math.NaN()}, []string{"Bern", "Rome", ""}
	df := dpnb.FromColumns(dpnb.Numbers("age", ages), dpnb.Texts("city", cities)).WithSchema(
		dpnb.Numeric("age", 18, 90), dpnb.Categorical("city", "Bern", "Rome"))
	ages[0] = 99 // the table has its own
	back := df.Gota()
	fmt.Println(df.Rows(), back.Col("age").Float(), back.Col("city").Records())
	fmt.Println(dpnb.FromColumns(dpnb.Numbers("age", ages), dpnb.Texts("city", nil)).Err())
	// Output:
	// 3 [31 62 NaN] [Bern Rome NaN]
	// frame: column "city" has 0 rows, column "age" has 3
}

// The whole story: a table with what is publicly known of it, a budget, a private fit, and what it cost. A fit for
// people who are not invented has no Seed.
func Example() {
	patients := dpnb.Patients(1000, 1).WithSchema(
		dpnb.Numeric("age", 18, 90), dpnb.Categorical("smoker", "no", "yes"), dpnb.Categorical("ill", "no", "yes"))
	data := dpnb.Binary(patients.Drop("weight", "pressure", "visits", "ward"), "ill", dpnb.RowNorm(1))
	budget := dpnb.NewBudget(1, 1e-6, dpnb.Named("patients"))

	model, err := dpnb.Logistic{Noise: dpnb.Seed(1)}.Fit(data, budget.Spend(0.5).For("who is ill"))
	if err != nil {
		dpnb.Show(err)
		return
	}
	inLines := strings.NewReplacer(": ", ":\n", ", up", ",\nup")
	fmt.Println(inLines.Replace(model.Release.Guarantee.Words()))
	dpnb.Show(budget)
	// Output:
	// (ε = 0.5, δ = 4.5e-07), add/remove-one:
	// adding or removing any one record changes the probability of any result by a factor of at most e^ε ≤ 1.65,
	// up to a probability of δ.
	// !! Some of these fits drew their noise from a seed: they are simulations and protect nobody.
	// Privacy budget "patients": ε = 1, δ = 1e-06 (add/remove-one)
	//   for               mechanism                                              ε alone   δ alone
	//   who is ill        objective perturbation, logistic, records counted and      0.5   4.5e-07
	//                     centred [simulation]
	//   all so far                                                                   0.5   4.5e-07
	//   remaining budget                                                          0.7489  6.74e-07
}
