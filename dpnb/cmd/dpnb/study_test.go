package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// studyFolder has a table with two classes, and two with a number that are the same.
func studyFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		must.Do(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	var b strings.Builder
	b.WriteString("age,city,pay,ill\n")
	for i := range 600 {
		age := 20 + i*7%60
		fmt.Fprintf(&b, "%d,%s,%d,%s\n", age, []string{"Bern", "Rome"}[i%2], 10+age+i%13,
			[]string{"no", "yes"}[(age/50+i%3)/2])
	}
	schema := `{"version": 1, "fields": [{"name": "age", "type": "number", "lower": 20, "upper": 80},
{"name": "city", "type": "category", "categories": ["Bern", "Rome"]},
{"name": "pay", "type": "number", "lower": 0, "upper": 120},
{"name": "ill", "type": "category", "categories": ["no", "yes"]}]}`
	for _, name := range []string{"ill", "pay", "again"} {
		write(name+".csv", b.String())
		write(name+".schema.json", schema)
	}
	write("tables.json", `[{"name": "ill", "task": "two classes", "label": "ill", "positive": "yes"},
{"name": "pay", "task": "a number", "label": "pay"}, {"name": "again", "task": "a number", "label": "pay"}]`)
	return dir
}

func studyOf(t *testing.T, args ...string) string {
	t.Helper()
	return must.Get(said(append([]string{"study"}, args...)...))
}

// Results do not depend on the number of workers, and the best of several settings is the best of them.
func TestStudyIsTheSameWithManyWorkers(t *testing.T) {
	testscale.InTurn(t)
	dir := studyFolder(t)
	var first string
	for _, workers := range []string{"1", "3"} {
		out := studyOf(t, dir, "--splits", "2", "--epsilon", "1,8", "--only", "ill,pay", "--workers", workers, "--json",
			"--learners", "DP-EBM,gradient*,TukeyEM,*without privacy")
		if first == "" {
			first = out
		}
		if out != first {
			t.Errorf("%s workers print\n%s\n1 prints\n%s", workers, out, first)
		}
	}
	var all []scored
	must.Do(json.Unmarshal([]byte(first), &all))
	seen := map[string]bool{}
	for _, r := range all {
		seen[r.Learner] = true
		if r.Learner == "TukeyEM" {
			if r.Scores != nil || !strings.Contains(r.Error, "more records") {
				t.Errorf("%+v", r)
			}
			continue
		}
		if len(r.Scores) != 2 || r.Rival == strings.Contains(name(r), "NOT PRIVATE") {
			t.Errorf("%s: %+v", name(r), r)
		}
		mean, _ := difference(r.Scores, nil)
		for _, other := range r.All {
			if other > mean {
				t.Errorf("%s: %v, and a setting has %v", r.Learner, mean, other)
			}
		}
	}
	if len(seen) != 9 || all[0].Learner != "Suited" {
		t.Errorf("learners %v", seen)
	}
}

// Every contender is the one that it is said to be: its scores with the noise of one seed, and those of all settings of
// which the best is taken, are as they were: testdata/study.json, and to more digits testdata/study.txt.
func TestWhatContendersScore(t *testing.T) {
	testscale.Slow(t)
	out := studyOf(t, studyFolder(t), "--splits", "1", "--epsilon", "4", "--only", "ill,pay", "--json")
	golden.Compare(t, "testdata/study.json", out)
	golden.Figures(t, "testdata/study.txt", 1e-6, func(say func(name string, values ...float64)) {
		var all []scored
		must.Do(json.Unmarshal([]byte(out), &all))
		for _, r := range all {
			say(r.Table+" "+r.Learner, append(r.Scores, r.All...)...)
		}
	})
}

// Tables are shown with their mean, of which the error is that of independent splits.
func TestStudyShowsMeans(t *testing.T) {
	out := studyOf(t, studyFolder(t), "--splits", "3", "--epsilon", "2", "--learners", "Huber*", "--seeds", "2")
	for _, want := range []string{"ill: AUC × 100, 600 records, mean of 3 splits",
		"Mean of R² × 100 over 2 tables with a number",
		"Huber, not centred"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "Mean of AUC") {
		t.Error("a mean over one table")
	}
	// Two tables that are the same have the same mean, and its error over √2.
	of := func(line int) (mean, less, err float64) {
		found := strings.Split(out, "Huber, not centred")[line]
		numbers := strings.TrimSpace(strings.ReplaceAll(found, "±", ""))
		if _, e := fmt.Sscanf(numbers, "%f (%f %f)", &mean, &less, &err); e != nil {
			t.Fatal(e, found)
		}
		return mean, less, err
	}
	m, less, err := of(1)
	if m2, less2, err2 := of(3); m != m2 || less != less2 || !(math.Abs(err2-err/math.Sqrt2) <= 0.11) {
		t.Errorf("mean %v, less %v ± %v over tables with %v, %v ± %v each", m2, less2, err2, m, less, err)
	}
}

// What is wrong is said.
func TestStudySaysWhatIsWrong(t *testing.T) {
	dir := studyFolder(t)
	for _, c := range []struct{ args, want string }{
		{t.TempDir(), "no tables.json"}, {dir + " --splits 0", "want 1 or more"},
		{dir + " --seeds 0", "want 1 or more"},
		{dir + " --only ill --epsilon -1", "epsilon"},
	} {
		_, err := said(append([]string{"study"}, strings.Fields(c.args)...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}

// A mean over tables is of all of them, or there is none: whichever of them has no scores.
func TestStudyMeansAreOfAllTables(t *testing.T) {
	s := study{splits: 2, epsilons: []float64{1}}
	of := func(table, learner string, scores ...float64) scored {
		return scored{Table: table, Task: aNumber, Learner: learner, Epsilon: 1, Rival: true, Scores: scores}
	}
	it, ok := s.means(aNumber, []scored{of("a", "first", 10, 20), of("b", "first", 30, 40), of("a", "second", 13, 25),
		of("b", "second", 30, 42), of("a", "third"), of("b", "third", 1, 2), of("a", "fourth", 1, 2), of("b", "fourth"),
		{Table: "c", Task: "two classes", Learner: "first", Epsilon: 1}})
	// The differences are 3 and 5, 0 and 2: means of 4 ± 1 and 1 ± 1, and 2.5 ± √2/2 of both.
	want := [][]string{{"first", "25.0"}, {"second", "27.5 (+2.5 ± 0.7)"}, {"third", "–"}, {"fourth", "–"}}
	if got := it.Rows; !ok || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// At each ε a contender is compared with the first at the same.
func TestStudyComparesAtTheSameEpsilon(t *testing.T) {
	of := func(learner string, eps float64, scores ...float64) scored {
		return scored{Table: "a", Task: aNumber, Records: 9, Learner: learner, Rival: true, Epsilon: eps,
			Scores: scores}
	}
	it := study{splits: 2, epsilons: []float64{1, 4}}.table([]scored{of("first", 1, 10, 20), of("first", 4, 30, 40),
		of("second", 1, 13, 25), of("second", 4, 30, 42)})
	if want := "[[first 15.0 35.0] [second 19.0 (+4.0 ± 1.0) 36.0 (+1.0 ± 1.0)]]"; fmt.Sprint(it.Rows) != want {
		t.Errorf("%v, want %v", it.Rows, want)
	}
}

// A contender without scores has a row that says so, and why.
func TestStudySaysWhatFailed(t *testing.T) {
	s := study{splits: 2, epsilons: []float64{1}}
	first := scored{Table: "a", Task: aNumber, Records: 9, Learner: "first", Rival: true, Scores: []float64{1, 3}}
	it := s.table([]scored{first,
		{Learner: "second", Rival: true, Error: "too few records"}})
	if want := "[[first 2.0] [second –]]"; fmt.Sprint(it.Rows) != want ||
		!strings.Contains(fmt.Sprint(it), "second: too few records.") || strings.Contains(fmt.Sprint(it), "first: ") {
		t.Errorf("%v", it)
	}
}

// A split learns from about four fifths and is scored on the others, which are known with it; a label that the schema
// does not know is said.
func TestSplitsOfStudies(t *testing.T) {
	tables := must.Get(studiedIn(studyFolder(t)))
	for i := range tables {
		s := must.Get(tables[i].split(3))
		if s.train.Rows() != s.trained || s.trained+s.test.Rows() != 600 || s.test.Rows() < 80 || s.test.Rows() > 160 {
			t.Errorf("%s: %d and %d rows, of %d", s.Name, s.train.Rows(), s.test.Rows(), s.trained)
		}
		if s.Task == aNumber && (len(s.truth) != s.test.Rows() || s.scale.Upper != 120) {
			t.Errorf("%s: %d labels of %+v", s.Name, len(s.truth), s.scale)
		}
		other := must.Get(tables[i].split(4))
		if a, b := must.Get(s.train.Table()), must.Get(other.train.Table()); a.Rows() == b.Rows() &&
			must.Get(a.Column("age")).Number(5) == must.Get(b.Column("age")).Number(5) {
			t.Errorf("%s: another split is the same", s.Name)
		}
	}
	unknown := tables[1]
	unknown.known = func(df learn.DataFrame) learn.DataFrame { return df.WithSchema(learn.Numeric("age", 20, 80)) }
	if _, err := unknown.split(3); err == nil || !strings.Contains(err.Error(), `no "pay"`) {
		t.Errorf("a label that the schema lacks: %v", err)
	}
}

// What is said to be the best setting of gradient descent is one of the grid, which has every pair of its numbers once.
func TestDescentGrid(t *testing.T) {
	grid := descentGrid()
	seen, clips, steps := map[learn.DescentSetting]bool{}, map[float64]int{}, map[int]int{}
	for _, s := range grid {
		seen[s] = true
		clips[s.Clip]++
		steps[s.Steps]++
		if (s.Radius > 0) == (s.LearningRate > 0) {
			t.Errorf("%+v", s)
		}
	}
	if len(seen) != 30 || len(grid) != 30 || clips[0.1] != 10 || clips[0.3] != 10 || clips[1] != 10 ||
		steps[32] != 15 || steps[96] != 15 || !seen[descentClasses] || !seen[descentNumbers] ||
		descentNumbers.LearningRate != 0.05 || descentClasses.LearningRate != 0.2 {
		t.Errorf("%d settings: %+v", len(grid), grid)
	}
	for _, rate := range []float64{0.05, 0.2, 0.8} {
		if !seen[learn.DescentSetting{LearningRate: rate, Steps: 96, Clip: 0.3}] {
			t.Errorf("no rate of %g", rate)
		}
	}
	for _, radius := range []float64{8, 32} {
		if !seen[learn.DescentSetting{Radius: radius, Steps: 96, Clip: 0.3}] {
			t.Errorf("no radius of %g", radius)
		}
	}
	for _, m := range learn.AllMechanisms {
		if got := named(m.Name()); got.Name() != m.Name() {
			t.Errorf("%s is called %s", got.Name(), m.Name())
		}
	}
}
