package main

import (
	"encoding/json"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestForecastCommand(t *testing.T) {
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
	for _, bad := range [][]string{{}, {"--records", "10"}, {"--records", "0", "--features", "3"},
		{"--records", "10", "--features", "3", "--delta", "2"}} {
		if _, err := run(bad...); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}
