package explore_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

type adds = func(explore.Adding, func([]byte) error) error

// elsewhere adds up the rows of a table in parts, told what by JSON, and leaves out so many rows.
func elsewhere(df learn.DataFrame, lost int) func() (adds, error) {
	return func() (adds, error) {
		return func(a explore.Adding, each func([]byte) error) error {
			text, err := json.Marshal(a)
			if err != nil {
				return err
			}
			table, err := df.Table()
			if err != nil {
				return err
			}
			for _, part := range []*frame.Table{table.Slice(1700, table.Rows()-lost), table.Slice(0, 1700)} {
				var told explore.Adding
				if err := json.Unmarshal(text, &told); err != nil {
					return err
				}
				b, err := told.Tally(part)
				if err == nil {
					err = each(b)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
}

// Every question that is counts and sums has, added up in parts elsewhere, the answer that it has here, of one seed;
// and another if rows are missing.
func TestTalliedElsewhere(t *testing.T) {
	df := people(5000).Drop("flag")
	for name, q := range map[string]explore.Query{
		"mean": explore.Mean("age"), "sum": explore.Sum("age"), "count": explore.Count(),
		"quantiles": explore.QuantilesOf("age", 0.1, 0.5), "variance": explore.Variance("age"),
		"histogram": explore.Histogram("age"), "categories": explore.Histogram("city"),
		"by": explore.Mean("age").By("city"), "crosstab": explore.Crosstab("city"),
	} {
		for _, delta := range []float64{0, 1e-6} {
			answer := func(q explore.Query) string {
				s, err := q.Noise(learn.Seed(4)).Of(df, learn.Simulate(2, delta))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				text, _ := json.Marshal(s.Rows())
				return string(text)
			}
			here := answer(q)
			if there := answer(q.TalliedBy(elsewhere(df, 0))); there != here {
				t.Errorf("%s: %s there, %s here", name, there, here)
			}
			if less := answer(q.TalliedBy(elsewhere(df, 500))); less == here {
				t.Errorf("%s: rows that are missing go unnoticed", name)
			}
		}
	}
}

// Who adds up has the file as it is, and is told which columns are copies of others and which are not looked at.
func TestCopiesAreMadeElsewhere(t *testing.T) {
	file := learn.FromTable(must.Get(people(5000).Table()))
	df := file.Knowing(&frame.Schema{Fields: []frame.Field{frame.NumericField("age", 18, 98),
		frame.NumericField("age again", 0, 120).CopyOf("age"), frame.CategoricalField("city", "Bern", "Rome")},
		Ignored: []string{"flag"}})
	for name, q := range map[string]explore.Query{"a copy": explore.Mean("age again"),
		"by": explore.Mean("age again").By("city"), "all": explore.Describe()} {
		here := must.Get(q.Noise(learn.Seed(4)).Of(df, learn.Simulate(2, 1e-6)))
		there := must.Get(q.Noise(learn.Seed(4)).TalliedBy(elsewhere(file, 0)).Of(df, learn.Simulate(2, 1e-6)))
		if !reflect.DeepEqual(here.Rows(), there.Rows()) {
			t.Errorf("%s: %v there, %v here", name, there.Rows(), here.Rows())
		}
	}
}

// What cannot be added up elsewhere is refused, and so is a place that cannot be reached: before the charge.
func TestElsewhereIsRefusedBeforeTheCharge(t *testing.T) {
	b, df := fresh(1, 1e-6), people(500)
	unreached := func() (adds, error) { return nil, errors.New("nobody answers") }
	for want, ask := range map[string]func() (*explore.Statistic, error){
		"nobody answers": func() (*explore.Statistic, error) {
			return explore.Mean("age").TalliedBy(unreached).Of(df, b.Spend(0.5))
		},
		"which rows of a person": func() (*explore.Statistic, error) {
			return explore.Mean("age").TalliedBy(elsewhere(df, 0)).Of(df.PerPerson("flag", 2), b.Spend(0.5))
		},
		"on this machine": func() (*explore.Statistic, error) {
			return explore.Keys("city").TalliedBy(elsewhere(df, 0)).Of(df, b.Spend(0.5))
		},
	} {
		if _, err := ask(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if e := spent(t, b); e != 0 {
		t.Errorf("spent %v", e)
	}
}

// What was paid for is shown to who adds up as a copy: levels that are changed there are not what is released, by this
// question or by the same one asked again.
func TestWhatIsAddedUpElsewhereIsACopy(t *testing.T) {
	df := people(5000)
	change := func() (adds, error) {
		add, err := elsewhere(df, 0)()
		return func(a explore.Adding, each func([]byte) error) error {
			if q, ok := a.Mechanism.(statistic.Quantiles); ok {
				copy(q.Levels, []float64{0.9, 0.1})
			}
			for i := range a.Fields {
				a.Fields[i].Upper *= 2
			}
			return add(explore.Adding{Mechanism: a.Mechanism, Columns: a.Columns}, each)
		}, err
	}
	q := explore.QuantilesOf("age", 0.1, 0.5)
	answer := func(q explore.Query) string {
		s, err := q.Noise(learn.Seed(4)).Of(df, learn.Simulate(2, 0))
		if err != nil {
			return err.Error()
		}
		text, _ := json.Marshal(s.Rows())
		return string(text)
	}
	here := answer(q)
	answer(q.TalliedBy(change))
	if again := answer(q); again != here {
		t.Errorf("%s, before it was added up elsewhere %s", again, here)
	}
	levels := func() (adds, error) {
		add, err := elsewhere(df, 0)()
		return func(a explore.Adding, each func([]byte) error) error {
			err := add(a, each)
			if q, ok := a.Mechanism.(statistic.Quantiles); ok { // after all was added up
				copy(q.Levels, []float64{0.2, 0.3})
			}
			return err
		}, err
	}
	if there := answer(q.TalliedBy(levels)); there != here {
		t.Errorf("%s there, %s here", there, here)
	}
}

// Who adds up has the files as they are: a copy of a column, which the schema alone knows, is made there.
func TestACopyIsAddedUpElsewhere(t *testing.T) {
	raw, b := people(2000).Drop("flag"), fresh(1, 1e-6)
	df := raw.WithSchema(learn.Numeric("age", 17, 90), learn.Numeric("years", 0, 200).CopyOf("age"))
	for _, q := range []explore.Query{explore.Mean("years"), explore.Describe()} {
		if s, err := q.TalliedBy(elsewhere(raw, 0)).Of(df, b.Share(0.1)); err != nil {
			t.Errorf("after the charge: %v (%v)", err, s)
		}
	}
}

// hostile is a table whose scan changes what was asked.
type hostile struct {
	*frame.Table
	change func()
}

func (h hostile) Scan(columns []string, f func(*frame.Table) error) error {
	h.change()
	return h.Table.Scan(columns, f)
}

// What was checked and paid for is asked: levels that are changed later do not change it.
func TestLevelsAreTheQuestionsOwn(t *testing.T) {
	levels := []float64{0.1, 0.5}
	table := must.Get(people(500).Table())
	df := learn.FromScanner(hostile{table, func() { copy(levels, []float64{7, -3}) }}, nil)
	df = df.WithSchema(learn.Numeric("age", 17, 90))
	s, err := explore.QuantilesOf("age", levels...).Noise(learn.Seed(4)).Of(df, learn.Simulate(2, 0))
	if err != nil || s.Rows()[0].Name != "0.1" || s.Rows()[1].Name != "0.5" {
		t.Errorf("%v, %v", s.Rows(), err)
	}
}
