package learn

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Card is a model card in Markdown: what a model is, what it was fitted to and how, what it promises and cost, its
// coefficients, its limits, how to use it. Show displays it.
type Card string

// Write writes the card to a file.
func (c Card) Write(path string) error { return atomicfile.Write(path, []byte(c)) }

// Card returns the model card. Everything in it was released or is public, so it may go wherever the model may.
//
// Errors: no model; a fit without privacy, whose coefficients were not released.
func (m *Model) Card() (Card, error) {
	if err := m.Err(); err != nil {
		return "", err
	}
	if m.release == nil {
		return "", errors.New("dpnb: a card is for a released model (Fit): this fit is without privacy, and its " +
			"coefficients can give individual records away")
	}
	var c card
	c.say("# Private %s for %s\n", m.title, plain(m.ofWhat()))
	if w := m.warning(); w != "" {
		c.say("> **%s**\n", plain(w))
	}
	m.cardData(&c)
	m.cardFit(&c)
	m.cardGuarantee(&c)
	m.cardCoefficients(&c)
	if len(m.edits) > 0 {
		c.say("## Changed after the fit\n\nWhat it promises stays, since no record was looked at. The model " +
			"predicts with shapes that were changed:\n")
		for _, e := range m.edits {
			c.say("- %s.", plain(e.words(m)))
		}
		c.say("")
	}
	if m.calibration != nil {
		c.say("## Calibrated\n\n%s\n", plain(m.calibration.words()))
	}
	m.cardLimits(&c)
	m.cardUse(&c)
	c.say("## Made with\n\n%s", plain(m.source.Module))
	return Card(c.String()), nil
}

type card struct{ strings.Builder }

func (c *card) say(format string, a ...any) { fmt.Fprintf(c, format+"\n", a...) }

// plain returns a text as Markdown shows it, whatever it holds.
func plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r':
			r = ' '
		case strings.ContainsRune("\\`*_{}[]<>#|$~&", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (m *Model) cardData(c *card) {
	s, t := m.source, m.target
	what := map[frame.Task]string{frame.TwoClasses: "one of two classes", frame.ManyClasses: "one of several classes",
		frame.Number: "a number", frame.Count: "a count"}[t.Task]
	c.say("It predicts %s, %s, from %s.\n", plain(t.Name), what, plain(wording.Names(m.Columns())))
	c.say("## Data\n")
	switch {
	case s.Invented:
		c.say("%s: %d invented rows, which are about nobody.\n", plain(s.Data), s.Rows)
	case s.Public:
		c.say("%s, a public file of %d rows, SHA-256 `%s`.\n", plain(s.Data), s.Rows, s.SHA256)
	default:
		c.say("%s, which is private: neither its number of rows nor its checksum is published.\n",
			cmp.Or(plain(s.Data), "a table"))
	}
	if column, category := m.Group(); column != "" {
		c.say("It was fitted to the records with %s = %s alone: what it predicts for others is a guess.\n",
			plain(column), plain(category))
	}
	if m.HeldOut > 0 {
		c.say("A share of %g of its records was held out of the fit.\n", m.HeldOut)
	}
	if s.Note != "" {
		c.say("%s\n", plain(s.Note))
	}
	c.say("Each record was treated by itself:\n")
	for _, step := range m.encoding.Steps {
		assumes := ""
		if step.Assumes != "" {
			assumes = " Assumes: " + plain(step.Assumes) + "."
		}
		c.say("- %s.%s", plain(step.What), assumes)
	}
	c.say("")
}

func (m *Model) cardFit(c *card) {
	r := m.release
	c.say("## How it was fitted\n\nBy `%s`: %s.\n", m.learner, plain(r.Mechanism))
	if d := r.Fitted.Describe(); d.Source != "" {
		c.say("The algorithm: %s.\n", plain(d.Source))
	}
	c.say("| | |\n|---|---|")
	if m.lambda > 0 {
		c.say("| ridge λ of the sum objective | %.6g |", m.lambda)
	}
	c.say("| standard deviation of the noise | %.6g |", r.NoiseScale)
	if r.Tolerance > 0 {
		c.say("| certified bound on the gradient | %s |", privacy.FormatUp(r.Tolerance, 3))
	}
	c.say("")
}

func (m *Model) cardGuarantee(c *card) {
	g := m.release.Guarantee
	c.say("## What it promises\n")
	if m.release.Simulated() {
		c.say("**Nothing: this is a simulation.** With noise that nobody can know it would have promised:\n")
	}
	c.say("%s\n", plain(capital(g.Words())))
	used, was := "record was used makes", "it was, or of what it"
	if g.Rows > 0 {
		used, was = "records were used makes", "they were, or of what they"
	}
	c.say("In plain words: whether a person's %s so little difference to this model that nobody, whatever else they "+
		"know, can be much surer that %s contained. ε limits how much surer: little where ε is well below 1, and a "+
		"lot where it is far above. The promise holds for every %s, now and later, and for whatever is computed from "+
		"the model. It does not hide what the model says about people in general.\n", used, was, g.Unit())
	c.say("The theorem: %s. It rests on this:\n", plain(g.Bound))
	for _, a := range g.Assumptions {
		c.say("- %s;", plain(a))
	}
	c.say("")
	if p := m.paid; p != nil {
		c.say("## What it cost\n\nε = %s and δ = %s alone, for “%s”, of the budget “%s” of ε = %s and δ = %s.",
			privacy.FormatUp(g.Epsilon, 6), privacy.FormatUp(g.Delta, 3), plain(p.Entry.Label), plain(p.Budget),
			privacy.FormatUp(p.BudgetEpsilon, 6), privacy.FormatUp(p.BudgetDelta, 3))
		c.say("Other releases from this budget add to what can be learnt about a person; all of them together stay " +
			"within the budget.\n")
	}
}

func capital(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}

// cardLevel is that of the intervals in a card.
const cardLevel = 0.95

func (m *Model) cardCoefficients(c *card) {
	c.say("## Coefficients\n\n%s.\n", plain(capital(m.meaning())))
	header, rule, factors := "| feature | coefficient |", "|---|--:|", m.factorWords()
	if factors != "" {
		header, rule = header+" factor |", rule+"--:|"
	}
	kind, _ := m.parts()
	if kind != "" {
		header, rule = "| "+kind+" "+header, "|---"+rule
	}
	var shown []*Intervals
	var why []string
	for _, of := range []struct {
		name string
		find func(level float64) (*Intervals, error)
	}{{"population", m.PopulationIntervals}, {"without noise", m.Intervals}} {
		iv, err := of.find(cardLevel)
		if err != nil {
			why = append(why, strings.TrimPrefix(err.Error(), "dpnb: "))
			continue
		}
		shown = append(shown, iv)
		header, rule = header+fmt.Sprintf(" %s, from | to |", of.name), rule+"--:|--:|"
	}
	c.say("%s\n%s", header, rule)
	for j, v := range m.coefficients {
		row := fmt.Sprintf("| %s | %s |", plain(m.features[j%len(m.features)]), number(v))
		if by, ok := m.factor(m.features[j%len(m.features)], v); ok {
			row += fmt.Sprintf(" %s |", by)
		}
		if kind != "" {
			row = "| " + plain(m.part(j)) + " " + row
		}
		for _, iv := range shown {
			row += fmt.Sprintf(" %s | %s |", bound(iv.Lower[j]), bound(iv.Upper[j]))
		}
		c.say("%s", row)
	}
	c.say("")
	for _, said := range []string{factors, m.missingAgainst()} {
		if said != "" {
			c.say("%s\n", plain(said))
		}
	}
	for _, iv := range shown {
		c.say("Each interval (level %v) covers: %s. %s.\n", cardLevel, plain(iv.Covers), plain(capital(iv.Basis)))
		if said := iv.buysNothing(); said != "" {
			c.say("%s\n", plain(said))
		}
	}
	if shown == nil {
		c.say("There are no intervals for how far noise has moved them: %s.\n", plain(why[len(why)-1]))
	}
}

// cardUse names calls that work for this model.
func (m *Model) cardUse(c *card) {
	call := "Predict"
	switch {
	case len(m.levels) > 1:
		call = "PredictQuantiles"
	case len(m.target.Classes) > 0:
		call = "PredictClass"
	}
	c.say("## How to predict\n\nIn Go, or in a notebook, from the file that `Save` has written. The first call " +
		"returns all predictions as a dataframe, the second only the values; the third is for files of any size.\n" +
		"\n```go")
	c.say("model, err := dpnb.Load(\"model.json\")\ndpnb.Show(model.PredictFrame(dpnb.ReadCSV(\"people.csv\")), err)")
	c.say("values, err := model.%s(dpnb.ReadCSV(\"people.csv\"))", call)
	c.say("err = model.PredictCSV(\"predicted.csv\", dpnb.FromScanner(frame.ScanCSV(\"people.csv\", nil)))\n```\n")
	c.say("In a shell, for a CSV or Parquet file of any size: `" + project.Command() + " predict model.json " +
		"people.csv -o predicted.csv`; `--help` lists the options for other separators, decimal marks and encodings. " +
		"The columns are found by their names, in any order; no label is needed.\n")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func (m *Model) cardLimits(c *card) {
	misses := "It is linear in its features: it misses effects that rise and fall again, and those of two columns " +
		"together."
	if m.encoding.Curves() != nil {
		misses = "It adds up what each column says, along a curve of each number: it misses what two columns do " +
			"together."
	}
	if more := m.beside(); more != "" {
		misses = "It adds up what each column says, along a curve of each number, with " + more + ": it misses what " +
			"more columns do together."
	}
	c.say("## Limits\n\n- " + misses + "\n- Coefficients carry noise: the fewer records there were, the more it " +
		"matters, and most for rare categories.\n- They say what goes with what, not what causes what.\n- How well " +
		"it predicts is not in this card: that is a fact about the records on which it is scored.")
	if m.target.Task == frame.Number || m.target.Task == frame.Count {
		if !m.target.Open {
			c.say("- It predicts between %g and %g, the public bounds of %s.", m.target.Lower, m.target.Upper,
				plain(m.target.Name))
		}
	} else if !m.probabilities {
		c.say("- It predicts no probabilities.")
	}
	if said := m.counted(); said != "" {
		c.say("- %s", plain(said))
	}
	c.say("- Values beyond the public bounds, and texts that are none of the public categories, are treated as the " +
		"list under Data says.\n")
}
