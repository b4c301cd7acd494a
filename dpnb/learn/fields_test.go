package learn_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Whatever number or bound is set in a learner that is solved quickly, the fit with the same noise is another, or is
// refused.
func TestFieldsAreHeeded(t *testing.T) {
	testscale.InTurn(t)
	df := learn.Patients(120, 11).Select("age", "smoker", "pressure", "visits", "ill")
	values := map[string]any{"Lambda": 3.0, "Records": 400, "BaseRate": 0.2, "Width": 0.5, "Threshold": 0.4,
		"Clip": 0.3, "Bound": objective.RKW23}
	for _, c := range []struct {
		l      learn.Learner
		target string
	}{{learn.Logistic{}, "ill"}, {learn.SVM{}, "ill"}, {learn.Linear{}, "pressure"}, {learn.Huber{}, "pressure"},
		{learn.Poisson{}, "visits"}} {
		data := learn.RecordsFor(c.l, df, c.target, learn.Lines())
		fit := func(name string) string {
			of := reflect.New(reflect.TypeOf(c.l)).Elem()
			of.FieldByName("Noise").Set(reflect.ValueOf(learn.Seed(1)))
			if name != "" {
				of.FieldByName(name).Set(reflect.ValueOf(values[name]))
			}
			m, err := of.Interface().(learn.Learner).Fit(data, learn.Simulate(2, 1e-6))
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(m.Theta(), m.Display())
		}
		plain := fit("")
		for name, v := range values {
			if _, there := reflect.TypeOf(c.l).FieldByName(name); there && fit(name) == plain {
				t.Errorf("%T: %s = %v changes nothing", c.l, name, v)
			}
		}
	}
}
