package claim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestOutput(t *testing.T) {
	claims := []Claim{
		{ID: "dpnb/one", Paper: "p", Kind: Ours, Statement: "a | b", Check: "c", Expected: "e", Seed: 3,
			Run: func(context.Context, Size) (Outcome, error) { return Outcome{"1.5", "±0.1", Holds, "because"}, nil }},
		{ID: "dpnb/two", Paper: "p", Kind: Ours, Statement: "s", Check: "c", Expected: "e",
			Run: func(context.Context, Size) (Outcome, error) { return Outcome{}, errors.New("boom") }},
	}
	results, err := Run(context.Background(), claims, Quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, results); err != nil {
		t.Fatal(err)
	}
	var back []map[string]any
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != 2 {
		t.Fatal(err, b.String())
	}
	for _, key := range []string{"id", "paper", "kind", "statement", "check", "expected", "measured", "interval", "verdict", "seconds", "seed"} {
		if _, ok := back[0][key]; !ok {
			t.Errorf("the JSON lacks %q", key)
		}
	}
	if !results[1].Failed() || results[0].Failed() {
		t.Errorf("verdicts %q, %q", results[0].Verdict, results[1].Verdict)
	}
	md := Markdown(results)
	if !strings.Contains(md, `a \| b`) || strings.Contains(md, "seconds") || md != Markdown(results) {
		t.Errorf("markdown:\n%s", md)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := Run(ctx, claims, Quick, nil); err == nil || len(r) > 0 {
		t.Error("a cancelled run goes on")
	}
}
