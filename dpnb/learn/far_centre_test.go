package learn_test

import (
	"fmt"
	"testing"

	"github.com/dpnb/notebooks/dpnb/learn"
)

// Where ε is so small that the ridge leaves nothing but the centre of the intercept, fits come to an end all the same:
// they were paid for.
func TestFarCentresAreCertified(t *testing.T) {
	for _, n := range []int{0, 3} {
		records := ""
		for i := range n {
			records += fmt.Sprintf("%d,Bern,130,%d,yes\n", 30+i, i)
		}
		df := oddFrame(t, records)
		wide := df.WithSchema(learn.Numeric("age", 18, 98), learn.Categorical("city", "Bern", "Rome"),
			learn.Numeric("pressure", 80, 200), learn.Numeric("visits", 0, 1e9), learn.Categorical("ill", "no", "yes"))
		ill := learn.Binary(df, "ill")
		for seed := range uint64(3) {
			s := learn.Seed(seed)
			for _, f := range []struct {
				learner learn.Learner
				data    *learn.Dataset
			}{
				{learn.SVM{Noise: s, BaseRate: 0.01}, ill}, {learn.Logistic{Noise: s, BaseRate: 1e-9}, ill},
				{learn.Poisson{Noise: s}, learn.Counts(wide, "visits")},
			} {
				if _, err := f.learner.Fit(f.data, learn.Simulate(1e-3, 1e-12)); err != nil {
					t.Errorf("%T, %d records: %v", f.learner, n, err)
				}
			}
		}
	}
}
