package frame_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// The tests here stand between a record and all others: they begin at the bytes of a file or at a dataframe, add one
// record of an odd kind, and want every other row of the design, every label and every text to stay what they were, to
// the last bit.

func patientSchema() *frame.Schema {
	return &frame.Schema{Fields: []frame.Field{
		frame.CategoricalField("code", "250.1", "250.2", "250.10", "250.20", "V27.0"),
		frame.NumericField("age", 0, 120),
		frame.LogField("income", 0, 1e6).OrMissing(),
		frame.NumericField("weight", 30, 200).OrMissingAs(75),
		frame.CategoricalField("ward", "1", "2", "03", "true", "x y").OrMissing(),
		frame.CategoricalField("city", "Bern", "Rome").OrElse("other"),
		frame.NumericField("visits", 0, 9),
		frame.CategoricalField("ill", "0", "1"),
	}}
}

var patientHeader = []string{"code", "age", "income", "weight", "ward", "city", "visits", "ill"}

// patients of whom every column but city's reads as numbers, so that one text makes it one of texts for whoever
// guesses; some of their numbers are odd themselves.
var patients = [][]string{
	{"250.10", "31", "50000", "70.5", "1", "Bern", "2", "1"},
	{"250.1", "007", "1e3", "70.50", "03", "Rome", "0", "0"},
	{"250.20", "64", "9007199254740993", "200", "2", "Bern", "9", "1"},
	{"250.2", "0", "0", "30", "3", "Rome", "3", "0"},
	{"250.10", "119.99999999999999", "123456.789", "1e2", "01", "Bern", "5", "1"},
	{"", "nan", "NaN", "Inf", "nan", "Oslo", "2.5", "1.0"},
	{"0250.1", "", "-7", "", "Inf", "", "-Inf", "nan"},
}

// odd values of a cell; any of them can stand in any column.
var oddTexts = []string{
	"abc", "", "?", "NA", "NaN", "nan", "-NaN", "Inf", "-inf", "+Infinity", "1e999", "-1e999", "1e-999", "0x1p3",
	"1_000", "1,000",
	"9007199254740993", "9007199254740992", "99999999999999999999999", "-1", "121", "2.5", "250.100", "00250.1",
	"V27.0", "true", "false", "T",
	" 31 ", "\t7", "x y", "a\"b", "line\nbreak", "line\r\nbreak", "\u00a07", "\u2003", "\ufeff1", "é", "|", "<nil>",
	"#", "Paris", "--", "0", "-0", "+5",
	strings.Repeat("9", 400), strings.Repeat("long ", 20_000),
}

func written(t *testing.T, records [][]string) string {
	t.Helper()
	var b strings.Builder
	w := csv.NewWriter(&b)
	must.Do(w.WriteAll(append([][]string{patientHeader}, records...)))
	return b.String()
}

// settingsOf are the ways to make records that the tests try.
var settingsOf = []frame.DesignSettings{
	{Label: "ill", RowNorm: 1},
	{Label: "code", Task: frame.ManyClasses, ClipNorm: 0.7},
	{Label: "income", Task: frame.Number},
	{Label: "visits", Task: frame.Count, NoBias: true},
}

// sameBut reports how the design b of one record more, at the given place, differs from a in anything else.
func sameBut(a, b *frame.Design, place int) string {
	switch {
	case dense(b).N != dense(a).N+1 || dense(b).D != dense(a).D || len(b.Labels) != dense(b).N:
		return fmt.Sprintf("%d × %d records became %d × %d", dense(a).N, dense(a).D, dense(b).N, dense(b).D)
	case !slices.Equal(a.Steps, b.Steps):
		return fmt.Sprintf("the steps became %q", b.Steps)
	case !slices.Equal(a.Features, b.Features) || a.RowNorm != b.RowNorm || a.DataDependent != b.DataDependent:
		return "features or norm differ"
	}
	for i := range dense(a).N {
		j := i
		if i >= place {
			j++
		}
		for k := range dense(a).D {
			if math.Float64bits(dense(a).At(i, k)) != math.Float64bits(dense(b).At(j, k)) {
				return fmt.Sprintf("record %d: %s is %v and was %v", i+1, a.Features[k], dense(b).At(j, k),
					dense(a).At(i, k))
			}
		}
		if math.Float64bits(a.Labels[i]) != math.Float64bits(b.Labels[j]) {
			return fmt.Sprintf("record %d: the label is %v and was %v", i+1, b.Labels[j], a.Labels[i])
		}
	}
	norms := make([]float64, dense(b).N)
	b.Rows.Norms(norms, 0, dense(b).N)
	if !(floats.Max(norms) <= b.RowNorm) {
		return fmt.Sprintf("a row of norm %v, at most %v was promised", floats.Max(norms), b.RowNorm)
	}
	return ""
}

// oddRecords has, for every odd text and column, a plain record with that text in that column, and one of nothing but
// that text.
func oddRecords() [][]string {
	var out [][]string
	for _, text := range oddTexts {
		for j := range patientHeader {
			r := slices.Clone(patients[0])
			r[j] = text
			out = append(out, r)
		}
		out = append(out, slices.Repeat([]string{text}, len(patientHeader)))
	}
	return out
}

// checkNeighbours tries every odd record at the first, a middle and the last place.
func checkNeighbours(t *testing.T, schema *frame.Schema, read func(records [][]string) (*frame.Table, error)) {
	t.Helper()
	designs := func(records [][]string) []*frame.Design {
		tab, err := read(records)
		if err != nil {
			t.Errorf("%.200q cannot be read: %v", records, err)
			return nil
		}
		var out []*frame.Design
		for _, s := range settingsOf {
			d, err := frame.NewDesign(tab, schema, s)
			if err != nil {
				t.Errorf("%s of %.200q: %v", s.Label, records, err)
				return nil
			}
			out = append(out, d)
		}
		return out
	}
	plain := designs(patients)
	for _, odd := range oddRecords() {
		for _, place := range []int{0, 2, len(patients)} {
			with := designs(slices.Insert(slices.Clone(patients), place, odd))
			if with == nil || plain == nil {
				return
			}
			for k := range with {
				if what := sameBut(plain[k], with[k], place); what != "" {
					t.Fatalf("%s: %.200q at place %d: %s", settingsOf[k].Label, odd, place, what)
				}
			}
		}
	}
}

func TestOneRecordChangesNoOtherOfAFile(t *testing.T) {
	testscale.Slow(t)
	checkNeighbours(t, patientSchema(), func(records [][]string) (*frame.Table, error) {
		return frame.ReadCSV(strings.NewReader(written(t, records)), nil)
	})
}

// In a file without a header line whatever is at its beginning is a record's, and what a record begins with means the
// same on every line.
func TestOneRecordChangesNoOtherOfAFileWithoutHeader(t *testing.T) {
	testscale.Slow(t)
	defer func(p [][]string) { patients = p }(patients)
	patients = [][]string{slices.Clone(patients[0]), slices.Clone(patients[2])}
	for k, begin := range []string{"\ufeff", "\ufeff\ufeff", "\ufeff ", "\ufeff\""} {
		patients[0][0] = begin + "250.10"
		patients[1][0] = begin + "250.20"
		checkNeighbours(t, patientSchema(), func(records [][]string) (*frame.Table, error) {
			_, body, _ := strings.Cut(written(t, records), "\n")
			return frame.ReadCSV(strings.NewReader(body), &frame.CSVSettings{Header: patientHeader})
		})
		if testing.Short() && k == 0 {
			return
		}
	}
}

// The mark of a file in UTF-8 is no part of its first text, quoted or not.
func TestByteOrderMark(t *testing.T) {
	for _, begin := range []string{"\ufeffx,1", "\ufeff\"x\",1"} {
		tab := must.Get(frame.ReadCSV(strings.NewReader(begin+"\nx,0\n"), &frame.CSVSettings{Header: []string{"a",
			"b"}}))
		c, err := tab.Column("a")
		if err != nil || c.Text(0) != "x" || c.Text(1) != "x" {
			t.Errorf("%q: %q, %v", begin, c.Texts, err)
		}
	}
}

// What starts a comment is refused or not by itself, not by whether a quotation mark is in some record.
func TestCommentsThatAreNone(t *testing.T) {
	for _, comment := range []rune{',', '"', '\n', '\r', -1, 0xFFFD, 0xD800, 0x110000} {
		for _, record := range []string{"x,1", "\"x\",1"} {
			_, err := frame.ReadCSV(strings.NewReader("a,b\n"+record+"\n"), &frame.CSVSettings{Comment: comment})
			if err == nil || !strings.Contains(err.Error(), "Comment") {
				t.Errorf("%q: %s: %v", comment, record, err)
			}
		}
	}
}

func ofGota(records [][]string) (*frame.Table, error) {
	return frame.FromDataFrame(func(texts ...dataframe.LoadOption) dataframe.DataFrame {
		return dataframe.LoadRecords(records, texts...)
	})
}

func TestOneRecordChangesNoOtherOfAGotaDataFrame(t *testing.T) {
	checkNeighbours(t, patientSchema(), func(records [][]string) (*frame.Table, error) {
		return ofGota(append([][]string{patientHeader}, records...))
	})
}

// gota guesses the type of a column from all its records: of one with a text "true" it keeps no number. A dataframe of
// which it may have done so is refused, whatever is in it.
func TestGotaGuessesNoType(t *testing.T) {
	for _, last := range []string{"1", "7", "true", "text", ""} {
		records := [][]string{{"x"}, {"0"}, {"7"}, {last}}
		if tab, err := ofGota(records); err != nil {
			t.Errorf("with %q: %v", last, err)
		} else if c, _ := tab.Column("x"); c.Number(0) != 0 || c.Number(1) != 7 {
			t.Errorf("with %q: %q", last, c.Texts)
		} else if got := tab.DataFrame(nil).Col("x"); got.Type() != series.String || got.Elem(1).String() != "7" {
			t.Errorf("with %q: handed back as %v", last, got)
		}
		for door, load := range map[string]func(texts ...dataframe.LoadOption) dataframe.DataFrame{
			"no options": func(...dataframe.LoadOption) dataframe.DataFrame { return dataframe.LoadRecords(records) },
			"an option after them": func(texts ...dataframe.LoadOption) dataframe.DataFrame {
				return dataframe.LoadRecords(records, append(texts, dataframe.DetectTypes(true))...)
			},
			"options for another": func(texts ...dataframe.LoadOption) dataframe.DataFrame {
				dataframe.LoadRecords([][]string{{"x"}, {"0"}}, texts...)
				return dataframe.LoadRecords(records)
			},
		} {
			tab, err := frame.FromDataFrame(load)
			if door == "options for another" && err == nil { // which no type gives away where gota guessed texts
				if c, _ := tab.Column("x"); c.Number(1) == 7 {
					continue
				}
			}
			if err == nil || !strings.Contains(err.Error(), "options") {
				t.Errorf("%s: gota guesses from %q: %v", door, last, err)
			}
		}
	}
}
