package learn_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// No name can break a card, no card is of what was not released, and simulations say so.
func TestCardsOfOddModels(t *testing.T) {
	df := frameOf(t, people).WithSchema(learn.Numeric("age", 18, 98),
		learn.Categorical("city", "Bern", "<script>|`x`\n# y"), learn.Categorical("happy", "no", "yes"))
	m, err := learn.Logistic{Noise: learn.Seed(3)}.Fit(learn.Binary(df, "happy"), learn.Simulate(1, 1e-5))
	if err != nil {
		t.Fatal(err)
	}
	card, err := m.Card()
	if err != nil || strings.Contains(string(card), "<script>") || strings.Contains(string(card), "\n# y") ||
		!strings.Contains(string(card), `city=\<script\>\|\`+"`x\\` \\# y") {
		t.Errorf("%v\n%s", err, card)
	}
	for _, want := range []string{"SIMULATION with seed 3", "**Nothing: this is a simulation.**", "which is private"} {
		if !strings.Contains(string(card), want) {
			t.Errorf("%q is not in\n%s", want, card)
		}
	}
	if strings.Contains(string(card), "What it cost") {
		t.Error("a simulation has cost something")
	}
	path := filepath.Join(t.TempDir(), "card.md")
	if err := card.Write(path); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != string(card) {
		t.Errorf("written as %s (%v)", text, err)
	}
	var out bytes.Buffer
	display.Out = &out
	defer func() { display.Out = nil }()
	learn.Show(m.Card())
	plain, err := learn.Logistic{}.FitWithoutPrivacy(learn.Binary(df, "happy"))
	if err != nil {
		t.Fatal(err)
	}
	learn.Show(plain.Card())
	if s := out.String(); !strings.HasPrefix(s, "# Private logistic") || !strings.Contains(s, "for a released model") {
		t.Errorf("shown as\n%s", s)
	}
}
