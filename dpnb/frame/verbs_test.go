package frame_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// scanned is the table as a file that is scanned in chunks of three rows.
func scanned(t *testing.T, text string) frame.Scanner {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.csv")
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	return must.Get(frame.ScanCSV(path, &frame.CSVSettings{ChunkRows: 3}))
}

// verbs that the tests try.
var verbs = map[string]func(frame.Scanner) (frame.Scanner, error){
	"select": func(s frame.Scanner) (frame.Scanner, error) { return frame.Select(s, "city", "name") },
	"drop":   func(s frame.Scanner) (frame.Scanner, error) { return frame.Drop(s, "age") },
	"rename": func(s frame.Scanner) (frame.Scanner, error) { return frame.Rename(s, "age", "years") },
	"where": func(s frame.Scanner) (frame.Scanner, error) {
		return frame.Where(s, func(r frame.Row) bool { return r.Number("age") > 20 && r.Text("city") != "Rome" }, "age",
			"city")
	},
	"nobody": func(s frame.Scanner) (frame.Scanner, error) {
		return frame.Where(s, func(frame.Row) bool { return false }, "age")
	},
	"complete": func(s frame.Scanner) (frame.Scanner, error) { return frame.DropMissing(s) },
	"number": func(s frame.Scanner) (frame.Scanner, error) {
		return frame.DeriveNumber(s, "decades", func(r frame.Row) float64 { return r.Number("age") / 10 }, "age")
	},
	"text": func(s frame.Scanner) (frame.Scanner, error) {
		return frame.DeriveText(s, "known", func(r frame.Row) string {
			if r.Missing("city") {
				return "no"
			}
			return "yes"
		}, "city")
	},
	"first": func(s frame.Scanner) (frame.Scanner, error) { a, _, err := frame.Split(s, 0.4, "key"); return a, err },
	"rest":  func(s frame.Scanner) (frame.Scanner, error) { _, b, err := frame.Split(s, 0.4, "key"); return b, err },
	"both": func(s frame.Scanner) (frame.Scanner, error) {
		s, err := frame.Rename(s, "city", "town")
		if err != nil {
			return nil, err
		}
		return frame.DeriveText(s, "initial", func(r frame.Row) string { return r.Text("town") + "!" }, "town")
	},
}

// A verb makes the same of a table that is scanned as of one in memory.
func TestVerbsOfScans(t *testing.T) {
	text := people + strings.Repeat("Eva,44,Oslo,high\nFay,?,Rome,low\nGus,70,,low\n", 5)
	for name, verb := range verbs {
		whole, err := verb(table(t, text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, err := verb(scanned(t, text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Run(name, func(t *testing.T) { checkScan(t, s, whole.(*frame.Table)) })
	}
	both, _ := verbs["number"](table(t, people))
	c, _ := both.(*frame.Table).Column("decades")
	if c.Number(0) != 3.1 || !math.IsNaN(c.Number(1)) {
		t.Errorf("%v", c.Numbers)
	}
}

// Where rows stand, and which others there are, changes nothing of what a verb makes of one.
func TestVerbsAreOfRows(t *testing.T) {
	lines := strings.SplitAfter(strings.TrimSpace(people)+"\nEva,44,Oslo,high\nFay,?,Rome,low\n", "\n")
	lines = lines[:len(lines)-1]
	rows := func(name string, lines []string) []string {
		s := must.Get(verbs[name](table(t, lines[0]+strings.Join(lines[1:], ""))))
		whole := s.(*frame.Table)
		var out []string
		for i := range whole.Rows() {
			var row []string
			for _, n := range whole.Names() {
				c, _ := whole.Column(n)
				row = append(row, c.Text(i))
			}
			out = append(out, strings.Join(row, "|"))
		}
		slices.Sort(out)
		return out
	}
	for name := range verbs {
		all := rows(name, lines)
		backward := slices.Clone(lines[1:])
		slices.Reverse(backward)
		if got := rows(name, append([]string{lines[0]}, backward...)); !slices.Equal(got, all) {
			t.Errorf("%s: %q, in another order %q", name, all, got)
		}
		for k := 1; k < len(lines); k++ {
			less := rows(name, slices.Delete(slices.Clone(lines), k, k+1))
			if n := len(all) - len(less); n != 0 && n != 1 {
				t.Errorf("%s: one row less is %d less", name, n)
			}
			for _, r := range less {
				if !slices.Contains(all, r) {
					t.Errorf("%s: a row became %q", name, r)
				}
			}
		}
	}
}

// The parts of a split are as large as was asked, are together the whole, and keep together what agrees in the columns
// that are named.
func TestSplit(t *testing.T) {
	whole := tall(t, 4000)
	a, b := must.Two(frame.Split(whole, 0.3, "k"))
	n := a.(*frame.Table).Rows()
	// Four standard deviations of 29: a fair split fails once in 16,000 keys, and this key is one.
	if n+b.(*frame.Table).Rows() != 4000 || !(math.Abs(float64(n)-1200) <= 116) {
		t.Errorf("%d and %d rows", n, b.(*frame.Table).Rows())
	}
	other, _, _ := frame.Split(whole, 0.3, "l")
	x, _ := a.(*frame.Table).Column("number")
	y, _ := other.(*frame.Table).Column("number")
	both := 0
	for _, v := range x.Numbers {
		if slices.Contains(y.Numbers, v) {
			both++
		}
	}
	if both < n/5 || both > 2*n/5 { // 0.3 of them by chance
		t.Errorf("another key: %d of %d are the same", both, n)
	}
	a, b, _ = frame.Split(whole, 0.5, "k", "text")
	in, _ := a.(*frame.Table).Column("text")
	out, _ := b.(*frame.Table).Column("text")
	for _, text := range in.Texts {
		if slices.Contains(out.Texts, text) {
			t.Fatalf("%q is in both parts", text)
		}
	}
	// A space makes nobody another person, as for PerPerson.
	spaced := must.Get(frame.NewTable(frame.Column{Name: "who", Kind: frame.Categorical,
		Texts: slices.Repeat([]string{"a", " a", "a\t", "a\u00a0"}, 8)}))
	a, b = must.Two(frame.Split(spaced, 0.5, "k", "who"))
	if a.(*frame.Table).Rows() > 0 && b.(*frame.Table).Rows() > 0 {
		t.Error("rows of a are in both parts")
	}
	// Nor does the format of a file: who is a text in one and a number in another is in one part of both.
	numbers, texts := frame.Column{Name: "who"}, frame.Column{Name: "who", Kind: frame.Categorical}
	for i := range 64 {
		v := float64(i*i*i - 7)
		numbers.Numbers, texts.Texts = append(numbers.Numbers, v), append(texts.Texts, fmt.Sprintf("%.0f", v))
	}
	a, _ = must.Two(frame.Split(must.Get(frame.NewTable(numbers)), 0.5, "k", "who"))
	b, _ = must.Two(frame.Split(must.Get(frame.NewTable(texts)), 0.5, "k", "who"))
	in, out = must.Get(a.(*frame.Table).Column("who")), must.Get(b.(*frame.Table).Column("who"))
	var written []string
	for i := range in.Numbers {
		written = append(written, in.Text(i))
	}
	if !slices.Equal(written, out.Texts) {
		t.Errorf("%q of numbers, %q of texts", written, out.Texts)
	}
}

func TestVerbsBadInput(t *testing.T) {
	s := table(t, people)
	number := func(frame.Row) float64 { return 1 }
	for name, f := range map[string]func() (frame.Scanner, error){
		"select":  func() (frame.Scanner, error) { return frame.Select(s, "no such") },
		"none":    func() (frame.Scanner, error) { return frame.Select(s) },
		"drop":    func() (frame.Scanner, error) { return frame.Drop(s, "no such") },
		"all":     func() (frame.Scanner, error) { return frame.Drop(s, s.Names()...) },
		"rename":  func() (frame.Scanner, error) { return frame.Rename(s, "no such", "x") },
		"taken":   func() (frame.Scanner, error) { return frame.Rename(s, "age", "city") },
		"empty":   func() (frame.Scanner, error) { return frame.Rename(s, "age", "") },
		"derive":  func() (frame.Scanner, error) { return frame.DeriveNumber(s, "age", number, "city") },
		"of none": func() (frame.Scanner, error) { return frame.DeriveNumber(s, "x", number) },
		"where":   func() (frame.Scanner, error) { return frame.Where(s, nil, "no such") },
		"share":   func() (frame.Scanner, error) { a, _, err := frame.Split(s, 1, ""); return a, err },
		"by":      func() (frame.Scanner, error) { a, _, err := frame.Split(s, 0.5, "", "no such"); return a, err },
	} {
		var in *frame.InputError
		if _, err := f(); !errors.As(err, &in) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is wrong with a rule is said whatever is in the table; what a record does to a rule is said of none.
func TestRulesThatFail(t *testing.T) {
	const head = "name,age,city,income\n"
	for name, rule := range map[string]func(frame.Row) bool{
		"another column":           func(r frame.Row) bool { return r.Text("city") == "" },
		"another column of grown":  func(r frame.Row) bool { return r.Number("age") > 20 && r.Text("city") == "" },
		"another column of no age": func(r frame.Row) bool { return r.Missing("age") && r.Text("city") == "" },
		"the first letter":         func(r frame.Row) bool { return r.Text("age")[:1] == "3" },
		"no rule":                  nil,
	} {
		for _, text := range []string{head, people} {
			var in *frame.InputError
			if _, err := frame.Where(table(t, text), rule, "age"); !errors.As(err, &in) {
				t.Errorf("%s of %q: %v", name, text, err)
			}
		}
	}
	odd := func(r frame.Row) string {
		if r.Number("age") == 64 {
			panic("a record that no one foresaw")
		}
		return r.Text("age")
	}
	for kind, s := range map[string]frame.Scanner{"memory": table(t, people), "scan": scanned(t, people)} {
		here := must.Get(frame.Where(s, func(r frame.Row) bool { return odd(r) != "" }, "age"))
		if tab, err := frame.Collect(here, nil); err != nil || tab.Rows() != 2 {
			t.Errorf("%s: %v, %v", kind, tab, err)
		}
		texts := must.Get(frame.DeriveText(s, "x", odd, "age"))
		tab := must.Get(frame.Collect(texts, []string{"x"}))
		if c, _ := tab.Column("x"); c.Text(0) != "31" || c.Text(2) != "" || c.Text(3) != "18" {
			t.Errorf("%s: %q", kind, c.Texts)
		}
	}
}

// Keys that float64 does not tell apart are the same by their texts alone.
func TestJoinOfLargeNumbers(t *testing.T) {
	public := table(t, "k,x\n9007199254740993,1\n7,2\n")
	public.Source.Public = true
	s := must.Get(frame.Join(table(t, "k\n9007199254740992\n9007199254740993\n7.0\n"), public, "k",
		frame.NumericField("x", 0, 9)))
	x := must.Get(s.(*frame.Table).Column("x")).Numbers
	if !math.IsNaN(x[0]) || x[1] != 1 || x[2] != 2 {
		t.Error(x)
	}
}
