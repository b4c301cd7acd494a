package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// studied is a public table of a study.
type studied struct {
	Name, Task, Label, Positive string
	// lines are the records, header their columns; known gives a table its schema.
	header string
	lines  []string
	known  func(df learn.DataFrame) learn.DataFrame
}

// adult are the records of the Adult data, both files as one table.
func adult(dir string) (studied, error) {
	settings := dataset.AdultCSV()
	t := studied{Name: "adult", Task: "two classes", Label: "income", Positive: ">50K",
		header: strings.Join(settings.Header, ","), known: func(df learn.DataFrame) learn.DataFrame {
			return df.WithSchema(dataset.AdultSchema().Fields...)
		}}
	for _, file := range dataset.Sets["adult"] {
		content, err := os.ReadFile(filepath.Join(dir, file.Name))
		if err != nil {
			return t, err
		}
		for _, line := range strings.Split(string(content), "\n") {
			if line = strings.TrimSpace(line); line != "" && line[0] != byte(settings.Comment) {
				t.lines = append(t.lines, strings.TrimSuffix(line, settings.TrimSuffix))
			}
		}
	}
	return t, nil
}

// studiedIn returns the tables of a folder.
func studiedIn(dir string) (tables []studied, err error) {
	content, err := os.ReadFile(filepath.Join(dir, "tables.json"))
	if errors.Is(err, fs.ErrNotExist) {
		if t, e := adult(dir); e == nil {
			return []studied{t}, nil
		}
		return nil, fmt.Errorf("%s has no tables.json, and not the files of the Adult data: %w", dir, err)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &tables); err != nil {
		return nil, fmt.Errorf("%s: tables.json: %w", dir, err)
	}
	for i := range tables {
		t := &tables[i]
		if t.Task != twoClasses && t.Task != aNumber {
			return nil, fmt.Errorf("%s: the task is %q, want %q or %q", t.Name, t.Task, twoClasses, aNumber)
		}
		content, err := readTable(filepath.Join(dir, t.Name+".csv"))
		if err != nil {
			return nil, err
		}
		lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
		t.header, t.lines = lines[0], lines[1:]
		t.known = func(df learn.DataFrame) learn.DataFrame {
			return df.WithSchemaFile(filepath.Join(dir, t.Name+".schema.json"))
		}
	}
	return tables, nil
}

// readTable reads a file, or the same with .gz.
func readTable(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err == nil {
		return content, nil
	}
	f, err := os.Open(path + ".gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

const twoClasses, aNumber = "two classes", "a number"

func (t *studied) options(more ...learn.Option) []learn.Option {
	if t.Positive != "" {
		more = append(more, learn.Positive(t.Positive))
	}
	return more
}

func (t *studied) records(df learn.DataFrame, more ...learn.Option) *learn.Dataset {
	if t.Task == twoClasses {
		return learn.Binary(df, t.Label, t.options(more...)...)
	}
	return learn.Regression(df, t.Label, t.options(more...)...)
}

// split is a table in two parts.
type split struct {
	*studied
	train, test learn.DataFrame
	// centred and tested are the two as rows that are centred by what is public.
	centred, tested *learn.Dataset
	// trained is how many records train has; scale and truth are of the labels of test that are numbers.
	trained int
	scale   frame.Target
	truth   []float64
}

// split returns the parts of split s: record i is one to score on if FNV-1a of "s:i" is 0 modulo 5.
func (t *studied) split(s int) (out split, err error) {
	parts := [2]*bytes.Buffer{bytes.NewBufferString(t.header + "\n"), bytes.NewBufferString(t.header + "\n")}
	for i, line := range t.lines {
		h := fnv.New32a()
		fmt.Fprintf(h, "%d:%d", s, i)
		at := 0
		if h.Sum32()%5 == 0 {
			at = 1
		} else {
			out.trained++
		}
		parts[at].WriteString(line + "\n")
	}
	var tables [2]*frame.Table
	var frames [2]learn.DataFrame
	for k, part := range parts {
		if tables[k], err = frame.ReadCSV(part, nil); err != nil {
			return out, err
		}
		tables[k].Source.Name = fmt.Sprintf("%s, split %d", t.Name, s)
		frames[k] = t.known(learn.FromTable(tables[k])).Public()
		if err := frames[k].Err(); err != nil {
			return out, err
		}
	}
	out.studied, out.train, out.test = t, frames[0], frames[1]
	out.centred, out.tested = t.records(out.train, learn.Lines()), t.records(out.test, learn.Lines())
	_, schema, err := out.test.Known()
	if err != nil || t.Task == twoClasses {
		return out, err
	}
	field, ok := schema.Field(t.Label)
	column, err := tables[1].Column(t.Label)
	if err != nil || !ok {
		return out, errors.Join(err, fmt.Errorf("the schema has no %q", t.Label))
	}
	out.scale = frame.Target{Task: frame.Number, Lower: field.Lower, Upper: field.Upper, Log: field.Log}
	for i := range tables[1].Rows() {
		out.truth = append(out.truth, out.scale.Label(column.Number(i)))
	}
	return out, nil
}

// score is the AUC of two classes and the R² of a number, on the logarithmic scale if the schema has it on one.
func (s split) score(m *learn.Model) (float64, error) {
	if s.Task == twoClasses {
		return m.AUC(s.tested)
	}
	predicted, err := m.Predict(s.tested)
	if err != nil {
		return 0, err
	}
	var truth, at []float64
	for i, y := range s.truth {
		if !math.IsNaN(y) {
			truth, at = append(truth, y), append(at, s.scale.Label(predicted[i]))
		}
	}
	return stat.RSquaredFrom(at, truth, nil), nil
}
