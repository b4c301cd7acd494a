package calculator

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What the calculator reads, answers and refuses is as it was: testdata/said.txt.
func TestWhatIsAnswered(t *testing.T) {
	testscale.Slow(t)
	var all strings.Builder
	say := func(name string, values ...any) { fmt.Fprintln(&all, append([]any{name + ":"}, values...)...) }
	c := New()
	say("names", c.Names())
	for _, f := range c.Fields() {
		say("field", fmt.Sprintf("%+v", f))
	}
	figures := map[string][]float64{}
	var names []string
	put := func(name string, values ...float64) {
		names = append(names, name)
		figures[name] = values
	}
	for _, text := range []string{
		`[{"type":"gaussian","sigma":2,"count":1}]`,
		`[{"type":"gaussian","sigma":2,"count":5},{"type":"laplace","scale":3}]`,
		`[{"type":"laplace","scale":2,"sensitivity":3,"count":2}]`, `[{"type":"isotropic-laplace","scale":2}]`,
		`[{"type":"dp","event_epsilon":0.4,"event_delta":0}]`, `[{"type":"dp","event_epsilon":0.4,"event_delta":1e-7}]`,
		`[{"type":"subsampled-gaussian","sigma":1.5,"rate":0.1}]`, `[{"type":"dp","event_epsilon":0,"event_delta":0}]`,
		`[{"type":"dp","event_epsilon":0,"event_delta":0},{"type":"laplace","scale":1e-9}]`,
		`[{"type":"approximate-minimum","tolerance":1e-3,"lambda":2,"sigma_out":0.3}]`,
		`[{"type":"gaussian","sigma":-1}]`, `[{"type":"gaussian"}]`, `[{"type":"gaussian","sigma":"x"}]`,
		`[{"type":"gaussian","sigma":1,"radius":2}]`, `[{"type":"gauss","sigma":1}]`, `[{"sigma":1}]`, `[]`, `{}`,
		`[1]`, ``,
		`[{"type":"gaussian","sigma":1,"count":0}]`, `[{"type":"gaussian","sigma":1,"count":1.5}]`,
		`[{"type":"gaussian","sigma":1,"count":9007199254740993}]`, `[{"type":"gaussian","sigma":1,"sigma":2}]`,
		`[{"type":"gaussian","sigma":1}] x`, `[{"type":"gaussian","sigma":1}`, `[{"type":"gaussian","sigma":1},]`,
		`[{"type":"gaussian","sigma":1e400}]`, `[{"type":"gaussian","sigma":null}]`, `[{"type":5}]`, `[{"type":"dp",
			"event_epsilon":-1,"event_delta":0}]`, `[{"type":"subsampled-gaussian","sigma":1,"rate":2}]`,
		`[{"type":"laplace","scale":1,"count":[1]}]`, `[{"type":"gaussian","sigma":1,"count":"2"}]`,
	} {
		lines, err := c.Parse([]byte(text))
		if say("= "+text, err); err != nil {
			continue
		}
		say("read", fmt.Sprintf("%+v", lines))
		for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			q := Query{Lines: lines, Adjacency: adj}
			for _, delta := range []float64{0, 1e-6, 1} {
				a, err := c.Epsilon(q, delta)
				say("ε", string(must.Get(json.Marshal(a))), err)
				put(fmt.Sprint("ε ", len(names)), a.Epsilon, a.EpsilonLower)
			}
			for _, eps := range []float64{0, 0.7, 800, -1, math.Inf(1)} {
				d, err := c.Delta(q, eps)
				say("δ", string(must.Get(json.Marshal(d))), err)
				put(fmt.Sprint("δ ", len(names)), d.Delta, d.DeltaLower)
			}
		}
	}
	for _, l := range []Line{line("gaussian", nil), line("gaussian", map[string]float64{"sensitivity": 3}),
		line("subsampled-gaussian", map[string]float64{"rate": 0.05}), line("laplace", map[string]float64{"scale": 1}),
		line("gaussian", map[string]float64{"sigma": 1}), line("none", nil), {Type: "gaussian", Count: 40},
		{Type: "gaussian"},
		{Type: "gaussian", Values: Values{Numbers: map[string]float64{"sensitivity": math.NaN()}}, Count: 1},
		{Type: "gaussian",
			Values: Values{Texts: map[string]string{"sensitivity": "x"}}, Count: 1}, {Type: "gaussian",
			Count: maxCount + 1}} {
		for _, at := range [][2]float64{{1, 1e-6}, {0, 1e-3}, {20, 0.5}, {-1, 1e-6}, {1, 0}, {1, 1}, {math.Inf(1),
			1e-6}} {
			sigma, err := c.Sigma(l, privacy.AddRemove, at[0], at[1])
			say(fmt.Sprintf("σ of %+v at %v", l, at), fmt.Sprintf("%.7g", sigma), err)
			put(fmt.Sprint("σ ", len(names)), sigma)
		}
	}
	doubted := c.With("doubtful", Type{Fields: []Field{{Name: "sigma"}, {Name: "word", Text: true, Optional: true}},
		Build: func(v Values, _ privacy.Adjacency) (privacy.Event, error) {
			return doubtful{privacy.Gaussian{Sigma: v.Numbers["sigma"], Sensitivity: 1}}, nil
		}})
	_, err := doubted.Sigma(line("doubtful", nil), privacy.AddRemove, 1, 1e-6)
	say("doubtful", err, doubted.Names(), c.Names())
	for _, text := range []string{`[{"type":"doubtful","sigma":1,"word":2}]`,
		`[{"type":"doubtful","sigma":1,"word":"a"}]`} {
		lines, err := doubted.Parse([]byte(text))
		a, again := doubted.Epsilon(Query{Lines: lines, Adjacency: privacy.AddRemove}, 1e-5)
		say(text, lines, err, a.Method, again)
	}
	golden.Compare(t, "testdata/said.txt", all.String())
	golden.Figures(t, "testdata/figures.txt", 1e-6, func(say func(name string, values ...float64)) {
		for _, name := range names {
			say(name, figures[name]...)
		}
	})
}
