package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// predicted is a row of `forecast --json`.
type predicted struct {
	Mechanism string  `json:"mechanism"`
	Lambda    float64 `json:"lambda,omitempty"`
	Steps     int     `json:"steps,omitempty"`
	Step      float64 `json:"step,omitempty"`
	Noise     float64 `json:"noise"`
	// RMSE is ‖β̂ − β⋆‖/√d, Distance the same over ‖β⋆‖/√d.
	RMSE     float64 `json:"rmse"`
	Distance float64 `json:"distance"`
	// Wrong is the share of new records that are misclassified.
	Wrong  *float64 `json:"wrong,omitempty"`
	AUC    *float64 `json:"auc,omitempty"`
	Cosine *float64 `json:"cosine,omitempty"`
	// AtEdge says that the best parameter is at an end of the search.
	AtEdge bool `json:"at_edge,omitempty"`
}

func newForecastCommand() *cobra.Command {
	var (
		study  learn.Study
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "forecast",
		Short: "Say what privacy will cost, before any data are seen",
		Long: `Forecast the error of private learning from the number of records and features
and from ε alone, by the theory of the proportional regime: of a logistic
regression, or with --noise of a Huber regression. Each mechanism has its best
parameters. No data are read and nothing is spent. The assumptions are printed.`,
		Example: `  dpnb forecast --records 5000 --features 100 --epsilon 1
  dpnb forecast --records 500 --features 20 --epsilon 2 --noise 0.3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := givenZeros(cmd); err != nil {
				return err
			}
			f := study.Forecast()
			if err := f.Err(); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if !asJSON {
				return printed(out, f, nil)
			}
			rows := []predicted{}
			for _, p := range f.Predictions {
				r := predicted{Mechanism: p.Mechanism.String(), Lambda: p.Lambda, Steps: p.Steps, Step: p.Step,
					Noise: p.Nu, RMSE: p.Point.RMSE, Distance: p.Point.RMSE / f.Study.Signal, AtEdge: p.AtEdge}
				if f.Study.Noise == 0 {
					q := p.Quality()
					cosine := p.Point.SignalCorrelation()
					r.Wrong, r.AUC, r.Cosine = &q.Error, &q.AUC, &cosine
				}
				rows = append(rows, r)
			}
			e := json.NewEncoder(out)
			e.SetIndent("", "  ")
			return e.Encode(rows)
		},
	}
	f := cmd.Flags()
	f.IntVar(&study.Records, "records", 0, "`number` of records n")
	f.IntVar(&study.Features, "features", 0, "`number` of features d")
	f.Float64Var(&study.Epsilon, "epsilon", 1, "privacy loss `ε` (add/remove-one)")
	f.Float64Var(&study.Delta, "delta", 1e-6, "probability `δ`")
	f.Float64Var(&study.Signal, "signal", 0,
		"standard deviation `κ` of the best score (default 2 for labels, 1 for numbers)")
	f.Float64Var(&study.Noise, "noise", 0, "standard deviation `s` of the noise: predict a regression")
	f.Float64Var(&study.Threshold, "threshold", 0, "`threshold` of Huber's loss (default 1.345 times the noise)")
	f.BoolVar(&asJSON, "json", false, "print the predictions as JSON")
	required(cmd, "records", "features")
	return cmd
}

// givenZeros refuses zeros that were given: learn.Study takes its own for left out, and would answer for another study
// than the one that was asked about.
func givenZeros(cmd *cobra.Command) error {
	for name, want := range map[string]string{
		"delta":     "a number in (0, 1): the Gaussian noise of these mechanisms has no guarantee at δ = 0",
		"signal":    "a positive number: without a signal there is nothing to predict",
		"noise":     "a positive number for a regression, or leave it out for labels",
		"threshold": "a positive number, or leave it out to have it chosen",
	} {
		if v, err := cmd.Flags().GetFloat64(name); err != nil || v == 0 && cmd.Flags().Changed(name) {
			return errors.Join(err, &privacy.ParamError{Name: "--" + name, Value: v, Want: want})
		}
	}
	return nil
}
