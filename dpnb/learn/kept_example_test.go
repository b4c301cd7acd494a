package learn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// sick is a simulated model of who is ill, for the examples below.
func sick(seed uint64) (*learn.Model, error) {
	data := learn.Binary(learn.Patients(2000, 1), "ill", learn.RowNorm(1))
	return learn.Logistic{Noise: learn.Seed(seed)}.Fit(data, learn.Simulate(1, 1e-6))
}

// A model is saved, and loaded by another program, to the last bit.
func ExampleModel_Save() {
	dir, err := os.MkdirTemp("", "dpnb")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ill.json")
	model, err := sick(1)
	if err == nil {
		err = model.Save(path)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := learn.Load(path)
	fmt.Println(err, fmt.Sprint(again.Theta()) == fmt.Sprint(model.Theta()))
	// Output: <nil> true
}

// A file whose digits do not fit its checksum is refused.
func ExampleLoad() {
	_, err := learn.Load("testdata/models/none.json")
	fmt.Println(err != nil)
	model, err := learn.Load("testdata/models/linear.json")
	fmt.Println(err)
	fmt.Println(strings.Join(model.Columns(), ", "))
	// Output:
	// true
	// <nil>
	// age, weight, smoker, visits, ill, ward
}

// A cell that runs twice pays once. For a release, leave Noise out, as here.
func ExampleFitOnce() {
	data := learn.Binary(learn.Patients(2000, 1), "ill", learn.RowNorm(1))
	budget := learn.NewBudget(1, 1e-6, learn.Named("example of FitOnce"))
	for range 2 {
		if _, err := learn.FitOnce("who is ill", learn.Logistic{}, data, budget.Spend(0.5)); err != nil {
			fmt.Println(err)
		}
	}
	s, err := budget.State()
	fmt.Println(len(s.Entries), "entry of ε =", s.SpentEpsilon, err)
	// Output: 1 entry of ε = 0.5 <nil>
}

// A card says what a model is, what it was learnt from and what it promises, in Markdown.
func ExampleModel_Card() {
	model, err := sick(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	card, err := model.Card()
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(card)) {
		if strings.HasPrefix(line, "#") {
			fmt.Print(line)
		}
	}
	// Output:
	// # Private logistic regression for ill
	// ## Data
	// ## How it was fitted
	// ## What it promises
	// ## Coefficients
	// ## Limits
	// ## How to predict
	// ## Made with
}

// The better of two ridges and of two sets of columns is chosen, and the choice is paid for.
func ExampleTune() {
	data := learn.Binary(learn.Patients(4000, 1), "ill", learn.RowNorm(1))
	model, err := learn.Tune{
		Learners: []learn.Learner{learn.Logistic{Lambda: 30}, learn.Logistic{Lambda: 1e5}},
		Without:  [][]string{nil, {"ward"}},
		Noise:    learn.Seed(3), // a simulation; for a release, leave it out
	}.Fit(data, learn.Simulate(4, 1e-5))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("λ =", model.Lambda())
	// Output: λ = 30
}

// One model predicts every target exactly, which has to be known without the data, and so has about where it lies.
// Whatever is shown of the model says what its guarantee rests on.
func ExampleQuadratic() {
	var x, y frame.Column
	x.Name, y.Name = "x", "y"
	for i := range 2000 {
		x.Numbers = append(x.Numbers, float64(i%100)/100)
		y.Numbers = append(y.Numbers, 0.6*x.Numbers[i]-0.2)
	}
	table, err := frame.NewTable(x, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	df := learn.FromTable(table).WithSchema(learn.Numeric("x", 0, 1), learn.Numeric("y", -1, 1))
	data := learn.Regression(df, "y")
	l := learn.Quadratic{Interpolation: learn.AssumeInterpolation([]float64{0.55, -0.15}, 0.1), Noise: learn.Seed(1)}
	model, err := l.Fit(data, learn.Simulate(4, 1e-4))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Contains(model.Display().Warning, "RESTS ON INTERPOLATION"))
	// Output: true
}

// Which class is taken for which, and whether probabilities come true, on records that may be known.
func ExampleModel_Evaluate() {
	model, err := sick(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := model.Evaluate(learn.Patients(2000, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: accuracy %.2f, guessing %.2f, AUC %.2f\n", e.Classes, e.Accuracy, e.Majority, e.AUC)
	// Output: [no yes]: accuracy 0.75, guessing 0.68, AUC 0.79
}
