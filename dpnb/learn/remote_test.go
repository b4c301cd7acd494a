package learn_test

import (
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
	"github.com/dpnb/notebooks/dpnb/paper/scale"
)

// there adds up over stored records as another program would.
type there struct {
	stored.Records
	passes int
}

func (t *there) Pass(q *erm.Query) (*erm.Sums, error) {
	t.passes++
	p, err := erm.NewPart(t.Records, t.Labels(), q.Loss)
	if err != nil {
		return nil, err
	}
	n, _ := t.Dims()
	var s erm.Sums
	p.Add(&s, q, 0, n)
	return &s, nil
}

func (t *there) Sample(places []int) (matrix.Rows, []float64, error) {
	rows, labels := matrix.Select(t.Records, places), make([]float64, len(places))
	for k, i := range places {
		labels[k] = t.Labels()[i]
	}
	return rows, labels, nil
}

// TestPassesBy: a fit whose passes are made elsewhere releases what one here does, and costs the same; what is more
// than passes is refused before anything is charged.
func TestPassesBy(t *testing.T) {
	dir := t.TempDir()
	g := scale.Invented{Rows: 5000}
	path := filepath.Join(dir, "a.parquet")
	must.Do(parquet.Write(path, g))
	df := learn.FromScanner(parquet.Open(path, nil)).WithSchema(scale.Schema().Fields...)
	stays := learn.StoredIn(frame.Storage{Dir: dir, Double: true})
	var far *there
	by := learn.PassesBy(func(rows stored.Records) (matrix.Rows, error) {
		far = &there{Records: rows}
		return far, nil
	})
	for i, make := range []func() learn.Learner{
		func() learn.Learner { return learn.Logistic{Noise: learn.Seed(5)} },
		func() learn.Learner { return learn.SVM{Noise: learn.Seed(5)} },
		func() learn.Learner { return learn.SVM{Noise: learn.Seed(5)} },
	} {
		l, df := make(), df
		if i == 2 { // as many rows of some people
			df = df.PerPerson(g.Names()[0], 3)
		}
		want := must.Get(l.Fit(learn.Binary(df, "ill", stays, learn.Uncentred()), learn.Simulate(1, 1e-6)))
		got := must.Get(make().Fit(learn.Binary(df, "ill", stays, learn.Uncentred(), by), learn.Simulate(1, 1e-6)))
		// Both are within τ/λ of the same minimiser, and rounded to the same grid.
		within := 2 * got.Release.Tolerance / got.Release.Fitted.Describe().Lambda
		if floats.Distance(got.Theta(), want.Theta(), 2) > within || within > 1e-5 || far.passes == 0 {
			t.Errorf("%T: %v with %d passes elsewhere, here %v", l, got.Theta(), far.passes, want.Theta())
		}
	}
	numeric := g.Names()[0]
	b := learn.NewBudget(1, 1e-6, learn.Named(t.TempDir()))
	data := learn.Binary(df, "ill", stays, by)
	if _, err := (learn.Logistic{Noise: learn.Seed(1)}).Fit(data, learn.Simulate(1, 0)); err == nil {
		t.Error("a fit of pure ε is made of passes")
	}
	if _, err := (learn.HeavyTails{}).Fit(learn.Regression(df, numeric, stays, by), b.Share(1)); err == nil {
		t.Error("heavy tails are a matter of passes")
	}
	rising := learn.Binary(df, "ill", stays, by, learn.Rising(numeric))
	if _, err := (learn.SVM{}).Fit(rising, b.Share(1)); err == nil ||
		!strings.Contains(err.Error(), "leave out PassesBy") {
		t.Errorf("a column is to rise by passes remote: %v", err)
	}
	if s, err := b.State(); err != nil || len(s.Entries) != 0 {
		t.Errorf("%v for what was refused, %v", s.Entries, err)
	}
	if err := learn.Binary(df.Collect().WithSchema(scale.Schema().Fields...), "ill", by).Err(); err == nil ||
		!strings.Contains(err.Error(), "FromScanner") {
		t.Errorf("a table in memory: %v", err)
	}
}
