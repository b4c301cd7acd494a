package ledger

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/registry"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What budgets answer to sequences of charges, what their files hold, and why others are refused, is as it was:
// testdata/said.txt.
func TestWhatBudgetsSay(t *testing.T) {
	dir := t.TempDir()
	var all strings.Builder
	say := func(name string, values ...any) { fmt.Fprintln(&all, append([]any{name + ":"}, values...)...) }
	numbers := func(s State) string {
		return fmt.Sprintf("%s of %d, spent %.12g %.12g, left %.12g %.12g, used %.9g, δ at %.6g %.6g", s.Rule,
			len(s.Entries),
			s.SpentEpsilon, s.SpentDelta, s.RemainingEpsilon, s.RemainingDelta, s.Used, s.DeltaUpper(s.Epsilon),
			s.DeltaUpper(
				0.1))
	}
	for i, entries := range [][]Entry{
		{{Epsilon: 0.3, Delta: 1e-6}, {Epsilon: 0.7, Delta: 9e-6}, {Epsilon: 1e-9}},
		{{Epsilon: 0.5, Delta: 1e-6, Mu: 0.1}, {Epsilon: 0.5, Delta: 1e-6, Mu: 0.1, Slack: 1e-9}, {Epsilon: 0.9,
			Delta: 1e-6,
			Mu:    0.3}, {Epsilon: 0.1}},
		{{Epsilon: 0.4, Mu: 0.05}, {Epsilon: 0.4, Delta: 1e-6}, {Epsilon: 0.4, Mu: 0.05}, {Epsilon: 0.1,
			Delta: 9.5e-6}},
		{{Epsilon: 0.5, Once: "a"}, {Epsilon: 0.2, Once: "a"}, {Epsilon: 0.2, Once: "b"}},
		{{Epsilon: 0.5, Unit: UnitOf("who", 3)}, {Epsilon: 0.2}, {Epsilon: 0.2, Unit: UnitOf("who", 2)}, {Epsilon: 0.1,
			Unit: UnitOf("who", 3)}},
		{{Epsilon: 0.6, Partition: "by ward", Group: "a"}, {Epsilon: 0.6, Partition: "by ward", Group: "b"},
			{Epsilon: 0.5,
				Partition: "by ward", Group: "a"}, {Epsilon: 0.4, Partition: "by town", Group: "a"}, {Epsilon: 0.1}},
		{{Epsilon: 0.2, Mu: 0.05, Partition: "p", Group: "a", Shared: true}, {Epsilon: 0.2, Mu: 0.06, Partition: "p",
			Group: "b"}},
		{{Epsilon: 0}, {Epsilon: 2e6}, {Epsilon: 1, Delta: 1}, {Epsilon: 1, Delta: -1}, {Epsilon: 1, Mu: -1},
			{Epsilon: 1,
				Mu: math.NaN()}, {Epsilon: 1, Slack: 1}, {Epsilon: 1, Slack: -0.1}, {Epsilon: 1, Partition: "\xff"},
			{Epsilon: 1,
				Group: "a"}, {Epsilon: 1, Mu: 2e6}, {Epsilon: math.NaN()}},
		{{Epsilon: 1.5}, {Epsilon: 0.5, Delta: 2e-5}, {Label: "\xff", Mechanism: "m\xfe", Epsilon: 0.2,
			Simulated: true}},
	} {
		for _, additive := range []bool{false, true} {
			path := filepath.Join(dir, fmt.Sprintf("%d%v.json", i, additive))
			b := must.Get(Open(Config{Name: fmt.Sprintf("said %d%v", i, additive), Epsilon: 1, Delta: 1e-5,
				Adjacency: privacy.AddRemove, Additive: additive, Path: path}))
			for k, e := range entries {
				after, afterErr := b.After(e)
				check := b.Check(e)
				say(fmt.Sprintf("%d.%d additive %v", i, k, additive), b.Charge(e), "|", check, "|", afterErr)
				if afterErr == nil {
					say("after", numbers(after))
				}
				say("state", numbers(must.Get(b.State())))
			}
			half, err := b.Share(0.5)
			say("half of it", fmt.Sprintf("%.9g %.9g %.9g %v %.9g", half.Epsilon, half.Delta, half.Mu, half.Squares,
				half.Tail), err)
			for _, eps := range []float64{0, 0.1, 2} {
				p := b.Spend(eps)
				say("spend", fmt.Sprintf("%.9g %.9g %.9g %v %.9g", p.Epsilon, p.Delta, p.Mu, p.Squares, p.Tail))
			}
			for _, fraction := range []float64{0, 1, 1.1, math.NaN()} {
				p, err := b.Share(fraction)
				say("share", fmt.Sprintf("%.9g %.9g %.9g %v %.9g", p.Epsilon, p.Delta, p.Mu, p.Squares, p.Tail), err)
			}
			text, err := os.ReadFile(path)
			say("file", string(text), err)
			stated, err := Stated(path)
			say("stated", stated, err)
		}
	}
	for k, c := range []Config{{}, {Name: "said", Epsilon: -1}, {Name: "said", Epsilon: 1, Delta: 1}, {Name: "said",
		Epsilon: 1, Delta: math.NaN()}, {Name: "said", Epsilon: math.Inf(1)}, {Name: "said", Epsilon: 1, Adjacency: 9},
		{Name: "said", Epsilon: 1, Adjacency: privacy.AddRemove, Path: dir}, {Name: "said", Epsilon: 1,
			Adjacency: privacy.AddRemove, Path: filepath.Join(dir, "none", "x.json")}, {Name: "said 0false", Epsilon: 1,
			Delta: 1e-5, Adjacency: privacy.AddRemove, Path: filepath.Join(dir, "1false.json")}, {Name: "said 0false",
			Epsilon: 2, Delta: 1e-5, Adjacency: privacy.AddRemove, Path: filepath.Join(dir, "0false.json")},
		{Name: "said 0false", Epsilon: 1, Delta: 1e-5, Adjacency: privacy.ReplaceOne, Path: filepath.Join(dir,
			"0false.json")}, {Name: "said 0false", Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
			Additive: true,
			Path:     filepath.Join(dir, "0false.json")}} {
		registry.Forget(c.Name) // as another program
		_, err := Open(c)
		say(fmt.Sprint("open ", k), err)
	}
	whole := string(must.Get(os.ReadFile(filepath.Join(dir, "0false.json"))))
	for k, text := range []string{"", "{", "[]", "{}", strings.Replace(whole, `"epsilon"`, `"epsilom"`, 1),
		strings.Replace(
			whole, "0.3", "3", 1), strings.Replace(whole, "0.3", "-3", 1), whole + "x", strings.Replace(whole,
			`"name": "said`,
			`"name": "other`, 1)} {
		path := filepath.Join(dir, fmt.Sprint("wrong", k))
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		_, err := Stated(path)
		registry.Forget("said 0false")
		_, again := Open(Config{Name: "said 0false", Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove, Path: path})
		say(fmt.Sprint("file ", k), err, "|", again)
	}
	for _, asked := range [][2]float64{{0.4, 1e-6}, {0.5, 1e-7}, {0.6, 1e-6}, {0.4, 2e-6}} {
		say("refused", &OverspentError{"said", asked[0], asked[1], 0.5, 1e-6})
	}
	_, err := Stated(filepath.Join(dir, "nowhere"))
	say("nowhere", err, UnitOf("a", 1), UnitOf("", 0))
	golden.Compare(t, "testdata/said.txt", strings.ReplaceAll(all.String(), dir, "DIR"))
}
