package learn

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// Plan is a study that has not been made yet: what is known of it without a
// single record.
type Plan struct {
	// Records n and Features d, the constant included. Both are numbers that may be
	// known: under add/remove-one a count of private records is itself private, so
	// plan with a round figure from the design of the study.
	Records, Features int
	// Epsilon is ε, Delta is δ; zero is 1e-6. Under add/remove-one.
	Epsilon, Delta float64
	// Signal is κ, the standard deviation of the best score xᵀβ⋆. Zero is 2 for
	// labels (the best classifier is then right for about four of five) and 1 for
	// numbers.
	Signal float64
	// Noise is the standard deviation of what a number deviates from xᵀβ⋆ by. With
	// it the plan is a regression by Huber's loss; zero plans a logistic
	// regression of labels.
	Noise float64
	// Threshold of Huber's loss; zero is 1.345 times Noise, where it is 95 %
	// efficient without privacy.
	Threshold float64
	// Mechanisms to predict; none is all of them.
	Mechanisms []proportional.Mechanism
}

// Forecast is what a Plan will come to.
type Forecast struct {
	Plan Plan
	// NonPrivate is the fit with the best ridge and no privacy.
	NonPrivate proportional.Prediction
	// Predictions, one for each mechanism, each with its best parameters.
	Predictions []proportional.Prediction
	err         error
}

// Predict says what private learning will cost, before any data are seen: the
// error of each mechanism at its best parameters, by the theory of the
// proportional regime (dtz24), which is exact in the limit of many records and
// features. Its assumptions are shown with it; the least true of them is that
// features are independent and of equal variance.
//
//	dpnb.Show(dpnb.Predict(dpnb.Plan{Records: 5000, Features: 100, Epsilon: 1}))
//
// Nothing private enters, so that nothing is spent. Errors (in Err, and shown):
// a number that is out of range.
func Predict(plan Plan) *Forecast {
	f := &Forecast{Plan: plan}
	p, task, unit, err := plan.task()
	if err != nil {
		f.err = err
		return f
	}
	f.Plan = p
	target := proportional.Target{Epsilon: p.Epsilon, Delta: p.Delta, Adjacency: privacy.AddRemove}
	if f.Predictions, f.err = proportional.Predict(task, p.Records, p.Features, target, p.Mechanisms...); f.err != nil {
		return f
	}
	task.AspectRatio = float64(p.Features) / float64(p.Records)
	if f.NonPrivate, f.err = task.NonPrivate(); f.err != nil || unit == 1 {
		return f
	}
	f.NonPrivate = f.NonPrivate.InUnits(unit)
	for i, q := range f.Predictions {
		f.Predictions[i] = q.InUnits(unit)
	}
	return f
}

// task fills in what a plan leaves out. A regression is the same problem in any
// unit of its numbers: its task is in the one in which the larger of signal and
// noise is 1, and unit is how many of the plan's that is.
func (p Plan) task() (_ Plan, _ proportional.Task, unit float64, _ error) {
	for _, v := range []struct {
		name  string
		value float64
		min   float64
		want  string
	}{
		{"Records", float64(p.Records), 1, "a positive number"},
		{"Features", float64(p.Features), 1, "a positive number"},
		{"Delta", p.Delta, 0, "a number in (0, 1), or 0 for 1e-6"},
		{"Signal", p.Signal, 0, "a positive number, or 0 to have it chosen"},
		{"Noise", p.Noise, 0, "a positive number for a regression, or 0 for labels"},
		{"Threshold", p.Threshold, 0, "a positive number, or 0 to have it chosen"},
	} {
		if !(v.value >= v.min) || math.IsInf(v.value, 1) {
			return p, proportional.Task{}, 1, &privacy.ParamError{Name: "Plan." + v.name, Value: v.value, Want: v.want}
		}
	}
	if p.Delta == 0 {
		p.Delta = 1e-6
	}
	if p.Noise == 0 {
		if p.Threshold != 0 {
			return p, proportional.Task{}, 1, &privacy.ParamError{Name: "Plan.Threshold", Value: p.Threshold, Want: "0 without Plan.Noise: it belongs to a regression"}
		}
		if p.Signal == 0 {
			p.Signal = 2
		}
		return p, proportional.Task{Loss: loss.Logistic{}, Link: proportional.LogisticLink{}, Kappa: p.Signal, Radius: 1, Goal: proportional.Misclassification}, 1, nil
	}
	if p.Signal == 0 {
		p.Signal = 1
	}
	unit = math.Max(p.Noise, p.Signal)
	noise, threshold := p.Noise/unit, p.Threshold/unit
	if p.Threshold == 0 {
		p.Threshold, threshold = 1.345*p.Noise, 1.345*noise
	}
	return p, proportional.Task{Loss: loss.Huber{Threshold: threshold}, Noise: proportional.Normal(0, noise), Kappa: p.Signal / unit, Radius: 1, Goal: proportional.SquaredError}, unit, nil
}

// Err returns why there is no forecast.
func (f *Forecast) Err() error { return f.err }

// Display shows the forecast as a table, with its assumptions.
func (f *Forecast) Display() display.Item {
	if f.err != nil {
		return display.Item{Warning: f.err.Error()}
	}
	p := f.Plan
	it := display.Item{Title: fmt.Sprintf("What to expect of %d records, %d features, ε = %s, δ = %s (add/remove-one)",
		p.Records, p.Features, privacy.FormatUp(p.Epsilon, 6), privacy.FormatUp(p.Delta, 3))}
	labels := p.Noise == 0
	if labels {
		it.Header = []string{"logistic regression", "wrong on new records", "AUC", "cosine to β⋆", "λ", "noise"}
	} else {
		it.Header = []string{"Huber regression", "error of a prediction", "distance from β⋆", "λ", "noise"}
	}
	row := func(name string, q proportional.Prediction) {
		cells := []string{name}
		if labels {
			k := q.Quality()
			cells = append(cells, fmt.Sprintf("%.2f %%", 100*k.Error), fmt.Sprintf("%.3f", k.AUC), fmt.Sprintf("%.3f", q.Point.SignalCorrelation()))
		} else {
			cells = append(cells, fmt.Sprintf("%.4g", math.Sqrt(q.Point.MSE()+p.Noise*p.Noise)), fmt.Sprintf("%.3g %%", 100*q.Point.RMSE/p.Signal))
		}
		switch {
		case q.Steps > 0:
			cells = append(cells, fmt.Sprintf("%d steps of %.3g", q.Steps, q.Step))
		default:
			cells = append(cells, fmt.Sprintf("%.3g", q.Lambda))
		}
		it.Rows = append(it.Rows, append(cells, fmt.Sprintf("%.3g", q.Nu)))
	}
	row("without privacy", f.NonPrivate)
	var edges []string
	if f.NonPrivate.AtEdge {
		edges = append(edges, "without privacy")
	}
	for _, q := range f.Predictions {
		row(q.Mechanism.String(), q)
		if q.AtEdge {
			edges = append(edges, q.Mechanism.String())
		}
	}
	if len(edges) > 0 {
		it.Notes = append(it.Notes, "At the end of what was searched, so that a parameter beyond it may be better: "+strings.Join(edges, ", ")+".")
	}
	measure := "Distance from β⋆ is ‖β̂ − β⋆‖/‖β⋆‖;"
	if labels {
		measure = "Which records are wrong depends on the direction of β̂ alone, so that parameters are chosen for it and the length of β̂ may be anything;"
		k := f.NonPrivate.Quality()
		it.Notes = append(it.Notes, fmt.Sprintf("Nobody can do better than %.2f %% wrong and AUC %.3f, which is what β⋆ itself has.", 100*k.BestError, k.BestAUC))
	} else {
		it.Notes = append(it.Notes, fmt.Sprintf("Nobody can do better than an error of %.4g, the root mean square that β⋆ itself leaves.", p.Noise))
	}
	it.Notes = append(it.Notes, measure+" λ is on the sum of the losses; noise is its scale in each coordinate: of the objective, of the coefficients, or of each gradient.",
		"A prediction, no measurement; the guarantee holds without it. It assumes:")
	seen := map[string]bool{}
	for _, q := range f.Predictions {
		for _, a := range q.Assumptions() {
			if !seen[a] {
				seen[a] = true
				it.Notes = append(it.Notes, "· "+a)
			}
		}
	}
	return it
}
