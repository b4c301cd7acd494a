package ours

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// goesOn has a fit end again and again after its noise was drawn; anew draws it from the system each time.
func goesOn(_ measure.Run, anew bool) claim.Outcome {
	dir := measure.Must(os.MkdirTemp("", "dpnb-goes-on-*"))
	defer os.RemoveAll(dir)
	budget := learn.NewBudget(4, 1e-5, learn.Named(fmt.Sprintf("goes-on %d", budgets.Add(1))),
		learn.KeptIn(filepath.Join(dir, "ledger.json")))
	data := learn.Binary(learn.Patients(60, 3), "ill")
	seen := map[string]bool{}
	for end := 4; end >= -1; end-- {
		release := func(a learn.Allowance) ([]float64, error) {
			m, err := learn.Logistic{}.Fit(data, a)
			if err != nil {
				return nil, err
			}
			theta := m.Theta()
			if anew {
				noise.Exact(noise.NewSecure()).FillNormal(theta, 1)
			}
			if seen[fmt.Sprint(theta)] = true; end > 0 {
				err = errEnded
			}
			return theta, err
		}
		allowance := budget.Spend(1).Resumable(permit.New())
		theta, err := learn.Once("ill", allowance, "logistic", release, encoded, decoded)
		if end > 0 && errors.Is(err, errEnded) {
			continue
		}
		measure.Try(err)
		seen[fmt.Sprint(theta)] = true
	}
	charges := len(measure.Must(budget.State()).Entries)
	return claim.Decide(fmt.Sprintf("%d charge, %d different fits", charges, len(seen)), "exactly", charges == 1 &&
		len(seen) == 1)
}

func encoded(theta []float64) ([]byte, error) { return json.Marshal(theta) }

func decoded(text []byte) (theta []float64, err error) { return theta, json.Unmarshal(text, &theta) }

// onceRules are what is wrong with a way of releasing once.
type onceRules struct{ nameless, checksum bool }

var budgets atomic.Int64

// onceHolds calls Once with neighbours after a release that ended somewhere.
func onceHolds(_ measure.Run, rules onceRules) claim.Outcome {
	all := learn.Patients(60, 3)
	neighbours := []learn.DataFrame{all, all.Filter(func(row int) bool { return row != 7 }), learn.Patients(61, 3)}
	charges, apart := 0, 0
	for _, end := range []string{"before the charge", "after the charge", "while it is kept", "never"} {
		budget := learn.NewBudget(4, 1e-5, learn.Named(fmt.Sprintf("fit-once %d", budgets.Add(1))))
		call := func(df learn.DataFrame, end string) string {
			theta, err := releasedOnce(budget.Spend(1), df, end, rules)
			return fmt.Sprint(theta, err)
		}
		call(neighbours[0], end)
		first := call(neighbours[0], "never") // it may be this one that is released
		for _, df := range neighbours[1:] {
			if call(df, "never") != first {
				apart++
			}
		}
		charges = max(charges, len(measure.Must(budget.State()).Entries))
	}
	return claim.Decide(fmt.Sprintf("at most %d charge of a name; %d of 8 calls with a neighbour differ", charges,
		apart), "exactly", charges == 1 && apart == 0)
}

var errEnded = errors.New("the program ended")

// releasedOnce is a cell that releases coefficients under a name and ends where it is told.
func releasedOnce(a learn.Allowance, df learn.DataFrame, end string, rules onceRules) ([]float64, error) {
	spec := map[string]any{"learner": "logistic"}
	if rules.checksum {
		table, err := df.Table()
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		for _, name := range table.Names() {
			c, err := table.Column(name)
			if err != nil {
				return nil, err
			}
			fmt.Fprintln(sum, c.Numbers, c.Texts)
		}
		spec["records"] = sum.Sum(nil)
	}
	return learn.Once("ill", a, spec, func(once learn.Allowance) ([]float64, error) {
		if end == "before the charge" {
			return nil, errEnded
		}
		if rules.nameless {
			once = a
		}
		m, err := learn.Logistic{}.Fit(learn.Binary(df, "ill"), once)
		if err == nil && end == "after the charge" {
			err = errEnded
		}
		return m.Theta(), err
	}, func(theta []float64) ([]byte, error) {
		if end == "while it is kept" {
			return nil, errEnded
		}
		return encoded(theta)
	}, decoded)
}
