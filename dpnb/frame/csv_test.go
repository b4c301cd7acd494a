package frame_test

import (
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// writtenWith writes records separated by comma, in the given encoding (nil is UTF-8).
func writtenWith(t *testing.T, records [][]string, comma rune, e encoding.Encoding) string {
	t.Helper()
	var b strings.Builder
	w := csv.NewWriter(&b)
	if w.Comma = comma; w.WriteAll(records) != nil {
		t.Fatal(w.Error())
	}
	if e == nil {
		return b.String()
	}
	return must.Get(e.NewEncoder().String(b.String()))
}

// However a file is written, its texts and numbers are the same once the settings say how.
func TestCSVAsItComes(t *testing.T) {
	records := [][]string{{"name", "weight", "city"}, {"Zoë", "1234,5", "Köln"}, {"Åsa; or \"Å\"", "-0,25", "Genf"},
		{"x\ny", "1e3", "?"}}
	want := must.Get(frame.ReadCSV(strings.NewReader(writtenWith(t, records, ',', nil)),
		&frame.CSVSettings{Decimal: ','}))
	little := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	for name, c := range map[string]struct {
		text     string
		settings frame.CSVSettings
	}{
		"semicolons": {writtenWith(t, records, ';', nil), frame.CSVSettings{Comma: ';'}},
		"tabs":       {writtenWith(t, records, '\t', nil), frame.CSVSettings{Comma: '\t'}},
		"a far mark": {writtenWith(t, records, '¦', nil), frame.CSVSettings{Comma: '¦'}},
		"marked":     {"\ufeff" + writtenWith(t, records, ',', nil), frame.CSVSettings{}},
		"Latin-1": {writtenWith(t, records, ';', charmap.ISO8859_1),
			frame.CSVSettings{Comma: ';', Encoding: "latin-1"}},
		"Windows-1252": {writtenWith(t, records, ',', charmap.Windows1252),
			frame.CSVSettings{Encoding: "Windows-1252"}},
		"UTF-16": {writtenWith(t, records, ';', little), frame.CSVSettings{Comma: ';', Encoding: "UTF-16"}},
		"UTF-16BE": {writtenWith(t, records, ',', unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)),
			frame.CSVSettings{Encoding: "UTF-16BE"}},
		"title": {"A title, \"with\" anything\n\n" + writtenWith(t, records, ',', nil), frame.CSVSettings{Skip: 2}},
		"renamed": {"n,weight,c\n" + writtenWith(t, records[1:], ',', nil),
			frame.CSVSettings{Rename: map[string]string{"n": "name", "c": "city"}}},
		"named": {"weight,weight,\n" + writtenWith(t, records[1:], ',', nil),
			frame.CSVSettings{Header: records[0], Skip: 1}},
	} {
		c.settings.Decimal = ','
		got, err := frame.ReadCSV(strings.NewReader(c.text), &c.settings)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sameTables(t, name, got, want)
		path := filepath.Join(t.TempDir(), "a.csv")
		must.Do(os.WriteFile(path, []byte(c.text), 0o600))
		c.settings.ChunkRows = 2
		scanner, err := frame.ScanCSV(path, &c.settings)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkScan(t, scanner, got)
	}
}

// sameTables wants the same names, texts and numbers.
func sameTables(t *testing.T, name string, got, want *frame.Table) {
	t.Helper()
	if !slices.Equal(got.Names(), want.Names()) || got.Rows() != want.Rows() {
		t.Fatalf("%s: %d rows of %q, want %d of %q", name, got.Rows(), got.Names(), want.Rows(), want.Names())
	}
	for _, n := range want.Names() {
		a, _ := got.Column(n)
		b, _ := want.Column(n)
		for i := range want.Rows() {
			x, y := a.Number(i), b.Number(i)
			if a.Text(i) != b.Text(i) || x != y && !(math.IsNaN(x) && math.IsNaN(y)) {
				t.Fatalf("%s: %s of row %d is %q, %v; want %q, %v", name, n, i, a.Text(i), x, b.Text(i), y)
			}
		}
	}
}

func TestNumbersAsTheyAreWritten(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		decimal, thousands rune
		text               string
		want               float64
	}{
		{0, 0, "1.5", 1.5}, {0, 0, "1,5", nan}, {',', 0, "1,5", 1.5}, {',', 0, "1.5", nan}, {',', 0, "1,5.2", nan},
		{',', 0, "-1,5e-3", -1.5e-3}, {',', '.', "1.234.567,5", 1234567.5}, {',', '.', "-1.234", -1234},
		{',', '.', "1.23", nan}, {',', '.', "1234.567", nan}, {',', '.', ".123", nan}, {',', '.', "1..234", nan},
		{',', '.', "1.234.", nan}, {',', '.', "1,234.567", nan}, {',', '.', "12", 12}, {'.', ',', "1,234.5", 1234.5},
		{'.', '\'', "1'234'567", 1234567}, {'.', ' ', "1\u202f234\u00a0567 ", 1234567}, {'.', ' ', "1 23", nan},
		{'.', ',', "1,234e2", nan}, {',', '.', "+1.000,25", 1000.25}, {',', '.', "1e999", math.Inf(1)},
		{',', '.', "", nan}, {',', '.', ",5", 0.5}, {',', '.', "x", nan},
	} {
		tab := must.Get(frame.ReadCSV(strings.NewReader("a\tb\n"+c.text+"\tx\n"),
			&frame.CSVSettings{Comma: '\t', Decimal: c.decimal, Thousands: c.thousands}))
		column, _ := tab.Column("a")
		if got := column.Number(0); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%q with %q and %q is %v, want %v", c.text, c.decimal, c.thousands, got, c.want)
		}
	}
}

// What is wrong with a file or the settings names the line, what was found and the setting.
func TestCSVErrorsNameTheSetting(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		settings frame.CSVSettings
		want     []string
	}{
		"UTF-16":     {"\xff\xfea\x00", frame.CSVSettings{}, []string{`Encoding: "UTF-16"`}},
		"no mark":    {"a\x00,\x00b\x00\n\x00", frame.CSVSettings{}, []string{`Encoding: "UTF-16LE"`}},
		"Latin-1":    {"k\xf6ln,b\n", frame.CSVSettings{}, []string{`Encoding: "Windows-1252"`}},
		"semicolons": {"SECRET;b\n1;2\n", frame.CSVSettings{}, []string{"&CSV{Comma: ';'}", "Decimal: ','"}},
		"commas":     {"a,b\n1,2\n", frame.CSVSettings{Comma: ';'}, []string{"Comma: ','"}},
		"short":      {"\na,b\n1,2\n3\n", frame.CSVSettings{Skip: 1}, []string{"line 4", "1 fields", "has 2", "Comma"}},
		"long":       {"a,b\n1,2\n1,SECRET,3\n", frame.CSVSettings{PlainQuotes: true}, []string{"line 3", "3 fields"}},
		"empty":      {"", frame.CSVSettings{}, []string{"empty"}},
		"ragged":     {"a,b\n1,2\nSECRET\n", frame.CSVSettings{}, []string{"line 3"}},
		"bare quote": {"t\na,b\n1,2\nSEC\"RET,3\n", frame.CSVSettings{Skip: 1}, []string{"line 4", "PlainQuotes"}},
		"open quote": {"a,b\n1,2\n\"SECRET,3\n4,5\n", frame.CSVSettings{}, []string{"line 3", "PlainQuotes"}},
		"duplicates": {"SECRET,b,SECRET\n", frame.CSVSettings{}, []string{"columns 1 and 3", "NumberDuplicates"}},
		"nameless":   {"a,\n", frame.CSVSettings{}, []string{"column 2", "Header", "Skip"}},
		"renamed": {"a,b\n", frame.CSVSettings{Rename: map[string]string{"c": "d"}},
			[]string{"Rename", `"c"`, "a, b"}},
		"twice": {"a,b\n", frame.CSVSettings{Rename: map[string]string{"a": "b"}},
			[]string{"two columns", `"b"`}},
		"skipped all": {"a,b\n", frame.CSVSettings{Skip: 3}, []string{"Skip: 3"}},
		"skip":        {"a\n", frame.CSVSettings{Skip: -1}, []string{"Skip"}},
		"encoding":    {"a\n", frame.CSVSettings{Encoding: "EBCDIC"}, []string{"EBCDIC", "Latin-1"}},
		"no header":   {"a\n", frame.CSVSettings{Encoding: "UTF-16", Header: []string{"a"}}, []string{"UTF-16LE"}},
		"decimal":     {"a\n", frame.CSVSettings{Decimal: '1'}, []string{"Decimal"}},
		"thousands":   {"a\n", frame.CSVSettings{Decimal: ',', Thousands: ','}, []string{"Thousands", "Decimal"}},
		"comma":       {"a\n", frame.CSVSettings{Comma: '"'}, []string{"Comma"}},
		"comment":     {"a\n", frame.CSVSettings{Comma: ';', Comment: ';'}, []string{"Comment"}},
		"chunk":       {"a\n", frame.CSVSettings{ChunkRows: -1}, []string{"ChunkRows"}},
		"both": {"a\n", frame.CSVSettings{Header: []string{"a"}, Rename: map[string]string{}},
			[]string{"Rename"}},
	} {
		_, err := frame.ReadCSV(strings.NewReader(c.text), &c.settings)
		var in *frame.InputError
		if !errors.As(err, &in) || strings.Contains(err.Error(), "SEC") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not mention %q", name, err, w)
			}
		}
	}
}

func TestDuplicateNamesAreNumbered(t *testing.T) {
	tab, err := frame.ReadCSV(strings.NewReader("a,a.2,a,b,a\n1,2,3,4,5\n"), &frame.CSVSettings{NumberDuplicates: true})
	if err != nil || !slices.Equal(tab.Names(), []string{"a", "a.2", "a.3", "b", "a.4"}) {
		t.Fatal(tab.Names(), err)
	}
}

// The rule of one record holds for files in every form.
func TestOneRecordChangesNoOtherOfAFileOfAnyForm(t *testing.T) {
	testscale.Slow(t)
	for _, c := range []struct {
		settings frame.CSVSettings
		encoding encoding.Encoding
	}{
		{frame.CSVSettings{Comma: ';', Decimal: ',', Thousands: '.'}, nil},
		{frame.CSVSettings{Comma: '\t', Encoding: "UTF-16"}, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
		{frame.CSVSettings{Comma: ';', Encoding: "UTF-16LE", Header: patientHeader, Skip: 1},
			unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	} {
		checkNeighbours(t, patientSchema(), func(records [][]string) (*frame.Table, error) {
			text := writtenWith(t, append([][]string{patientHeader}, records...), c.settings.Comma, c.encoding)
			return frame.ReadCSV(strings.NewReader(text), &c.settings)
		})
		if testing.Short() {
			return
		}
	}
	// Without quotation marks a line is a record, whatever marks it has.
	texts := oddTexts
	defer func() { oddTexts = texts }()
	oddTexts = slices.DeleteFunc(append(slices.Clone(texts), `"`, `x"y`, `"x`), func(s string) bool {
		return strings.ContainsAny(s, "\t\r\n")
	})
	checkNeighbours(t, patientSchema(), func(records [][]string) (*frame.Table, error) {
		var b strings.Builder
		for _, r := range append([][]string{patientHeader}, records...) {
			b.WriteString(strings.Join(r, "\t") + "\n")
		}
		return frame.ReadCSV(strings.NewReader(b.String()), &frame.CSVSettings{Comma: '\t', PlainQuotes: true})
	})
}

// A file that is not there is named, and one that is changed between two scans is not taken for what it was.
func TestChangedFile(t *testing.T) {
	if _, err := frame.ReadCSVFile("gone.csv", nil); err == nil || !strings.Contains(err.Error(), "gone.csv") {
		t.Errorf("a wrong path: %v", err)
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	write := func(text string) {
		must.Do(os.WriteFile(path, []byte(text), 0o600))
	}
	write("a\n1\n")
	s := must.Get(frame.ScanCSV(path, nil))
	write("a\n1\n2\n")
	err := s.Scan(nil, func(*frame.Table) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("%v", err)
	}
}

// A table that is sorted is read as it was: with the decimal mark and the texts for what is missing of its file.
func TestSortedIsReadAsBefore(t *testing.T) {
	tab := must.Get(frame.ReadCSV(strings.NewReader("x\n?\n2,5\n1,5\n"), &frame.CSVSettings{Comma: ';', Decimal: ','}))
	tab.Source.Public = true
	c := must.Get(must.Get(frame.Sorted(tab, "x", false)).Column("x"))
	if c.Number(0) != 1.5 || c.Number(1) != 2.5 || c.Text(2) != "" {
		t.Error(c.Number(0), c.Number(1), c.Text(2))
	}
}
