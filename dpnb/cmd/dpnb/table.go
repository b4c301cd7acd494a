package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// tableFlags say how a file of records is read, for every command that reads one.
type tableFlags struct {
	csv                                    frame.CSVSettings
	separator, decimal, thousands, comment string
	columnar                               parquet.Settings
	given                                  *pflag.FlagSet
	// chunkRows are read at a time; 0 is as many as the reader likes.
	chunkRows int
}

// add adds the flags to those of a command.
func (t *tableFlags) add(f *pflag.FlagSet) {
	t.given = f
	f.StringVar(&t.separator, "separator", ",", "`character` between two fields, or tab")
	f.StringVar(&t.decimal, "decimal", ".", "`mark` before the decimals of a number")
	f.StringVar(&t.thousands, "thousands", "", "`mark` between groups of three digits, or space (default none)")
	f.StringVar(&t.comment, "comment", "", "`character` that lines start with which are skipped (default none)")
	f.StringVar(&t.csv.Encoding, "encoding", "UTF-8", "`name` of the encoding: UTF-8, UTF-16, Latin-1, Windows-1252")
	f.IntVar(&t.csv.Skip, "skip", 0, "`number` of lines before the header")
	f.StringSliceVar(&t.csv.Header, "header", nil, "`names` of the columns of a file without a header")
	f.StringToStringVar(&t.csv.Rename, "rename", nil, "new names of columns, as `old=new`")
	f.BoolVar(&t.csv.NumberDuplicates, "number-duplicates", false, "tell columns of one name apart: x, x.2, x.3")
	f.BoolVar(&t.csv.PlainQuotes, "plain-quotes", false, "quotation marks are characters like others")
	f.StringVar(&t.csv.TrimSuffix, "trim-suffix", "", "`text` that is cut from the end of every text")
	f.StringSliceVar(&t.csv.Missing, "missing", nil, "`texts` that mean \"missing\" (default ?, NA, NaN)")
	f.StringSliceVar(&t.columnar.Texts, "texts", nil, "`columns` of whole numbers in a Parquet file that are texts")
}

// open returns the table of a CSV, Parquet or Arrow file, which is read by its first bytes and not held in memory; or
// of all files that a pattern names, in the order of their names.
func (t *tableFlags) open(path string) (frame.Scanner, error) {
	files, err := t.files(path)
	if err != nil {
		return nil, err
	}
	return frame.Together(files...)
}

// missingAsFitted has the texts mean "missing" that did where a model was fitted, unless --missing says which do. What
// it returns says so.
func (t *tableFlags) missingAsFitted(m *learn.Model, model, path string) (said string) {
	texts := m.MissingTexts()
	if texts == nil || t.given.Changed("missing") || parquet.Columnar(path) {
		return ""
	}
	t.csv.Missing = texts
	return fmt.Sprintf("As where %s was fitted, these texts mean \"missing\": %s. (--missing says otherwise.)\n", model,
		strings.Join(texts, ", "))
}

// files returns the tables of the files that are one table.
func (t *tableFlags) files(path string) (files []frame.Scanner, err error) {
	if err := t.settings(); err != nil {
		return nil, err
	}
	paths := []string{path}
	if _, err := os.Stat(path); err != nil {
		if found, _ := filepath.Glob(path); len(found) > 0 { // else it is told that there is no such file
			paths = found
			fmt.Fprintf(os.Stderr, "%s names %s.\n", path, strings.Join(found, ", "))
		}
	}
	for _, path := range paths {
		if err := t.suits(path); err != nil {
			return nil, err
		}
		file, err := parquet.OpenAny(path, &t.columnar, &t.csv)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// misfits shows what does not fit a schema, of each of several files that has such values by its name, and says how
// many kinds of that there are.
func (t *tableFlags) misfits(path string, s *frame.Schema) (text string, n int, err error) {
	files, err := t.files(path)
	if err == nil {
		_, err = frame.Together(files...)
	}
	for i, file := range files {
		check := learn.FromScanner(file, err).Knowing(s).Check()
		if err := check.Err(); err != nil {
			return "", 0, err
		}
		it := check.Display()
		if len(check.Misfits) == 0 {
			it.Header = nil
		}
		if len(files) > 1 && len(check.Misfits) > 0 {
			it.Title += ", in " + file.Origin().Name
		}
		if n > 0 {
			it.Warning = "" // it is at the top
		}
		if n += len(check.Misfits); len(check.Misfits) > 0 || n == 0 && i == len(files)-1 {
			text += it.Text()
		}
	}
	return text, n, err
}

// suits refuses flags that say nothing of the format of a file.
func (t *tableFlags) suits(path string) error {
	names, of, is := []string{"texts"}, "Parquet and Arrow files", "none"
	if parquet.Columnar(path) {
		names = []string{"separator", "decimal", "thousands", "comment", "encoding", "skip", "header", "rename",
			"number-duplicates", "plain-quotes", "trim-suffix", "missing"}
		of, is = "CSV files", "a Parquet or Arrow file"
	}
	for _, name := range names {
		if t.given != nil && t.given.Changed(name) {
			return fmt.Errorf("--%s is for %s, and %s is %s: leave it out", name, of, path, is)
		}
	}
	return nil
}

// settings reads the flags that are words.
func (t *tableFlags) settings() error {
	for _, m := range []struct {
		flag, text string
		to         *rune
	}{{"separator", t.separator, &t.csv.Comma}, {"decimal", t.decimal, &t.csv.Decimal},
		{"thousands", t.thousands, &t.csv.Thousands}, {"comment", t.comment, &t.csv.Comment}} {
		switch {
		case m.text == "tab" || m.text == `\t`:
			*m.to = '\t'
		case m.text == "space":
			*m.to = ' '
		case utf8.RuneCountInString(m.text) > 1:
			return fmt.Errorf("--%s %q: give it one character, or the word tab or space", m.flag, m.text)
		case m.text != "":
			*m.to, _ = utf8.DecodeRuneInString(m.text)
		}
	}
	t.csv.ChunkRows, t.columnar.ChunkRows = t.chunkRows, t.chunkRows
	return nil
}
