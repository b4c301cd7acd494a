package learn_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/learn"
)

// pressure is a simulated model of blood pressure, for the examples below.
func pressure() (*learn.Model, error) {
	data := learn.Regression(learn.Patients(5000, 1), "pressure")
	return learn.Huber{Noise: learn.Seed(1), CurvatureShare: 0.05}.Fit(data, learn.Simulate(1, 1e-6))
}

// The columns of a model as curves, those first that matter most.
func ExampleModel_Shapes() {
	model, err := pressure()
	if err != nil {
		fmt.Println(err)
		return
	}
	shapes, err := model.Shapes()
	if err != nil {
		fmt.Println(err)
		return
	}
	first := shapes.All()[0]
	points := first.Points()
	low, high := points[0], points[len(points)-1]
	fmt.Printf("%s, in %s: importance %.2f\n", first.Column(), first.Unit(), first.Importance())
	fmt.Printf("%s: %+.0f, %s: %+.0f\n", low.Name, low.Value, high.Name, high.Value)
	// Output:
	// age, in pressure: importance 12.87
	// 18: -24, 90: +21
}

// A shape is changed afterwards for free, and the model predicts with it.
func ExampleModel_With() {
	model, err := pressure()
	if err != nil {
		fmt.Println(err)
		return
	}
	age := model.Shape("age").Monotone(+1).Smoothed(0.01).Set(85, 90, 20).Rounded(0.5)
	weight := model.Shape("weight").Convex(-1).AtTypical()
	ward := model.Shape("ward").SetCategory("bones", 0)
	edited, err := model.With(age, weight, ward)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, did := range age.Did() {
		fmt.Println(did)
	}
	people := learn.Patients(1000, 2)
	before, _ := model.Score(learn.Regression(people, "pressure"))
	after, _ := edited.Score(learn.Regression(people, "pressure"))
	fmt.Printf("R² %.2f, and %.2f with what was changed\n", before, after)
	fmt.Println(edited.Unedited() == model)
	// Output:
	// made to rise, which changed nothing
	// smoothed with a weight of 0.01, by up to 0.0407, at 59.14
	// set to 20 at 90, by up to 1.44, at 90
	// rounded to multiples of 0.5, by up to 0.247, at 18
	// R² 0.61, and 0.61 with what was changed
	// true
}
