package learn_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/learn"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/scale"
)

// embedding has all that a learner has, by embedding one, and a Fit of its own.
type embedding struct {
	learn.Logistic
	Own func(data *learn.Dataset, a learn.Allowance) (*learn.Model, error) `json:"-"`
}

func (e embedding) Fit(data *learn.Dataset, a learn.Allowance) (*learn.Model, error) {
	return e.Own(data, a)
}

// Whatever is given a learner and an allowance, or fits by itself, refuses a type that embeds a learner: its Fit could
// spend the price of one group on questions about all records, or keep a model and say that there is none.
func TestEmbeddedLearnersAreRefused(t *testing.T) {
	b, df := fresh(1, 1e-6), wards(400)
	asked := 0
	hostile := embedding{Own: func(_ *learn.Dataset, a learn.Allowance) (*learn.Model, error) {
		_, err := explore.Sum("age").Of(df, a)
		if err == nil {
			asked++
		}
		return nil, nil
	}}
	data := ill(df.Drop("ward"))
	for name, try := range map[string]func(l learn.Learner) error{
		"FitBy": func(l learn.Learner) error {
			_, err := learn.FitBy(l, df, "ward", ill, b.Spend(0.5))
			return err
		},
		"FitByOnce": func(l learn.Learner) error {
			_, err := learn.FitByOnce("n", l, df, "ward", ill, b.Spend(0.5))
			return err
		},
		"FitOnce": func(l learn.Learner) error { _, err := learn.FitOnce("m", l, data, b.Spend(0.1)); return err },
		"Cost":    func(l learn.Learner) error { _, err := b.Spend(0.1).Cost(l, data); return err },
		"Tune": func(l learn.Learner) error {
			_, err := learn.Tune{Learners: []learn.Learner{l, learn.SVM{}}}.Fit(data, b.Spend(0.1))
			return err
		},
		"MechanismOf": func(l learn.Learner) error {
			_, err := learn.MechanismOf("m", func(noise.Source) learn.Learner { return l }).Fit(data,
				learn.Simulate(1, 1e-6), learn.Seed(1))
			return err
		},
		"SweepEpsilon": func(l learn.Learner) error {
			_, err := learn.SweepEpsilon(l, data, data, 1e-6, 2, 1)
			return err
		},
	} {
		for _, l := range []learn.Learner{hostile, &hostile, struct{ embedding }{hostile},
			struct{ learn.Learner }{hostile}, &learn.Logistic{}} {
			if err := try(l); err == nil || !strings.Contains(err.Error(), "is not one of the learners") {
				t.Errorf("%s of a %T: %v", name, l, err)
			}
		}
		if err := try(nil); err == nil || !strings.Contains(err.Error(), "no learner") {
			t.Errorf("%s of nobody: %v", name, err)
		}
	}
	if e, n := spent(t, b); asked > 0 || n > 0 {
		t.Errorf("%d questions were answered for ε = %v, %d entries", asked, e, n)
	}
}

// The allowance of a group pays for the records of that group: not for others that take their place, by whatever a
// program has a pointer to, nor for questions about all.
func TestAGroupPaysForItsRecords(t *testing.T) {
	b := fresh(1, 1e-6)
	names := []string{"heart", "lungs", "bones", "skin"}
	var table *frame.Table
	var fields []learn.Field
	var saved []*learn.Dataset
	whole := func() *learn.Dataset { return ill(wards(400).Drop("ward")) }
	next := func() string { return names[min(len(saved)+1, 3)] }
	for name, before := range map[string]func(part learn.DataFrame){
		"nobody": func(learn.DataFrame) {},
		"records": func(learn.DataFrame) {
			for _, d := range saved {
				*d = *whole()
			}
		},
		"designs": func(learn.DataFrame) {
			for _, d := range saved {
				mine, err := d.Design()
				all, failed := whole().Design()
				must.Do(errors.Join(err, failed))
				*mine = *all
			}
		},
		"rows of the group": func(part learn.DataFrame) {
			mine, err := part.Table()
			all, failed := wards(400).Drop("ward").Table()
			must.Do(errors.Join(err, failed))
			*mine = *all
		},
		"what is known": func(part learn.DataFrame) {
			scanned, _, err := part.Known()
			all, failed := wards(400).Drop("ward").Table()
			must.Do(errors.Join(err, failed))
			*scanned.(*frame.Table) = *all
		},
		"wards": func(learn.DataFrame) {
			c := must.Get(table.Column("ward"))
			for i := range c.Texts {
				c.Texts[i] = next()
			}
		},
		"schema": func(learn.DataFrame) {
			fields[1] = learn.Categorical("ward", next()).OrElse(next())
		},
		"levels": func(learn.DataFrame) {
			for k := range fields[1].Levels {
				fields[1].Levels[k] = []string{next(), "w", "x", "y"}[k]
			}
			fields[1].Else = next()
		},
	} {
		var err error
		table = must.Get(wards(400).Table())
		saved, fields = nil, []learn.Field{learn.Numeric("age", 0, 100),
			learn.Categorical("ward", slices.Clone(names)...), learn.Categorical("ill", "no", "yes")}
		l := func() learn.Learner { return learn.Logistic{Noise: learn.Seed(1)} }
		df := learn.FromTable(table).WithSchema(fields...)
		models, err := learn.FitBy(l(), df, "ward", func(part learn.DataFrame) *learn.Dataset {
			before(part)
			saved = append(saved, ill(part))
			return saved[len(saved)-1]
		}, fresh(1, 1e-6).Spend(0.5))
		want, wrong := learn.FitBy(l(), wards(400), "ward", ill, fresh(1, 1e-6).Spend(0.5))
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(name, err)
		}
		for k, m := range models.Models {
			if !sameBits(m.Theta(), want.Models[k].Theta()) {
				t.Errorf("%s: the model of group %s is not of that group's records", name, models.Groups[k])
			}
		}
	}
	all, df := whole(), wards(400)
	part, own := learn.OfGroup(b.Spend(0.1), wards(8))
	for name, err := range map[string]error{
		"fit":      second(learn.Logistic{}.Fit(all, own)),
		"question": second(explore.Sum("age").Of(df, own)),
		"keys":     second(explore.Keys("ward").Of(df, own)),
		"moment":   second(learn.HeavyTails{}.EstimateMoment(learn.Regression(df, "age"), own)),
	} {
		if err == nil || !strings.Contains(err.Error(), "one group") {
			t.Errorf("%s of other records: %v", name, err)
		}
	}
	if _, err := explore.Sum("age").Of(part, own); err != nil {
		t.Errorf("of its own records: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// none is a permit of a program that cannot name its type.
func none[P any](func(learn.Allowance, P) learn.Allowance) (p P) { return p }

// What another program releases under a name does not resume: it could show what it drew, say that it failed, and be
// called again for other records with the same noise.
func TestOnlyOurReleasesResume(t *testing.T) {
	budget := keptBudget(t, 1)
	var seen [][]float64
	release := func(rows int) error {
		_, err := learn.Once("n", budget.Spend(0.2).Resumable(none(learn.Allowance.Resumable)), 1,
			func(a learn.Allowance) (float64, error) {
				m, err := learn.Logistic{}.Fit(learn.Binary(learn.Patients(rows, 1), "ill"), a)
				if err == nil {
					seen, err = append(seen, m.Theta()), errFailing
				}
				return 0, err
			}, encodeNumber, decodeNumber)
		return err
	}
	if err := release(50); !errors.Is(err, errFailing) {
		t.Fatal(err)
	}
	if err := release(51); err == nil || !strings.Contains(err.Error(), "The charge stands") {
		t.Errorf("%v", err)
	}
	if _, n := spent(t, budget); len(seen) != 1 || n != 1 {
		t.Errorf("%d models for %d charges", len(seen), n)
	}
}

// Passes of a function of the program's could be over all records for the price of a group.
func TestAGroupIsAddedUpHere(t *testing.T) {
	b, made := fresh(1, 1e-6), 0
	path, dir := filepath.Join(t.TempDir(), "people.parquet"), t.TempDir()
	people, schema, _ := learn.Patients(300, 1).Known()
	must.Do(parquet.Write(path, people))
	df := learn.FromScanner(parquet.Open(path, nil)).WithSchema(schema.Fields...)
	_, err := learn.FitBy(learn.Logistic{}, df, "ward",
		func(part learn.DataFrame) *learn.Dataset {
			return learn.Binary(part, "ill", learn.StoredIn(frame.Storage{Dir: dir}),
				learn.PassesBy(func(rows stored.Records) (matrix.Rows, error) {
					made++
					return &there{Records: rows}, nil
				}))
		}, b.Spend(0.5))
	if _, n := spent(t, b); err == nil || !strings.Contains(err.Error(), "PassesBy") || made+n > 0 {
		t.Errorf("%d groups were added up elsewhere for %d charges: %v", made, n, err)
	}
}

// watching makes passes, keeps the points at which it is asked for them, and fails when it has seen enough.
type watching struct {
	there
	seen *int
}

func (w *watching) Pass(q *erm.Query) (*erm.Sums, error) {
	*w.seen++
	if sums, err := w.there.Pass(q); w.passes <= 3 || err != nil {
		return sums, err
	}
	return nil, errFailing
}

// A fit whose passes a function of the program's makes does not resume: that function sees the points of the solver,
// and with them the noise.
func TestWatchedFitsDoNotResume(t *testing.T) {
	dir, budget := t.TempDir(), keptBudget(t, 1)
	seen := 0
	fit := func(rows int) error {
		g := scale.Invented{Rows: rows}
		path := filepath.Join(dir, "people.parquet")
		must.Do(parquet.Write(path, g))
		data := learn.Binary(learn.FromScanner(parquet.Open(path, nil)).WithSchema(scale.Schema().Fields...), "ill",
			learn.StoredIn(frame.Storage{Dir: dir, Double: true}),
			learn.PassesBy(func(rows stored.Records) (matrix.Rows, error) {
				return &watching{there{Records: rows}, &seen}, nil
			}))
		_, err := learn.FitOnce("n", learn.Logistic{}, data, budget.Spend(0.2))
		return err
	}
	if err := fit(5000); !errors.Is(err, errFailing) {
		t.Fatal(err)
	}
	first := seen
	if err := fit(4999); err == nil || !strings.Contains(err.Error(), "The charge stands") {
		t.Errorf("%v", err)
	}
	if _, n := spent(t, budget); seen > first || n != 1 {
		t.Errorf("%d and %d passes were seen with the same noise for %d charges", first, seen-first, n)
	}
}

// unstamped is none for stamps.
func unstamped[P any](func(*mechanism.Release, P, noise.Source)) (p P) { return p }

// marked are ways to show numbers of a model.
func marked(t *testing.T, m *learn.Model) map[string]string {
	t.Helper()
	group := &learn.Models{Column: "ward", Groups: []string{"heart"}, Models: []*learn.Model{m}}
	all := map[string]string{"model": shown(t, m), "coefficients": shown(t, m.Coefficients()),
		"one of them": shown(t, m.Coefficients().Subset([]int{1})),
		"sorted":      shown(t, m.Coefficients().Arrange(dataframe.Sort("coefficient"))),
		"group":       group.Display().Text(), "drawn group": group.Illustration().Words()}
	if bands, err := m.Bands("age", nil); err == nil {
		all["bands"] = bands.Words()
	}
	if iv, err := m.Intervals(0.9); err == nil {
		all["intervals"], all["table of intervals"] = shown(t, iv), shown(t, iv.DataFrame())
		drawn, err := iv.Figure("")
		if err != nil {
			drawn, err = iv.Figure("age")
		}
		if err == nil { // else none has ends
			all["drawn intervals"] = drawn.Words()
		}
	}
	with, err := m.CoefficientsWithIntervals(0.9)
	if err == nil {
		all["coefficients with intervals"] = shown(t, with)
	}
	if units := m.CoefficientsInUnits(); units.Err == nil {
		all["in units"] = shown(t, units)
	}
	return all
}

// What a program makes of what it is shown of a model, or of the encoding of records, changes nothing of the model and
// of a fit: what is written beside a guarantee is of what was released.
func TestWhatIsShownIsACopy(t *testing.T) {
	testscale.Slow(t)
	words := func(m *learn.Model) (all string) {
		for _, text := range marked(t, m) { // in any order
			all += text + "\n"
		}
		lines := strings.Split(all, "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	linear := func() learn.Learner { return learn.Linear{CurvatureShare: 0.2, Noise: learn.Seed(1)} }
	for name, f := range map[string]struct {
		learner func() learn.Learner
		options []learn.Option
	}{
		"linear":    {linear, nil},
		"lines":     {linear, []learn.Option{learn.Lines()}},
		"uncentred": {linear, []learn.Option{learn.Uncentred()}},
		"quantiles": {func() learn.Learner {
			return learn.Quantiles{Levels: []float64{0.2, 0.6}, Steps: 5, CurvatureShare: 0.2, Noise: learn.Seed(1)}
		}, nil},
	} {
		data := learn.Regression(learn.Patients(300, 1), "pressure", f.options...)
		design := must.Get(data.Design())
		whole := must.Get(f.learner().Fit(data, learn.Simulate(1, 1e-6)))
		want := words(whole)
		design.Encoding.Features[0], design.Encoding.Target.Upper, design.Encoding.RowNorm = "another", 1e9, 1e-3
		m := must.Get(f.learner().Fit(data, learn.Simulate(1, 1e-6)))
		if words(m) != want {
			t.Errorf("%s: another encoding is fitted", name)
		}
		want = words(m)
		var change func(also any)
		change = func(also any) {
			switch also := also.(type) {
			case *interval.Moments:
				also.Hessian.SetSym(0, 0, 1e9)
			case *sgd.Moments:
				also.Theta[0], also.Near[0], also.Density[0] = 9, 1e9, 1e9
			case *geometry.Bought:
				change(also.Also)
			}
		}
		change(m.Release.Also)
		if c, ok := m.Curvature(); ok {
			change(c)
		}
		if q, ok := m.Release.Fitted.(sgd.Curvature); ok {
			q.Fit.Levels[0] = 0.5
		}
		if words(m) != want {
			t.Errorf("%s: another model is shown than was released", name)
		}
	}
}

// Whatever shows numbers of a model says what no guarantee covers, and goes on to say it when a program has made
// another release of the model's.
func TestMarksStay(t *testing.T) {
	testscale.InTurn(t)
	patients := learn.Patients(300, 1)
	bounded := learn.Regression(patients, "pressure")
	table := must.Get(patients.Table())
	read := learn.Regression(learn.FromTable(table), "pressure", learn.InferBounds())
	levels := learn.Quantiles{Levels: []float64{0.1, 0.9}, Steps: 5, CurvatureShare: 0.2}
	linear := learn.Linear{CurvatureShare: 0.1}
	secure := func(l learn.Learner, data *learn.Dataset) *learn.Model {
		return must.Get(l.Fit(data, fresh(1, 1e-6).Spend(1)))
	}
	good := secure(linear, bounded)
	for what, text := range marked(t, good) {
		if strings.Contains(text, "!!") || strings.Contains(text, "SIMULATION") {
			t.Errorf("%s of a release: %s", what, text)
		}
	}
	afresh := mechanism.Release{Coefficients: good.Theta(), Guarantee: good.Release.Guarantee,
		Fitted: good.Release.Fitted, Also: good.Release.Also}
	afresh.Stamp(unstamped((*mechanism.Release).Stamp), noise.NewSecure())
	if !afresh.Simulated() || afresh.Warning() == "" {
		t.Error("a release that was put together by hand passes for a secure one")
	}
	copied := *good.Release
	for want, fit := range map[string]func(l learn.Learner) (*learn.Model, error){
		"SIMULATION with seed 5": func(l learn.Learner) (*learn.Model, error) {
			switch l := l.(type) {
			case learn.Linear:
				l.Noise = learn.Seed(5)
				return l.Fit(bounded, learn.Simulate(1, 1e-6))
			case learn.Quantiles:
				l.Noise = learn.Seed(5)
				return l.Fit(bounded, learn.Simulate(1, 1e-6))
			}
			return nil, errFailing
		},
		"READ OFF THE DATA": func(l learn.Learner) (*learn.Model, error) {
			return l.Fit(read, fresh(1, 1e-6).Spend(1))
		},
		"NOT PRIVATE": func(l learn.Learner) (*learn.Model, error) { return l.FitWithoutPrivacy(bounded) },
	} {
		for _, l := range []learn.Learner{linear, levels} {
			for by, other := range map[string]func(*mechanism.Release) *mechanism.Release{
				"itself":  func(r *mechanism.Release) *mechanism.Release { return r },
				"afresh":  func(*mechanism.Release) *mechanism.Release { return &afresh },
				"another": func(*mechanism.Release) *mechanism.Release { return good.Release },
				"copied": func(r *mechanism.Release) *mechanism.Release {
					if r != nil {
						*r = copied
					}
					return r
				},
			} {
				if _, several := l.(learn.Quantiles); several && (by == "another" || by == "copied") {
					continue // as of one level
				}
				m := must.Get(fit(l))
				m.Release = other(m.Release)
				for what, text := range marked(t, m) {
					if !strings.Contains(text, want) {
						t.Errorf("%T, release %s: %s does not say %s: %.300s", l, by, what, want, text)
					}
				}
			}
		}
	}
	for _, q := range []explore.Query{explore.Mean("age"), explore.Histogram("age"), explore.Count().By("ward")} {
		s := must.Get(q.Noise(learn.Seed(5)).Of(patients, learn.Simulate(1, 1e-6)))
		if words := s.Illustration().Words(); !strings.Contains(words, "SIMULATION with seed 5") {
			t.Errorf("drawn without a mark: %s", words)
		}
	}
	kept := *table
	kept.Source.Public = false
	private := learn.Regression(learn.FromTable(&kept).WithSchema(dataset.PatientsSchema().Fields...), "pressure")
	for _, of := range [][2]*learn.Dataset{{bounded, private}, {private, bounded}} { // one of them is enough
		curve := must.Get(learn.SweepEpsilon(learn.Linear{}, of[0], of[1], 1e-6, 2, 1))
		compared := learn.CompareWith(learn.CompareSettings{Seeds: 2, Test: of[1]}, of[0], 1, learn.AllMechanisms[0])
		for _, text := range []string{curve.Display().Text(), curve.Figure().Words(), compared.Display().Text(),
			compared.Figure().Words()} {
			if !strings.Contains(text, "not declared public") {
				t.Errorf("scores of private records are shown without a mark: %s", text)
			}
		}
	}
	plain := must.Get(linear.FitWithoutPrivacy(bounded))
	plain.Release = good.Release
	if err := plain.Save(filepath.Join(t.TempDir(), "m.json")); err == nil {
		t.Error("a fit without privacy is saved as a release")
	}
	if text := shown(t, plain.Coefficients().Drop("privacy")); !strings.Contains(text, "RAW RECORDS") {
		t.Errorf("without its column of marks a fit without privacy is shown as %s", text)
	}
	iv := must.Get(good.Intervals(0.9))
	for name, columns := range map[string]dataframe.DataFrame{
		"columns of these names": dataframe.New(series.New([]string{"Ann", "Bob"}, series.String, "feature"),
			series.New([]float64{171, 154}, series.Float, "coefficient")),
		"no rows": good.Coefficients().Subset([]int{}),
	} {
		if text := shown(t, columns); !strings.Contains(text, "RAW RECORDS") {
			t.Errorf("%s are shown as %s", name, text)
		}
	}
	// The release is of the secure source: no number of its own may look like the one that is put in its place.
	const foreign = 71717171717171
	has := func(text string) bool { return strings.Contains(text, "7171717") || strings.Contains(text, "7.17e+") }
	iv.Estimate[0], iv.Estimate = foreign, []float64{foreign}
	if text := shown(t, iv.DataFrame(), iv); has(text) {
		t.Errorf("numbers of a program's are shown as intervals: %s", text)
	}
	good.Release.Coefficients[0] = foreign
	if text := shown(t, good, good.Coefficients()); has(text) {
		t.Errorf("numbers of a program's are shown as coefficients: %s", text)
	}
	if text := shown(t, &learn.MomentEstimate{Bound: 1, Release: &copied}); !strings.Contains(text, "UNKNOWN ORIGIN") {
		t.Errorf("a moment of nobody's is shown as %s", text)
	}
	apart := &learn.Models{Column: "ward", Groups: []string{"heart", "lungs"},
		Models: []*learn.Model{good, secure(linear, bounded)}}
	if text := shown(t, apart); strings.Contains(text, "It is that of one model") {
		t.Errorf("two fits of all records have the guarantee of one: %s", text)
	}
}

// switching is a table that, when it is read, puts other records in the place of those that are made of it.
type switching struct {
	*frame.Table
	then func()
}

func (s switching) Scan(columns []string, f func(*frame.Table) error) error {
	s.then()
	return s.Table.Scan(columns, f)
}

// What a release protects is entered as it was when it began, whatever takes the place of its records while they are
// read.
func TestWhatIsReadIsWhatIsPaidFor(t *testing.T) {
	testscale.Slow(t)
	table := must.Get(wards(60).DeriveNumber(learn.Numeric("id", 0, 99), func(r learn.Row) float64 {
		return r.Number("age")
	}, "age").Table())
	for name, release := range map[string]func(*learn.Dataset, learn.Allowance) error{
		"fit": func(d *learn.Dataset, a learn.Allowance) error { return second(learn.Linear{}.Fit(d, a)) },
		"tuned": func(d *learn.Dataset, a learn.Allowance) error {
			return second(learn.Tune{Learners: []learn.Learner{learn.Linear{}, learn.Huber{}}}.Fit(d, a))
		},
		"moment": func(d *learn.Dataset, a learn.Allowance) error {
			return second(learn.HeavyTails{}.EstimateMoment(d, a))
		},
		"once": func(d *learn.Dataset, a learn.Allowance) error {
			return second(learn.FitOnce("m", learn.Linear{}, d, a))
		},
	} {
		data, where := new(learn.Dataset), learn.StoredIn(learn.Storage{Dir: t.TempDir()})
		other := learn.Regression(wards(60), "age")
		df := learn.FromScanner(switching{table, func() { *data = *other }}, nil).WithSchema(
			learn.Numeric("age", 0, 100), learn.Categorical("ill", "no", "yes")).PerPerson("id", 1).Drop("ward")
		*data = *learn.Regression(df, "age", where)
		b := fresh(1, 1e-6)
		if err := release(data, b.Spend(1)); err != nil {
			t.Fatal(name, err)
		}
		if s, err := b.State(); err != nil || !strings.Contains(s.Entries[0].Unit, "person") {
			t.Errorf("%s: %+v is not of people (%v)", name, s.Entries, err)
		}
	}
}

// A rule that deals the rows of a scanned table otherwise in each scan puts nobody in two groups.
func TestARuleDealsOnce(t *testing.T) {
	table := must.Get(wards(400).Drop("ward").Table())
	names := []string{"heart", "lungs", "bones", "skin"}
	fit := func(of func(scan int) string) *learn.Models {
		scan, dir := 0, t.TempDir()
		df := learn.FromScanner(switching{table, func() { scan++ }}, nil).WithSchema(learn.Numeric("age", 0, 100),
			learn.Categorical("ill", "no", "yes")).DeriveText(learn.Categorical("ward", names...),
			func(learn.Row) string { return of(scan) }, "age")
		return must.Get(learn.FitBy(learn.Logistic{Noise: learn.Seed(1)}, df, "ward",
			func(part learn.DataFrame) *learn.Dataset {
				return learn.Binary(part, "ill", learn.StoredIn(learn.Storage{Dir: dir}))
			}, fresh(1, 1e-6).Spend(0.5)))
	}
	honest := fit(func(int) string { return "heart" })
	turning := fit(func(scan int) string { return names[min(max(scan-1, 0), 3)] })
	for k, m := range turning.Models {
		if !sameBits(m.Theta(), honest.Models[k].Theta()) {
			t.Errorf("people of group heart are in group %s, too", turning.Groups[k])
		}
	}
}
