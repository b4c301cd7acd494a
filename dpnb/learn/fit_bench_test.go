//go:build unix

package learn

import (
	"fmt"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// BenchmarkFit is what a fit of 200,000 records of six columns takes once its calibration is known: the preparation of
// records, the passes over them and what is released.
func BenchmarkFit(b *testing.B) {
	people, src := Patients(200_000, 11), Seed(1)
	ill, pressure := Binary(people, "ill"), Regression(people, "pressure")
	suited, own := Suited(people, "pressure")
	for _, f := range []struct {
		learner Learner
		data    *Dataset
		name    string
	}{
		{Logistic{Noise: src}, ill, "Logistic"},
		{Huber{Noise: src}, pressure, "Huber"},
		{Linear{Noise: src}, pressure, "Linear"},
		{suited, own, "Suited"},
		{Logistic{Noise: src}, Binary(people, "ill", Lines()), "LogisticLines"},
		{Huber{Noise: src}, Regression(people, "pressure", Lines()), "HuberLines"},
	} {
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			before := processorTime(b)
			for b.Loop() {
				budgets++
				a := NewBudget(1, 1e-6, Named(fmt.Sprintf("%s %d", b.Name(), budgets))).Spend(1)
				must.Get(f.learner.Fit(f.data, a))
			}
			b.ReportMetric((processorTime(b)-before).Seconds()*1e3/float64(b.N), "CPU-ms/op")
		})
	}
}
