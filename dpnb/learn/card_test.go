package learn_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// A fit, a model that is read back, its card and models of groups say what is missing counts as, with the number.
func TestModelsSayWhatIsMissing(t *testing.T) {
	df := learn.Patients(400, 1).Drop("visits", "pressure").WithSchema(learn.Numeric("age", 18, 90),
		learn.Numeric("weight", 40, 150).OrMissingAs(72), learn.Categorical("smoker", "no", "yes").OrElse("no"),
		learn.Categorical("ill", "no", "yes"), learn.Categorical("ward", "heart", "lungs").OrMissing())
	l := learn.Logistic{Noise: learn.Seed(1)}
	m := reloaded(t, must.Get(l.Fit(learn.Binary(df, "ill"), learn.Simulate(1, 1e-6))))
	by := must.Get(learn.FitBy(l, df, "ward", ill, learn.Simulate(1, 1e-6)))
	card := string(must.Get(m.Card()))
	for _, text := range []string{m.Display().Text(), by.Display().Text(), card} {
		says(t, strings.ToLower(text), "not a number counts as the middle of its bounds: 54 in age",
			"counts as the schema says: 72 in weight", "or none, counts as no in smoker", "anything else counts as no")
	}
	says(t, card, "has an indicator of its own in ward")
}

// No name can break a card, no card is of what was not released, and simulations say so.
func TestCardsOfOddModels(t *testing.T) {
	df := frameOf(t, people).WithSchema(learn.Numeric("age", 18, 98),
		learn.Categorical("city", "Bern", "<script>|`x`\n# y"), learn.Categorical("happy", "no", "yes"))
	m := must.Get(learn.Logistic{Noise: learn.Seed(3)}.Fit(learn.Binary(df, "happy"), learn.Simulate(1, 1e-5)))
	card, err := m.Card()
	if err != nil || strings.Contains(string(card), "<script>") || strings.Contains(string(card), "\n# y") ||
		!strings.Contains(string(card), `city=\<script\>\|\`+"`x\\` \\# y") {
		t.Errorf("%v\n%s", err, card)
	}
	says(t, string(card), fmt.Sprintf("| ridge λ of the sum objective | %.6g |", m.Lambda()),
		fmt.Sprintf("| standard deviation of the noise | %.6g |", m.Release.NoiseScale),
		fmt.Sprintf("| certified bound on the gradient | %s |", privacy.FormatUp(m.Release.Tolerance, 3)),
		"The algorithm: Redberg")
	says(t, string(card), "SIMULATION with seed 3", "**Nothing: this is a simulation.**", "which is private")
	if strings.Contains(string(card), "What it cost") {
		t.Error("a simulation has cost something")
	}
	if strings.Contains(string(card), "held out") {
		t.Error("records were held out")
	}
	m.HeldOut = 0.2
	says(t, string(must.Get(m.Card())), "A share of 0.2 of its records was held out of the fit.")
	path := filepath.Join(t.TempDir(), "card.md")
	must.Do(card.Write(path))
	if text, err := os.ReadFile(path); err != nil || string(text) != string(card) {
		t.Errorf("written as %s (%v)", text, err)
	}
	var out bytes.Buffer
	display.Out = &out
	defer func() { display.Out = nil }()
	learn.Show(m.Card())
	plain := must.Get(learn.Logistic{}.FitWithoutPrivacy(learn.Binary(df, "happy")))
	learn.Show(plain.Card())
	if s := out.String(); !strings.HasPrefix(s, "# Private logistic") || !strings.Contains(s, "for a released model") {
		t.Errorf("shown as\n%s", s)
	}
}
