package learn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/registry"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// exampleData writes a small table and returns it as records. Each example is a program of its own, which knows nothing
// of the others' budget.
func exampleData() *learn.Dataset {
	registry.Forget("main")
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "people.csv")
	os.WriteFile(path, []byte(people), 0o600)
	df := learn.ReadCSV(path).WithSchema(
		learn.Numeric("age", 18, 98), learn.Categorical("city", "Bern", "Rome"), learn.Categorical("happy", "no",
			"yes"))
	return learn.Binary(df, "happy", learn.RowNorm(1))
}

// inLines begins a line where a long sentence has a pause.
func inLines(s string) string {
	return strings.NewReplacer(": ", ":\n", "; ", ";\n", ", up", ",\nup").Replace(s)
}

// State a budget, spend a part of it, be refused the rest.
func Example() {
	data := exampleData()
	budget := learn.NewBudget(1.0, 1e-6)
	model, err := learn.Logistic{}.Fit(data, budget.Spend(0.8).For("who is happy"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(inLines(model.Release.Guarantee.Words()))
	_, err = learn.Logistic{}.Fit(data, budget.Spend(0.8))
	fmt.Println(inLines(err.Error()))
	// Output:
	// (ε = 0.8, δ = 7.2e-07), add/remove-one:
	// adding or removing any one record changes the probability of any result by a factor of at most e^ε ≤ 2.23,
	// up to a probability of δ.
	// ledger:
	// budget "main" has ε = 0.415608, δ = 3.74047e-07 left, and this release needs ε = 0.8, δ = 7.2e-07:
	// refused;
	// nothing was drawn and nothing spent. Ask for less, or stop here:
	// what was released stays released
}

// What was done to the records, and what it cost.
func ExampleBinary() {
	d, err := exampleData().Design()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range d.Steps {
		fmt.Println(inLines(s.What))
	}
	// Output:
	// numbers moved into their bounds and scaled to [−1, 1] about their middle or typical value, with 8 splines each:
	// age ∈ [18, 98]
	// categories as indicators less 1/K, K the number of categories:
	// city:
	// 2 public categories
	// rule for values that do not fit, if there are any:
	// a value that is missing or not a number counts as the middle of its bounds:
	// 58 in age;
	// a text that is no category, or none, has no indicator in city
	// every row scaled to norm 1
	// bias 0.3333 appended:
	// ‖x‖ ≤ 1.054
	// label happy:
	// yes is +1, no is −1;
	// anything else counts as no
}

// A simulation can be repeated, and says that it protects nobody.
func ExampleSimulate() {
	model, err := learn.Logistic{Noise: learn.Seed(1)}.Fit(exampleData(), learn.Simulate(1, 1e-6))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Release.Warning())
	// Output:
	// SIMULATION with seed 1: the noise can be reproduced and subtracted, so this release protects nobody.
}

// A ledger with one entry.
func ExampleShow() {
	data := exampleData()
	budget := learn.NewBudget(2, 1e-5)
	_, err := learn.Logistic{Noise: learn.Seed(1)}.Fit(data, budget.Spend(0.5).For("first look"))
	if err != nil {
		fmt.Println(err)
		return
	}
	learn.Show(budget)
	// Output:
	// !! Some of these fits drew their noise from a seed: they are simulations and protect nobody.
	// Privacy budget "main": ε = 2, δ = 1e-05 (add/remove-one)
	//   for               mechanism                                              ε alone    δ alone
	//   first look        objective perturbation, logistic, records counted and      0.5   2.25e-06
	//                     centred [simulation]
	//   all so far                                                                   0.5   2.25e-06
	//   remaining budget                                                           1.708  7.687e-06
}
