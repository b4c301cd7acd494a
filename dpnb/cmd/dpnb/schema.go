package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

func newSchemaCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "schema", Args: cobra.NoArgs,
		Short: "Say what is publicly known of the columns of a table",
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var codebook string
	var table tableFlags
	check := &cobra.Command{
		Use:   "check SCHEMA [TABLE]",
		Short: "Complete the draft of a schema, and say what is wrong with it",
		Long: `Read a schema file, as dpnb new drafts it, and ask for what is blank in it where there is a
terminal; elsewhere list what is blank or wrong, and end with status 1. A codebook, which is a CSV
file with the columns name, type, lower, upper, categories (with bars between them) and others of
docs/your-data.md, fills blanks. Of the table, if one is given, the names of the columns alone are
read; dpnb check lists the records that do not fit.`,
		Example: `  dpnb schema check people.schema.json
  dpnb schema check people.schema.json people.csv --codebook codebook.csv`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := completed(args[0], codebook, terminal(cmd))
			if err == nil && len(args) > 1 {
				var records frame.Scanner
				if records, err = table.open(args[1]); err == nil {
					err = s.Fits(records.Names())
				}
			}
			if err == nil && (len(args) == 1 || !parquet.Columnar(args[1])) {
				err = laidOut(args[0], s)
			}
			if err == nil {
				ignored := ""
				if n := len(s.Ignored); n > 0 {
					ignored = fmt.Sprintf(", %d of which to be left out", n)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is complete: %s%s\n", args[0],
					numeral.Count(len(s.Fields)+len(s.Ignored), "column"), ignored)
			}
			return err
		},
	}
	check.Flags().StringVar(&codebook, "codebook", "", "CSV `file` that describes the columns")
	table.add(check.Flags())
	cmd.AddCommand(check)
	return cmd
}

// laidOut refuses dates of which a file of texts could not be read.
func laidOut(path string, s *frame.Schema) error {
	var without []string
	for _, f := range s.Fields {
		if f.Part != frame.NoDate && f.Layout == "" {
			without = append(without, f.Name)
		}
	}
	if without == nil {
		return nil
	}
	return fmt.Errorf("%s does not say how a CSV file writes the dates of %s: add \"layout\", which is what it would "+
		"write for 2 January 2006, as \"2006-01-02\" (of a Parquet file name the table, too: it needs none)", path,
		wording.Names(without))
}

// asking is a conversation with a person; nil where there is no terminal.
type asking struct {
	in  *bufio.Reader
	out io.Writer
}

func terminal(cmd *cobra.Command) *asking {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	return &asking{bufio.NewReader(cmd.InOrStdin()), cmd.ErrOrStderr()}
}

func (a *asking) line(question string, args ...any) (string, error) {
	fmt.Fprintf(a.out, question, args...)
	text, err := a.in.ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = errors.New("the input ended before the schema was complete: the columns that were answered for are " +
			"kept, and the same command asks for the others")
	}
	return strings.TrimSpace(text), err
}

// completed returns the schema of a file, whose blanks a codebook or a person has filled in; then the file is written.
func completed(path, codebook string, a *asking) (*frame.Schema, error) {
	s, err := frame.LoadSchema(path)
	if err == nil {
		return s, nil
	}
	text, unread := os.ReadFile(path)
	var draft struct {
		Version int               `json:"version"`
		Comment []string          `json:"comment,omitempty"`
		Fields  []json.RawMessage `json:"fields"`
	}
	if unread != nil || json.Unmarshal(text, &draft) != nil || len(draft.Fields) == 0 || draft.Version != 1 {
		return nil, err // which says more
	}
	var known *frame.Schema
	if codebook != "" {
		if known, err = readCodebook(codebook); err != nil {
			return nil, err
		}
	}
	s = &frame.Schema{}
	var blanks []string
	var wrong []error
	for i, raw := range draft.Fields {
		one, err := frame.ParseSchema(fmt.Appendf(nil, `{"version": %d, "fields": [%s]}`, draft.Version, raw),
			filepath.Dir(path))
		var named struct{ Name, Type string }
		_ = json.Unmarshal(raw, &named)
		switch {
		case err == nil:
			s.Fields, s.Ignored = append(s.Fields, one.Fields...), append(s.Ignored, one.Ignored...)
			continue
		case known != nil:
			if f, ok := known.Field(named.Name); ok {
				s.Fields = append(s.Fields, *f)
				continue
			}
		}
		switch {
		case named.Name == "" || a == nil && named.Type != "":
			wrong = append(wrong, errors.New(strings.TrimPrefix(err.Error(), "frame: ")))
			continue
		case a == nil:
			blanks = append(blanks, named.Name)
			continue
		}
		f, left, err := a.field(named.Name)
		if err != nil {
			return nil, err
		}
		answered := frame.Schema{Fields: []frame.Field{f}}
		if left {
			answered = frame.Schema{Ignored: []string{named.Name}}
		}
		s.Fields, s.Ignored = append(s.Fields, answered.Fields...), append(s.Ignored, answered.Ignored...)
		// It is kept, for the next answer may never come.
		var kept struct{ Fields []json.RawMessage }
		if text, err = answered.Text(); err == nil {
			err = json.Unmarshal(text, &kept)
		}
		if err == nil {
			draft.Fields[i] = kept.Fields[0]
			text, err = json.MarshalIndent(draft, "", "  ")
		}
		if err == nil {
			err = atomicfile.Write(path, append(text, '\n'))
		}
		if err != nil {
			return nil, err
		}
	}
	if blanks != nil {
		wrong = append(wrong, fmt.Errorf("%s says nothing yet of %s: fill it in, or run in a terminal: "+
			"dpnb schema check %[1]s", path, wording.Names(blanks)))
	}
	if wrong != nil {
		return nil, errors.Join(wrong...)
	}
	return s, s.Save(path)
}

// kinds are short words for types of fields.
var kinds = map[string]string{"n": "number", "l": "number, log", "c": "category", "d": "date, in days",
	"date": "date, in days"}

// field asks for what is publicly known of a column until it is something; left is one to leave out.
func (a *asking) field(name string) (f frame.Field, left bool, err error) {
	fmt.Fprintf(a.out, "\n%s: what is publicly known of it? Do not look at the data.\n", name)
	for {
		row := map[string]string{"name": name}
		kind, err := a.line("  n: number, l: number over orders of magnitude, c: category, d: date, x: leave it " +
			"out, or another type of the schema: ")
		if err != nil || kind == "x" || kind == "ignore" {
			return f, true, err
		}
		if long, ok := kinds[kind]; ok {
			kind = long
		}
		if !slices.Contains(frame.FieldTypes(), kind) {
			fmt.Fprintf(a.out, "  There is no type %q, but %s.\n", kind, strings.Join(frame.FieldTypes(), "; "))
			continue
		}
		questions := [][2]string{{"lower", "  lower bound: "}, {"upper", "  upper bound: "}}
		switch {
		case kind == "category":
			questions = [][2]string{{"categories", "  its values, with | or commas between them (one that has " +
				"a comma in quotation marks): "},
				{"else", "  which of them others count as (Enter: none): "}}
		case strings.HasPrefix(kind, "month"), strings.HasPrefix(kind, "weekday"), strings.HasPrefix(kind, "hour"):
			questions = nil
		}
		if strings.Contains(kind, "date") { // the bounds are judged by it
			questions = slices.Insert(questions, 0, [2]string{"layout", "  how the file writes 2 January 2006 " +
				"(Enter: 2006-01-02; b: back): "})
		}
		if strings.HasPrefix(kind, "number") {
			questions = append(questions, [2]string{"missingAs", "  what a missing one counts as (Enter: the middle " +
				"of its bounds; own: that, and in fits an effect of its own): "})
		}
		row["type"] = kind
		if back, err := a.rest(row, questions); back || err != nil {
			if err != nil {
				return f, false, err
			}
			continue
		}
		s, err := oneField(row)
		if err == nil {
			return s.Fields[0], false, nil
		}
		fmt.Fprintf(a.out, "  %s\n", strings.TrimPrefix(err.Error(), "frame: "))
	}
}

// rest asks the questions about a column, each until its answer is understood; back says that another type is wanted.
func (a *asking) rest(row map[string]string, questions [][2]string) (back bool, err error) {
	for _, q := range questions {
		for wrong := error(errors.New("")); wrong != nil; {
			answer, err := a.line("%s", q[1])
			if back = q[0] == "layout" && answer == "b"; back || err != nil {
				return back, err
			}
			if q[0] == "missingAs" && answer == "own" {
				row["missing"], answer = "yes", ""
			}
			if row[q[0]], wrong = understood(row["name"], q[0], answer); wrong != nil {
				fmt.Fprintf(a.out, "  %s\n", strings.TrimPrefix(wrong.Error(), "frame: "))
			}
		}
	}
	return false, nil
}

// understood returns an answer about a column as a codebook would have it, or what is wrong with it by itself.
func understood(column, what, answer string) (string, error) {
	switch {
	case what == "layout":
		answer = cmp.Or(answer, time.DateOnly)
		_, err := oneField(map[string]string{"name": column, "type": "date, in days", "layout": answer,
			"lower": "2000-01-01", "upper": "2001-01-01"})
		return answer, err
	case what == "categories" && answer != "" && !strings.Contains(answer, "|"):
		values := csv.NewReader(strings.NewReader(answer))
		values.TrimLeadingSpace = true
		list, err := values.Read()
		if err != nil {
			err = errors.New("a quotation mark is not closed, or stands within a value")
		}
		return strings.Join(list, "|"), err
	}
	return answer, nil
}

// oneField makes a field of what a codebook would say.
func oneField(row map[string]string) (*frame.Schema, error) {
	var header, record []string
	for name, text := range row {
		header, record = append(header, name), append(record, text)
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll([][]string{header, record}); err != nil {
		return nil, err
	}
	t, err := frame.ReadCSV(&text, &frame.CSVSettings{Missing: []string{}})
	if err != nil {
		return nil, err
	}
	return frame.ReadCodebook(t)
}

func readCodebook(path string) (*frame.Schema, error) {
	t, err := frame.ReadCSVFile(path, &frame.CSVSettings{Missing: []string{}})
	if err != nil {
		return nil, err
	}
	return frame.ReadCodebook(t)
}

// drafted writes the schema of a table's columns, of whose records nothing is read, to a file that is not there: from a
// codebook, or with blanks.
func drafted(path, codebook string, names []string) error {
	if codebook == "" {
		text, err := frame.DraftSchema(names)
		if err != nil {
			return err
		}
		return atomicfile.Write(path, text)
	}
	s, err := readCodebook(codebook)
	if err != nil {
		return err
	}
	s.Fields = slices.DeleteFunc(s.Fields, func(f frame.Field) bool { return !slices.Contains(names, f.Name) })
	return s.Save(path)
}
