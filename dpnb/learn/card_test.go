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

// A card says what was released and what is public, of every learner; a model that was kept has the same one.
func TestCards(t *testing.T) {
	data := kinds(t, 300)
	for _, l := range learners {
		m, err := l.zero.Fit(data[l.from], fresh(1, 1e-5).Spend(0.7).For("a|b"))
		if err != nil {
			t.Fatal(l.name, err)
		}
		card, err := m.Card()
		if err != nil {
			t.Fatal(l.name, err)
		}
		for _, want := range []string{"# Private ", "## Data", "## How it was fitted", "## What it promises", "ε = 0.7",
			"adding or removing any one record", "## What it cost", `“a\|b”`, "## Coefficients", "| bias |",
			"## Limits", "## How to predict", "300 invented rows", "age ∈ "} {
			if !strings.Contains(string(card), want) {
				t.Errorf("%s: %q is not in\n%s", l.name, want, card)
			}
		}
		rows := 0
		for _, line := range strings.Split(string(card), "\n") {
			if strings.Contains(line, "| age |") || strings.Contains(line, "| age: ") {
				rows++
			}
		}
		if want := len(m.Theta()) / features(t, m); rows != want {
			t.Errorf("%s: %d coefficients of age, want %d", l.name, rows, want)
		}
		// The calls that it names are those of this model.
		people := learn.Patients(20, 1)
		lines, err := countLines(t, m, people)
		if err != nil || lines != 21 || m.PredictFrame(people).Nrow() != 20 {
			t.Errorf("%s: %d lines of predictions (%v)", l.name, lines, err)
		}
		calls := map[string]func() error{
			"Predict(":          func() error { _, err := m.Predict(people); return err },
			"PredictClass(":     func() error { _, err := m.PredictClass(people); return err },
			"PredictQuantiles(": func() error { _, err := m.PredictQuantiles(people); return err },
		}
		named := 0
		for name, call := range calls {
			if strings.Contains(string(card), "model."+name) {
				named++
				if err := call(); err != nil {
					t.Errorf("%s: the card names %s: %v", l.name, name, err)
				}
			}
		}
		if named != 1 {
			t.Errorf("%s: the card names %d calls", l.name, named)
		}
		if again, err := kept(t, m).Card(); err != nil || again != card {
			t.Errorf("%s: another card after it was kept (%v)", l.name, err)
		}
	}
}

func countLines(t *testing.T, m *learn.Model, people learn.DataFrame) (int, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "predicted.csv")
	if err := m.PredictCSV(path, people); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(path)
	return bytes.Count(text, []byte("\n")), err
}

func features(t *testing.T, m *learn.Model) int {
	t.Helper()
	names := map[string]bool{}
	for _, name := range m.Coefficients().Col("feature").Records() {
		names[name] = true
	}
	return len(names)
}

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
