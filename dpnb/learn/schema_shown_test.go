package learn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// Range is that of the schema, of numbers with bounds alone.
func TestRange(t *testing.T) {
	df := Patients(10, 1).WithSchema(Numeric("age", 18, 90), Categorical("ward", "east", "west"),
		frame.NumericField("pressure", 0, 0).Unbounded())
	for column, want := range map[string]float64{"age": 72, "ward": 0, "pressure": 0, "nobody": 0} {
		if got := df.Range(column); got != want {
			t.Errorf("%s: %v, want %v", column, got, want)
		}
	}
	df = df.WithSchema(frame.DateField("since", "", "2020-01-01", "2021-01-01"), Numeric("age", 18, 90),
		frame.MonthField("born", ""), Categorical("ward", "east", "west"))
	if got := fmt.Sprint(df.Numbers(), df.Categories()); got != "[age since] [ward born]" {
		t.Errorf("those of dates are not last: %s", got)
	}
	if got := FromScanner(Patients(10, 1).records, nil).Range("age"); got != 0 {
		t.Errorf("without a schema: %v", got)
	}
}

// A schema of which one field was read off the data says so, whatever else is in it.
func TestSchemasReadOffTheDataSaySo(t *testing.T) {
	df := Patients(10, 1)
	table := must.Get(df.Table())
	age, _ := frame.InferSchema(table).Field("age")
	for _, c := range []struct {
		fields []Field
		want   bool
	}{{[]Field{Numeric("pressure", 80, 200), *age}, true}, {[]Field{Numeric("age", 18, 90)}, false}} {
		it := df.WithSchema(c.fields...).Schema()
		if got := strings.Contains(it.Warning, "READ OFF THE DATA"); got != c.want {
			t.Errorf("%+v: %q", c.fields, it.Warning)
		}
	}
}
