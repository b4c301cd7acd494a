package learn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// written writes a file of a test.
func written(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	return path
}

const visits = `id,seen,title,town,note,postcode,ill
1,2024-03-04 17:30,Dr. med.,Bern,x,10,yes
2,2024-03-09 00:15,Prof. Dr.,Rome,y,20,no
3,,Mrs,Atlantis,z,99,no
4,2024-03-05 23:59,Fräulein,Bern,,,yes
`

const visitsSchema = `{"version": 1, "fields": [
 {"name": "id", "type": "ignore"}, {"name": "note", "type": "ignore"}, {"name": "postcode", "type": "ignore"},
 {"name": "seen", "type": "weekday of a date", "layout": "2006-01-02 15:04", "missing": true},
 {"name": "hour", "of": "seen", "type": "hour of a date", "layout": "2006-01-02 15:04", "missingAs": 12},
 {"name": "title", "type": "category", "categories": ["doctor", "other"], "else": "other",
  "patterns": [{"match": "(?i)\\bdr\\b", "as": "doctor"}]},
 {"name": "town", "type": "category", "categoriesFrom": "towns.txt", "else": "elsewhere"},
 {"name": "ill", "type": "category", "categories": ["no", "yes"]}]}`

// A schema file ignores columns, reads the hour and the weekday of one date, has texts count as categories by patterns
// and takes a list of categories from a public file: in memory, scanned, saved and for predictions.
func TestSchemaFileOfDailyVerbs(t *testing.T) {
	dir := t.TempDir()
	csv := written(t, dir, "visits.csv", visits)
	written(t, dir, "towns.txt", "Bern\nRome\nelsewhere\n")
	schema := written(t, dir, "schema.json", visitsSchema)
	df := learn.ReadCSV(csv).WithSchemaFile(schema)
	data := learn.Binary(df, "ill", learn.Uncentred())
	d := must.Get(data.Design())
	if got := strings.Join(d.Features, " "); strings.HasPrefix(got, "id") || strings.Contains(got, "note") ||
		!strings.Contains(got, "hour") || !strings.Contains(got, "seen=Monday") {
		t.Error(got)
	}
	column := func(name string, row int) float64 {
		for j, f := range d.Features {
			if f == name {
				x := make([]float64, len(d.Features))
				d.Rows.Row(x, row)
				return x[j]
			}
		}
		t.Fatalf("no feature %q among %q", name, d.Features)
		return 0
	}
	for _, c := range []struct {
		feature string
		row     int
		want    float64
	}{{"hour", 0, 17.5 / 24}, {"hour", 1, 0.25 / 24}, {"hour", 2, 0.5}, {"seen=Monday", 0, 1}, {"seen=Saturday", 1, 1},
		{"title=doctor", 0, 1}, {"title=doctor", 1, 1}, {"title=other", 2, 1}, {"title=other", 3, 1},
		{"town=elsewhere", 2, 1}, {"town=Bern", 3, 1}} {
		if got := column(c.feature, c.row); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%s of row %d is %v, want %v", c.feature, c.row, got, c.want)
		}
	}
	scanned := learn.FromScanner(frame.ScanCSV(csv, nil)).WithSchemaFile(schema)
	same := must.Get(learn.Binary(scanned, "ill", learn.Uncentred(), learn.StoredIn(learn.Storage{Dir: dir,
		Double: true})).
		Design())
	x, y := make([]float64, len(d.Features)), make([]float64, len(d.Features))
	for i := range 4 {
		d.Rows.Row(x, i)
		same.Rows.Row(y, i)
		for j := range x {
			if x[j] != y[j] {
				t.Fatalf("row %d: %v, scanned %v", i, x, y)
			}
		}
	}
	m := must.Get(learn.Logistic{Noise: learn.Seed(1)}.Fit(learn.Binary(df, "ill"), learn.Simulate(1, 1e-6)))
	path := filepath.Join(dir, "model.json")
	must.Do(m.Save(path))
	again := must.Get(learn.Load(path))
	if p, q := must.Get(m.Predict(df)), must.Get(again.Predict(learn.ReadCSV(csv))); p[0] != q[0] || p[2] != q[2] {
		t.Errorf("%v, of the file itself %v", p, q)
	}
	out := filepath.Join(dir, "out.csv")
	if err := again.PredictCSV(out, learn.FromScanner(frame.ScanCSV(csv, nil)), "id"); err != nil {
		t.Error(err)
	}
	kept := filepath.Join(dir, "kept.json")
	must.Do(df.SaveSchema(kept))
	if err := learn.ReadCSV(csv).WithSchemaFile(kept).Err(); err != nil {
		t.Error(err)
	}
	if head := scanned.Head(2); head.Rows() != 2 || head.Err() != nil {
		t.Error(head.Rows(), head.Err())
	}
}

// A record finds its row of a public table by its key, or none; neither the order of the records nor others matter.
func TestJoin(t *testing.T) {
	dir := t.TempDir()
	df := learn.ReadCSV(written(t, dir, "visits.csv", visits))
	regions := learn.ReadCSV(written(t, dir, "regions.csv", "postcode,region,rent\n10,north,900\n20,south,1200\n"))
	fields := []learn.Field{learn.Categorical("region", "north", "south").OrElse("unknown"),
		learn.Numeric("rent", 0, 2000)}
	joined := df.Join(regions.Public(), "postcode", fields...)
	table := must.Get(joined.Table())
	region, rent := must.Get(table.Column("region")), must.Get(table.Column("rent"))
	for i, want := range []string{"north", "south", "", ""} {
		if region.Text(i) != want || i < 2 && rent.Number(i) != []float64{900, 1200}[i] || i > 1 &&
			rent.Number(i) == rent.Number(i) {
			t.Errorf("row %d: %q, %v", i, region.Text(i), rent.Number(i))
		}
	}
	twice := learn.ReadCSV(written(t, dir, "twice.csv", "postcode,region,rent\n10,north,1\n10,south,2\n")).Public()
	for name, bad := range map[string]learn.DataFrame{"twice": df.Join(twice, "postcode", fields...),
		"Public": df.Join(regions, "postcode", fields...), "fields": df.Join(regions.Public(), "postcode"),
		"zip": df.Join(regions.Public(), "zip", fields...)} {
		if err := bad.Err(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	sorted := regions.Public().Sorted("rent", true)
	if c := must.Get(must.Get(sorted.Table()).Column("region")); c.Text(0) != "south" {
		t.Error(c.Texts)
	}
	if err := regions.Sorted("rent", true).Err(); err == nil {
		t.Error("private records are sorted")
	}
}

// Schemas that cannot be meant are refused with what to do.
func TestDailyVerbsRefused(t *testing.T) {
	dir := t.TempDir()
	for text, says := range map[string]string{
		`{"name":"a","type":"category","categories":["x"],"patterns":[{"match":"(","as":"x"}]}`: "regular expression",
		`{"name":"a","type":"category","categories":["x"],"patterns":[{"match":"b","as":"y"}]}`: "add it",
		`{"name":"a","type":"number","lower":0,"upper":1,"patterns":[{"match":"b","as":"y"}]}`:  "texts",
		`{"name":"a","type":"hour of a date","layout":"2006-01-02"}`:                            "hour",
		`{"name":"a","type":"category","categoriesFrom":"none.txt"}`:                            "none.txt",
		`{"name":"a","type":"category","categories":["x"],"categoriesFrom":"none.txt"}`:         "leave one",
		`{"name":"a","of":"a","type":"hour of a date","layout":"15:04"}`:                        "copy of itself",
	} {
		path := written(t, dir, "s.json", `{"version":1,"fields":[`+text+`]}`)
		if _, err := frame.LoadSchema(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
