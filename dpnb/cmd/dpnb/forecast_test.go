package main

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

func TestForecastCommand(t *testing.T) {
	testscale.InTurn(t)
	run := func(args ...string) (string, error) { return call(t, newForecastCommand(), args...) }
	text := must.Get(run("--records", "400", "--features", "20", "--noise", "0.3", "--json"))
	var rows []predicted
	if err := json.Unmarshal([]byte(text), &rows); err != nil || len(rows) != 3 {
		t.Fatalf("%v: %s", err, text)
	}
	for _, r := range rows {
		if !(r.RMSE > 0 && r.RMSE < 2 && r.Noise > 0) || r.Wrong != nil {
			t.Errorf("%+v", r)
		}
	}
	// Each row has what code says of it.
	f := learn.Study{Records: 400, Features: 20, Signal: 0.5, Epsilon: 1, Delta: 1e-6}.Forecast()
	text = must.Get(run("--records", "400", "--features", "20", "--signal", "0.5", "--json"))
	rows = nil
	must.Do(json.Unmarshal([]byte(text), &rows))
	for i, p := range f.Predictions {
		q, cosine := p.Quality(), p.Point.SignalCorrelation()
		want := predicted{Mechanism: p.Mechanism.String(), Lambda: p.Lambda, Steps: p.Steps, Step: p.Step, Noise: p.Nu,
			RMSE: p.Point.RMSE, Distance: 2 * p.Point.RMSE, Wrong: &q.Error, AUC: &q.AUC, Cosine: &cosine,
			AtEdge: p.AtEdge}
		if !reflect.DeepEqual(rows[i], want) {
			t.Errorf("said is %+v, want %+v", rows[i], want)
		}
	}
	for _, bad := range [][]string{{}, {"--records", "10"}, {"--records", "0", "--features", "3"},
		{"--records", "10", "--features", "3", "--delta", "2"}} {
		if _, err := run(bad...); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}
