package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/report"
)

func newNewCommand() *cobra.Command {
	var d drafting
	var yes *bool
	var noSetup bool
	cmd := &cobra.Command{
		Use:   "new NAME|TABLE",
		Short: "Write a notebook for data of your own, and a draft of its schema",
		Long: `Write NAME.ipynb, in any folder, which is made if it is not there: a notebook that reads a CSV
or Parquet file, explores it privately, fits a model and ends with what it cost. For a table,
people.csv, it writes people.ipynb and people.schema.json, unless that is there: the schema has
the names of the columns, which are all that is read of the table, and blanks for what is publicly
known of them, which it asks for where there is a terminal, or takes from a codebook. Of a table in
several files name one: a pattern, '*.csv', is for fit, describe and the others. The notebook reads
the table as the flags say, --thousands, --missing and all that fit has; if one was forgotten,
delete it and say it again: a draft in which nothing was filled in is then written anew, too.
Whether its values fit the schema says dpnb check, whose command is shown: it prints what is in
records, for the keeper of the data alone, and goes into no report.

Then Jupyter is set up if it is not there: what will be installed, and by what, is said before, and
asked in a terminal (--yes does not ask, --no-setup leaves it to dpnb setup or to you).
The notebook has the cell that finds this package, and the Go kernel is registered for every Jupyter
of yours, and for editors such as VS Code; a kernel named gonb that you have already stays as it is.
What completes code as it is typed takes minutes to build and comes with dpnb lab or dpnb setup.`,
		Example: `  dpnb new people.csv --target happy
  dpnb new ~/study/people
  dpnb lab ~/study`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tree, err := project.Find(cmd.Context())
			if err != nil {
				return err
			}
			path, blank, err := d.write(tree, args[0], terminal(cmd))
			if err != nil {
				return err
			}
			if !noSetup {
				if err := withSetup(cmd, tree, true, *yes, registerKernel); err != nil {
					return fmt.Errorf("%s is written; what runs it is not set up: %w", path, err)
				}
			}
			out := cmd.OutOrStdout()
			fmt.Fprintln(out, path)
			if blank != nil {
				fmt.Fprintf(out, "%v\n", blank)
			}
			if d.check != "" {
				fmt.Fprintf(out, "first: %s %s\n       (of single records: for the keeper of the data, and in no "+
					"report)\n", project.Command(), d.check)
			}
			_, err = fmt.Fprintf(out, "then: %s lab %s\n  or: %[1]s report %[3]s\n", project.Command(),
				filepath.Dir(path), path)
			return err
		},
	}
	yes = addYes(cmd)
	f := cmd.Flags()
	f.BoolVar(&noSetup, "no-setup", false, "write the files alone: set up neither Jupyter nor the kernel")
	f.StringVar(&d.target, "target", "", "`column` to learn")
	f.StringVar(&d.schema, "schema", "", "`file` with what is publicly known (default beside the table, drafted)")
	f.StringVar(&d.codebook, "codebook", "", "CSV `file` that describes the columns, of which the schema is made")
	d.table.add(f)
	return cmd
}

// drafting is what a new notebook begins with.
type drafting struct {
	target, schema, codebook string
	table                    tableFlags
	// check is the command that lists what does not fit the schema; "" without a table.
	check string
	// cells are texts of the template with what stands in their place.
	cells map[string]string
}

// write writes a notebook, and the schema of a table; blank says what of that is to be filled in.
func (d *drafting) write(tree project.Tree, name string, a *asking) (path string, blank, err error) {
	values := map[string][]string{}
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && filepath.Ext(name) != notebookSuffix {
		if d.target, blank, err = d.ofTable(name, values, a); err != nil {
			return "", nil, err
		}
		name = stemOf(name)
	} else if files, _ := filepath.Glob(name); len(files) > 0 && strings.ContainsAny(name, "*?[") {
		return "", nil, fmt.Errorf("%s names %d files: name one of them, %s, for all have its columns; the pattern is "+
			"for fit, describe and the others", name, len(files), files[0])
	} else if ext := filepath.Ext(name); ext == ".csv" || ext == ".parquet" || ext == ".arrow" {
		return "", nil, fmt.Errorf("there is no file %s: name a table that is there, or a notebook without %s", name,
			ext)
	}
	if d.target != "" {
		values["target"] = []string{d.target}
	}
	path = strings.TrimSuffix(name, notebookSuffix) + notebookSuffix
	return path, blank, report.New(tree, path, values, d.cells)
}

// stemOf is the name of a table without what says of which form it is, packed or not.
func stemOf(table string) string {
	table = strings.TrimSuffix(table, ".gz")
	return strings.TrimSuffix(table, filepath.Ext(table))
}

// ofTable drafts the schema of a table, and adds to the parameters of its notebook what follows from it.
func (d *drafting) ofTable(table string, values map[string][]string, a *asking) (target string, blank, err error) {
	records, err := d.table.open(table)
	if err != nil {
		return "", nil, err
	}
	names := records.Names()
	if d.target != "" && !slices.Contains(names, d.target) {
		return "", nil, fmt.Errorf("--target %s: there is no such column, but %s", d.target, wording.Names(names))
	}
	if d.schema == "" {
		d.schema = stemOf(table) + ".schema.json"
	}
	if _, err := os.Stat(d.schema); errors.Is(err, fs.ErrNotExist) || untouched(d.schema, names) {
		if err := drafted(d.schema, d.codebook, names); err != nil {
			return "", nil, err
		}
	}
	s, blank := completed(d.schema, d.codebook, a)
	if blank == nil {
		if err := s.Fits(names); err != nil {
			return "", nil, err
		}
	}
	target = d.target
	for a != nil && !slices.Contains(names, target) {
		if target, err = a.line("\nWhich column is to be learnt? "); err != nil {
			return "", nil, err
		}
	}
	beside := filepath.Dir(table)
	schema := d.schema
	if relative, err := filepath.Rel(beside, schema); err == nil {
		schema = relative
	}
	// Of the columns to look at, the first of their kinds in the schema, the number to a hundredth of its range.
	for name, text := range map[string]string{"file": filepath.Base(table), "schema": schema, "target": target,
		"number": "", "group": "", "within": "0.0"} {
		values[name] = []string{text}
	}
	d.reads(records.Origin().Reading, table, schema)
	values["comma, decimal"] = []string{cmp.Or(map[string]string{"tab": "\t", `\t`: "\t"}[d.table.separator],
		d.table.separator), d.table.decimal}
	return target, blank, nil
}

// untouched reports whether a schema is a draft as it was written, of other columns: those that the table has where it
// is read by other flags.
func untouched(schema string, names []string) bool {
	text, err := os.ReadFile(schema)
	if err != nil {
		return false
	}
	var draft struct{ Fields []struct{ Name string } }
	if json.Unmarshal(text, &draft) != nil {
		return false
	}
	var of []string
	for _, f := range draft.Fields {
		of = append(of, f.Name)
	}
	again, err := frame.DraftSchema(of)
	return err == nil && bytes.Equal(again, text) && !slices.Equal(of, names)
}

// What the template says of how a table is read, and of what lists the values that do not fit.
const (
	templateMarks   = `&dpnb.CSV{Comma: []rune(comma + ",")[0], Decimal: []rune(decimal + ".")[0]}`
	templateParquet = "parquet.Open(file, nil)"
	templateCheck   = "`dpnb check FILE --schema SCHEMA`"
)

// reads has the notebook read its table with all that flags say of it, and name the command that checks it so.
func (d *drafting) reads(r *frame.CSVSettings, table, schema string) {
	flags := ""
	d.cells = map[string]string{}
	if texts := d.table.columnar.Texts; texts != nil {
		flags = " " + flagText([2]string{"texts", listText(texts)})
		d.cells[templateParquet] = fmt.Sprintf("parquet.Open(file, &parquet.Settings{Texts: %#v})", texts)
	}
	if r != nil {
		var marks []string
		for _, flag := range flagsOf(r) {
			flags += " " + flagText(flag)
		}
		v := reflect.ValueOf(*r)
		for i := range v.NumField() {
			name, field := v.Type().Field(i).Name, v.Field(i)
			if field.IsZero() || name == "Comma" || name == "Decimal" { // these are parameters
				continue
			}
			form := "%s: %#v"
			if field.Kind() == reflect.Int32 { // a character
				form = "%s: %q"
			}
			marks = append(marks, fmt.Sprintf(form, name, field.Interface()))
		}
		if marks != nil {
			begun := strings.TrimSuffix(templateMarks, "}")
			d.cells[templateMarks] = begun + ",\n\t\t\t" + strings.Join(marks, ", ") + "}"
		}
	}
	checks := func(table, schema string) string {
		return "check " + shellWord(table) + " --schema " + shellWord(schema) + flags
	}
	d.check = checks(table, d.schema)
	d.cells[templateCheck] = "`dpnb " + checks(filepath.Base(table), schema) + "`" // from the notebook's folder
}
