package learn_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// changes calls f with the JSON of v with one thing in it changed at a time, and says where.
func changes(v any, f func(where string)) {
	var at func(where string, v any, set func(any))
	at = func(where string, v any, set func(any)) {
		try := func(others ...any) {
			for _, o := range others {
				set(o)
				f(fmt.Sprintf("%s = %v", where, o))
			}
			set(v)
		}
		switch v := v.(type) {
		case float64:
			try(0.0, -1.0, v+1, 1e9)
		case string:
			try("", "NaN", v+"x")
		case bool:
			try(!v)
		case []any:
			try(nil, []any{})
			if len(v) > 0 {
				try(v[1:], v[:len(v)-1], append(slices.Clone(v), v[0]))
			}
			for i := range v {
				if i == 0 || i == len(v)-1 {
					at(fmt.Sprintf("%s[%d]", where, i), v[i], func(o any) { v[i] = o })
				}
			}
		case map[string]any:
			try(nil)
			for _, k := range slices.Sorted(maps.Keys(v)) {
				at(where+"."+k, v[k], func(o any) { v[k] = o })
			}
		}
	}
	at("", v, func(any) {})
}

// Whatever is written into the file of a model and sealed anew is refused when it is loaded or can be shown: nothing
// panics.
func TestWhatIsSealedAnewIsRefusedOrShown(t *testing.T) {
	testscale.Slow(t)
	df := learn.Patients(1000, 1).Drop("visits")
	free := learn.Simulate(20, 1e-6)
	models := map[string]*learn.Model{
		"logistic": must.Get(learn.Logistic{CurvatureShare: 0.1, Noise: learn.Seed(1)}.Fit(
			learn.Binary(df, "ill"), free)),
		"quantiles": must.Get(learn.Quantiles{CurvatureShare: 0.2, Levels: []float64{0.2, 0.7},
			Noise: learn.Seed(1)}.Fit(learn.Regression(df, "pressure"), free)),
		"heavytails": must.Get(learn.HeavyTails{Noise: learn.Seed(1)}.Fit(learn.RecordsFor(learn.HeavyTails{}, df,
			"pressure"), learn.Simulate(20, 0))),
		"group":   must.Get(learn.FitBy(learn.Logistic{Noise: learn.Seed(1)}, df, "ward", ill, free)).Models[1],
		"softmax": must.Get(learn.Softmax{Noise: learn.Seed(1)}.Fit(learn.Classes(df, "ward"), free)),
	}
	path := filepath.Join(t.TempDir(), "model.json")
	tried, shown, each := 0, 0, 37
	if testscale.Full() {
		each = 1
	}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		m := models[name]
		must.Do(m.Save(path))
		content, version, err := checksum.Unseal("dpnb model", 2, must.Get(os.ReadFile(path)))
		must.Do(err)
		var tree any
		must.Do(json.Unmarshal(content, &tree))
		changes(tree, func(where string) {
			if strings.Contains(where, ".Paid.") || strings.Contains(where, ".Source.") {
				return
			}
			if tried++; tried%each != 0 {
				return
			}
			defer func() {
				if p := recover(); p != nil {
					stack := strings.Split(string(debug.Stack()), "\n")
					t.Errorf("%s%s: %v\n%s", name, where, p, strings.Join(stack[7:min(17, len(stack))], "\n"))
				}
			}()
			changed := must.Get(json.Marshal(tree))
			must.Do(os.WriteFile(path, must.Get(checksum.Seal("dpnb model", version, changed)), 0o600))
			back, err := learn.Load(path)
			if err != nil {
				return
			}
			shown++
			_ = back.Display().Text()
			if card, err := back.Card(); err == nil {
				_ = card.Write(path)
			}
			if iv, err := back.Intervals(0.9); err == nil {
				_ = iv.Display()
			}
			if iv, err := back.PopulationIntervals(0.9); err == nil {
				_ = iv.Display()
			}
			_, _ = back.Predict(df.Head(3))
			_, _ = back.OfGroup(df)
			_ = back.Export(path)
		})
	}
	if t.Logf("%d of %d are shown", shown, tried/each); shown == 0 || tried < 500 {
		t.Error("too few were tried to tell anything")
	}
}
