package learn_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// The parts of an evaluation agree with each other, with Score and AUC, and with counting.
func TestEvaluation(t *testing.T) {
	data := kinds(t, 2000)
	for _, l := range []struct {
		learner learn.Learner
		from    string
	}{{learn.Logistic{}, "Binary"}, {learn.SVM{}, "Binary"}, {learn.Softmax{}, "Classes"},
		{learn.OneVsRest{}, "Classes"}} {
		records := data[l.from]
		m := must.Get(l.learner.FitWithoutPrivacy(records))
		e := must.Get(m.Evaluate(records))
		if score, _ := m.Score(records); e.Accuracy != score {
			t.Errorf("%T: accuracy %v, score %v", l.learner, e.Accuracy, score)
		}
		if share := records.MajorityShare(); e.Majority != share {
			t.Errorf("%T: majority %v, want %v", l.learner, e.Majority, share)
		}
		if auc, err := m.AUC(records); err == nil != (l.from == "Binary") || err == nil && e.AUC != auc {
			t.Errorf("%T: AUC %v, want %v (%v)", l.learner, e.AUC, auc, err)
		}
		sum := 0
		for _, row := range e.Confusion {
			for _, n := range row {
				sum += n
			}
		}
		if sum != 2000 {
			t.Errorf("%T: %d records in the confusion matrix", l.learner, sum)
		}
		if _, svm := l.learner.(learn.SVM); svm {
			if e.Calibration == nil || e.Figure() == nil {
				t.Error("an SVM has no calibration")
			}
			continue // its probabilities are those of another loss
		}
		if words := e.Figure().Words(); !strings.Contains(words, "no guarantee covers it") {
			t.Errorf("%T: drawn without a mark: %s", l.learner, words)
		}
		// Without noise the logistic and softmax fits are calibrated.
		count, predicted, observed := 0, 0.0, 0.0
		for _, b := range e.Calibration {
			if count += b.Count; b.Count == 0 {
				continue
			}
			predicted, observed = predicted+float64(b.Count)*b.Predicted, observed+float64(b.Count)*b.Observed
			off := math.Abs(b.Predicted - b.Observed)
			five := 5 * math.Sqrt(b.Predicted*(1-b.Predicted)/float64(b.Count))
			if _, apart := l.learner.(learn.OneVsRest); !apart && off > five {
				t.Errorf("%T: of those with %.3f came true %.3f", l.learner, b.Predicted, b.Observed)
			}
		}
		if want := map[string]int{"Binary": 2000, "Classes": 6000}[l.from]; count != want {
			t.Errorf("%T: %d predictions in bins, want %d", l.learner, count, want)
		}
		if !(math.Abs(predicted-observed) <= 0.02*observed) {
			t.Errorf("%T: %.1f are predicted to come true and %.1f did", l.learner, predicted, observed)
		}
	}
	var shown bytes.Buffer
	display.Out = &shown
	defer func() { display.Out = nil }()
	m := must.Get(learn.Logistic{}.FitWithoutPrivacy(data["Binary"]))
	learn.Show(m.Evaluate(data["Binary"]))
	says(t, shown.String(), "predicted no", "Accuracy", "AUC", "Calibration", "no guarantee covers it", "90 %")
	number := must.Get(learn.Linear{}.FitWithoutPrivacy(data["Regression"]))
	if _, err := number.Evaluate(data["Regression"]); err == nil || !strings.Contains(err.Error(), "for classes") {
		t.Errorf("a number was evaluated: %v", err)
	}
}

// Probabilities of several classes are those of their laws, and stay so where e^t overflows.
func TestClassProbabilities(t *testing.T) {
	data := plain(t, 400)["Classes"]
	df := learn.Patients(400, 11).Drop("ward") // no labels
	for _, l := range []learn.Learner{learn.Softmax{}, learn.OneVsRest{}} {
		m := must.Get(l.FitWithoutPrivacy(data))
		f := m.PredictFrame(df)
		if f.Err != nil || f.Nrow() != 400 || f.Ncol() != 4 {
			t.Fatalf("%T: %v", l, f)
		}
		names := f.Names()
		theta, d := m.Theta(), len(m.Theta())/3
		design, _ := data.Design()
		for i := range 400 {
			var p, want []float64
			sum := 0.0
			for c := range 3 {
				score := 0.0
				for j := range d {
					score += theta[c*d+j] * design.Rows.(*matrix.Dense).Data[i*d+j]
				}
				w := math.Exp(score)
				if _, apart := l.(learn.OneVsRest); apart {
					w = 1 / (1 + math.Exp(-score))
				}
				want, sum = append(want, w), sum+w
				p = append(p, f.Elem(i, c+1).Float())
			}
			for c := range p {
				if !(math.Abs(p[c]-want[c]/sum) <= 1e-12) {
					t.Fatalf("%T: record %d: probabilities %v, want %v/%v", l, i, p, want, sum)
				}
			}
			if got := "probability of " + f.Elem(i, 0).String(); got != names[1+slices.Index(p, slices.Max(p))] {
				t.Fatalf("%T: record %d: %s, of %v", l, i, got, p)
			}
		}
	}
}

// inChunks is a table that is scanned so many rows at a time, and has no lines, as of Parquet.
type inChunks struct {
	frame.Scanner
	rows int
}

func (c inChunks) Scan(columns []string, f func(*frame.Table) error) error {
	return c.Scanner.Scan(columns, func(t *frame.Table) error {
		for lo := 0; lo < t.Rows(); lo += c.rows {
			if err := f(t.Filter(func(i int) bool { return i >= lo && i < lo+c.rows })); err != nil {
				return err
			}
		}
		return nil
	})
}

// Entries that cannot be read are named by their lines, or by their rows where there are none, in whichever chunk.
func TestUnreadEntriesOfChunks(t *testing.T) {
	dir := t.TempDir()
	path, m := filepath.Join(dir, "people.csv"), must.Get(learn.Logistic{}.FitWithoutPrivacy(peopleData(t)))
	ages := []string{"30", "old", "40", "50", "aged", "60", "70", "80", "old"}
	cities := []string{"Bern", "Bern", "Rome", "Oslo", "Rome", "Rome", "Bern", "Bern", "Oslo"}
	text := "age,city\n"
	for i, age := range ages {
		text += age + "," + cities[i] + "\n"
	}
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	table := must.Get(frame.NewTable(frame.Column{Name: "age", Kind: frame.Categorical, Texts: ages},
		frame.Column{Name: "city", Kind: frame.Categorical, Texts: cities}))
	for _, rows := range []int{1, 2, 4, 100} {
		for head, records := range []frame.Scanner{inChunks{table, rows},
			must.Get(frame.ScanCSV(path, &frame.CSVSettings{ChunkRows: rows}))} {
			df := learn.FromScanner(records, nil)
			found := must.Get(m.PredictCSVAndCheck(filepath.Join(dir, "out.csv"), df, true))
			lines := map[string][]int{}
			for _, one := range found {
				lines[one.Column] = append(lines[one.Column], one.Lines...)
			}
			if !slices.Equal(lines["age"], []int{2 + head, 5 + head, 9 + head}) ||
				!slices.Equal(lines["city"], []int{4 + head, 9 + head}) {
				t.Errorf("%T in chunks of %d: %v", records, rows, lines)
			}
		}
	}
}

// What is written to a file in chunks is what is predicted at once, without labels, beside what is to be kept.
func TestPredictCSV(t *testing.T) {
	const rows = 70_000 // more than a chunk
	ages, ids, cities := make([]float64, rows), make([]float64, rows), make([]string, rows)
	for i := range rows {
		ages[i], ids[i], cities[i] = 18+float64(i%80), float64(3*i), []string{"Bern", "Rome", "a \"b\", c"}[i%3]
	}
	table := must.Get(frame.NewTable(frame.Column{Name: "id", Numbers: ids}, frame.Column{Name: "age", Numbers: ages},
		frame.Column{Name: "city", Kind: frame.Categorical, Texts: cities}))
	df := learn.FromTable(table)
	m := must.Get(learn.Logistic{}.FitWithoutPrivacy(peopleData(t)))
	path := filepath.Join(t.TempDir(), "predicted.csv")
	must.Do(m.PredictCSV(path, df, "id", "city"))
	want := must.Get(m.Predict(df))
	f := must.Get(os.Open(path))
	defer f.Close()
	got, err := csv.NewReader(f).ReadAll()
	if err != nil || len(got) != rows+1 || strings.Join(got[0], "|") != "id|city|prediction|probability of yes" {
		t.Fatalf("%d lines, %q, %v", len(got), got[0], err)
	}
	for i, line := range got[1:] {
		p, err := strconv.ParseFloat(line[3], 64)
		if err != nil || p != want[i] || line[0] != fmt.Sprint(3*i) || line[1] != cities[i] ||
			line[2] != map[bool]string{true: "yes", false: "no"}[p > 0.5] {
			t.Fatalf("line %d is %q, want %v", i+2, line, want[i])
		}
	}
	for what, bad := range map[string]error{
		"a column to keep": m.PredictCSV(path, df, "name"), "a column": m.PredictCSV(path, df.Drop("age")),
		"no folder": m.PredictCSV(filepath.Join(t.TempDir(), "x", "y.csv"), df),
		"no frame":  m.PredictCSV(path, learn.DataFrame{}), "no model": (*learn.Model)(nil).PredictCSV(path, df),
	} {
		if bad == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if again, err := os.ReadFile(path); err != nil || bytes.Count(again, []byte{'\n'}) != rows+1 {
		t.Errorf("a failed write changed the file (%v)", err)
	}
}
