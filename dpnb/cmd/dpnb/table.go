package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/learn"
)

// tableFlags say how a file of records is read, for every command that reads one.
type tableFlags struct {
	csv                                    frame.CSVSettings
	separator, decimal, thousands, comment string
	columnar                               parquet.Settings
	given                                  *pflag.FlagSet
	// opened are the files that are one table, once they were opened.
	opened []frame.Scanner
	// chunkRows are read at a time; 0 is as many as the reader likes.
	chunkRows int
}

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
	f.StringVar(&t.csv.TrimPrefix, "trim-prefix", "", "`text` that is cut from the beginning of every text, also "+
		"after a minus sign, such as £")
	f.StringSliceVar(&t.csv.Missing, "missing", nil, "`texts` that mean \"missing\" (default ?, NA, NaN)")
	f.StringSliceVar(&t.columnar.Texts, "texts", nil, "`columns` of whole numbers in a Parquet file that are texts")
}

// open returns the table of a CSV, Parquet or Arrow file, which is read by its first bytes and not held in memory; or
// of all files that a pattern names, in the order of their names.
func (t *tableFlags) open(path string) (frame.Scanner, error) {
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
	t.opened = nil
	for _, path := range paths {
		if err := t.suits(path); err != nil {
			return nil, err
		}
		file, err := parquet.OpenAny(path, &t.columnar, &t.csv)
		if err != nil {
			return nil, err
		}
		t.opened = append(t.opened, file)
	}
	return frame.Together(t.opened...)
}

// asFitted has a file be read as the one was that a model was fitted to, but for what flags say of it. What it returns
// says so.
func (t *tableFlags) asFitted(m *learn.Model, model, path string) (said string, err error) {
	r := m.Reading()
	if r == nil || parquet.Columnar(path) {
		return "", nil
	}
	if t.given.Changed("header") { // one of them names the columns
		r.Rename = nil
	}
	if t.given.Changed("rename") {
		r.Header = nil
	}
	var used []string
	for _, flag := range flagsOf(r) {
		if t.given.Changed(flag[0]) {
			continue
		}
		// Not by the set of flags, for which it would be one that was given.
		if err := t.given.Lookup(flag[0]).Value.Set(flag[1]); err != nil {
			return "", fmt.Errorf("%s: how its table was read: %w", model, err)
		}
		used = append(used, flagText(flag))
	}
	if r.Missing != nil && len(r.Missing) == 0 && !t.given.Changed("missing") { // which no flag says
		t.csv.Missing = r.Missing
		used = append(used, "without texts that mean \"missing\"")
	}
	if used == nil {
		return "", nil
	}
	return fmt.Sprintf("%s is read as the table of %s was, %s; the same flags say otherwise.\n", path, model,
		strings.Join(used, " ")), nil
}

// csvFlags are those of CSV files.
var csvFlags = []string{"separator", "decimal", "thousands", "comment", "encoding", "skip", "header", "rename",
	"number-duplicates", "plain-quotes", "trim-suffix", "trim-prefix", "missing"}

// flagsOf are the flags that say what settings do, in the order of csvFlags, each with its value.
func flagsOf(r *frame.CSVSettings) (flags [][2]string) {
	mark := func(c rune) string {
		return cmp.Or(map[rune]string{0: "", '\t': "tab", ' ': "space"}[c], strings.Trim(string(c), "\x00"))
	}
	only := func(is bool, text string) string {
		if !is {
			return ""
		}
		return text
	}
	var renamed []string
	for _, old := range slices.Sorted(maps.Keys(r.Rename)) {
		renamed = append(renamed, old+"="+r.Rename[old])
	}
	for k, value := range []string{mark(r.Comma), mark(r.Decimal), mark(r.Thousands), mark(r.Comment), r.Encoding,
		only(r.Skip != 0, strconv.Itoa(r.Skip)), only(r.Header != nil, listText(r.Header)),
		only(r.Rename != nil, listText(renamed)), only(r.NumberDuplicates, "true"), only(r.PlainQuotes, "true"),
		r.TrimSuffix, r.TrimPrefix, only(r.Missing != nil, listText(r.Missing))} {
		if value != "" {
			flags = append(flags, [2]string{csvFlags[k], value})
		}
	}
	return flags
}

// listText is a list as flags take one.
func listText(texts []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(texts) // a Builder takes all
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// flagText is a flag as it is written in a shell.
func flagText(flag [2]string) string {
	if flag[1] == "true" {
		return "--" + flag[0]
	}
	return "--" + flag[0] + " " + shellWord(flag[1])
}

// shellWord is a text as it is written in a shell.
func shellWord(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-./:=,+@%", c)
	}) {
		return text
	}
	return wording.Quoted(text)
}

// misfits shows what of the table that was opened does not fit a schema, of each of several files that has such values
// by its name, and says how many kinds of that there are.
func (t *tableFlags) misfits(s *frame.Schema) (text string, n int, err error) {
	for i, file := range t.opened {
		check := learn.FromScanner(file, nil).Knowing(s).Check()
		if err := check.Err(); err != nil {
			return "", 0, err
		}
		it := check.Display()
		if len(check.Misfits) == 0 {
			it.Header = nil
		}
		if len(t.opened) > 1 && len(check.Misfits) > 0 {
			it.Title += ", in " + file.Origin().Name
		}
		if n > 0 {
			it.Warning = "" // it is at the top
		}
		if n += len(check.Misfits); len(check.Misfits) > 0 || n == 0 && i == len(t.opened)-1 {
			text += it.Text()
		}
	}
	return text, n, nil
}

// suits refuses flags that say nothing of the format of a file.
func (t *tableFlags) suits(path string) error {
	names, of, is := []string{"texts"}, "Parquet and Arrow files", "none"
	if parquet.Columnar(path) {
		names = csvFlags
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
