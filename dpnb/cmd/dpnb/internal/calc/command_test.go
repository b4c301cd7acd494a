package calc

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy/calculator"
)

func run(t *testing.T, cmd *cobra.Command, args ...string) (map[string]any, error) {
	t.Helper()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SilenceUsage = true
	cmd.SetArgs(append(args, "--json"))
	if err := cmd.Execute(); err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	return answer, nil
}

// The heterogeneous case of the accounting reference, ε = 3.82136633754823.
const heterogeneous = `[{"type":"gaussian","sigma":5,"sensitivity":1,"count":10},
 {"type":"laplace","scale":3,"sensitivity":1,"count":5},
 {"type":"subsampled-gaussian","sigma":1,"rate":0.01,"count":100}]`

func TestEpsilonOfEvents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.json")
	must.Do(os.WriteFile(file, []byte(heterogeneous), 0o600))
	a := must.Get(run(t, NewEpsilonCommand(calculator.New()), "--events", file, "--delta", "1e-5"))
	const exact = 3.8213663375482336
	up, low := a["epsilon"].(float64), a["epsilon_lower"].(float64)
	if !(low < exact && exact < up) || up-low > 1e-3*exact {
		t.Errorf("ε in [%v, %v], exact %v", low, up, exact)
	}
	if a["delta"] != 1e-5 || a["adjacency"] != "add-remove" || a["method"] == "" || len(a) != 5 {
		t.Errorf("answer %v", a)
	}
}

func TestDeltaAndSigma(t *testing.T) {
	a := must.Get(run(t, NewDeltaCommand(calculator.New()), "--type", "gaussian", "--sigma", "2", "--epsilon", "1"))
	if d := a["delta"].(float64) / 0.0068295949831145755; d < 1 || d > 1+1e-12 {
		t.Errorf("δ off by the factor %v", d)
	}
	if low := a["delta_lower"].(float64) / 0.0068295949831145755; low > 1 || low < 1-1e-12 ||
		a["epsilon_lower"] != nil {
		t.Errorf("the lower δ is off by the factor %v: %v", low, a)
	}
	s := must.Get(run(t, NewSigmaCommand(calculator.New()), "--type", "gaussian", "--epsilon", "1", "--delta", "1e-9"))
	if r := s["sigma"].(float64) / 5.495266157238296; r < 1 || r > 1+2e-9 || len(s) != 1 {
		t.Errorf("σ off by the factor %v", r)
	}
	s = must.Get(run(t, NewSigmaCommand(calculator.New()), "--type", "gaussian", "--epsilon", "1", "--delta", "1e-9",
		"--adjacency", "replace"))
	if r := s["sigma"].(float64) / 5.495266157238296 / 2; !(math.Abs(r-1) <= 2e-9) {
		t.Errorf("replace-one: σ off by the factor %v", r)
	}
}

func TestWrongCommands(t *testing.T) {
	c := calculator.New()
	for _, args := range []string{
		"--delta 1e-5",
		"--type gaussian --delta 1e-5",
		"--type gaussian --sigma 0 --delta 1e-5",
		"--type gaussian --sigma NaN --delta 1e-5",
		"--type gaussian --sigma 1 --delta 0",
		"--type gaussian --sigma 1 --rate 0.1 --delta 1e-5",
		"--type gaussian --sigma 1 --count 0 --delta 1e-5",
		"--type gauss --sigma 1 --delta 1e-5",
		"--type gaussian --sigma 1 --delta 1e-5 --adjacency swap",
		"--type gaussian --sigma 1 --delta 1e-5 --events -",
		"--type gaussian --sigma 1",
	} {
		if a, err := run(t, NewEpsilonCommand(c), strings.Fields(args)...); err == nil {
			t.Errorf("%s: answers %v", args, a)
		}
	}
}
