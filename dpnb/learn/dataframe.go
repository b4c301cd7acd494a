package learn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/mechanism"
)

// DataFrame is a table of raw records with what is publicly known about its columns. Like gota's, it carries its first
// error with it, so that a notebook can write one line after the other, and Fit or Show reports the error.
type DataFrame struct {
	// records are a table in memory, a *frame.Table, or one that is scanned; nil if there are none.
	records frame.Scanner
	// where its records are kept.
	where  frame.Storage
	schema *frame.Schema
	// unprepared are the records as they were before the schema dropped what it ignores; nil once more was done.
	unprepared frame.Scanner
	// person names the people of the rows, of whom each has rows at most; "" and 0 if each row is a person. key is the
	// column that says who it is, which may have another name since, or be gone: "".
	person, key string
	rows        int
	// group marks the rows of a group of FitBy, and what is made of them; nil of others.
	group *ofGroup
	err   error
	// headed says that it is of the first rows of another (Head).
	headed bool
}

// CSV says how a file is read: frame.CSVSettings.
type CSV = frame.CSVSettings

// Field is the public knowledge of one column: frame.Field.
type Field = frame.Field

// Pattern has the texts that a regular expression matches count as a category.
type Pattern = frame.Pattern

// Constructors of fields: bounds and categories that are known without the data.
var (
	// Numeric is a number in [lower, upper].
	Numeric = frame.NumericField
	// Log is a number x in [lower, upper] that is used on a logarithmic scale: ln(x/lower), or ln(1 + x − lower) if
	// lower is not positive. The middle of that scale, √(lower·upper) or √(1 + upper − lower) + lower − 1, is what a
	// missing number counts as: see OrMissingAs.
	Log = frame.LogField
	// Categorical is a text that is one of the given categories.
	Categorical = frame.CategoricalField
	// Date is a date as a number of days, Year its year, Hour its time; Month and Weekday have categories.
	Date    = frame.DateField
	Year    = frame.YearField
	Month   = frame.MonthField
	Weekday = frame.WeekdayField
	Hour    = frame.HourField
)

// ReadCSV reads a comma-separated file with a header line.
//
// Errors (in Err, and from Fit): a wrong path, a file without a header, a broken line.
func ReadCSV(path string) DataFrame { return ReadCSVWith(path, nil) }

// ReadCSVWith reads a file with the given settings.
func ReadCSVWith(path string, settings *CSV) DataFrame {
	t, err := frame.ReadCSVFile(path, settings)
	return fromTable(t, err, nil)
}

// FromGota takes the gota dataframe that load makes with gota's reader, which it hands its options on to, so that no
// type is guessed from the records (frame.FromDataFrame).
//
// Errors (in Err, and from Fit): the dataframe's own; a load that did not hand its options on.
func FromGota(load func(texts ...dataframe.LoadOption) dataframe.DataFrame) DataFrame {
	t, err := frame.FromDataFrame(load)
	return fromTable(t, err, nil)
}

// Numbers is a column of numbers that a program has in memory, a value for each row, of which NaN is missing.
func Numbers(name string, values []float64) frame.Column {
	return frame.Column{Name: name, Numbers: slices.Clone(values)}
}

// Texts is a column of texts that a program has in memory, of which "" is missing.
func Texts(name string, values []string) frame.Column {
	return frame.Column{Name: name, Kind: frame.Categorical, Texts: slices.Clone(values)}
}

// FromColumns takes columns of equal length, each of which is a copy of the program's (Numbers, Texts).
//
// Errors (in Err, and from Fit): none, lengths that differ, a name that is empty or there twice.
func FromColumns(columns ...frame.Column) DataFrame {
	t, err := frame.NewTable(columns...)
	return fromTable(t, err, nil)
}

// FromTable takes a checked table.
func FromTable(t *frame.Table) DataFrame { return fromTable(t, nil, nil) }

// FromScanner takes a table that is read in chunks, as from frame.ScanCSV and parquet.Open: it may be larger than
// memory. Private questions are answered by a scan, and records for learning are kept in a file (StoredIn).
func FromScanner(s frame.Scanner, err error) DataFrame {
	if s == nil || err != nil {
		return DataFrame{err: err}
	}
	if t, ok := s.(*frame.Table); ok {
		return FromTable(t)
	}
	return DataFrame{records: s, err: s.Origin().Log()}
}

// Collect reads a table that is scanned into memory, the named columns of it (all if none are named).
func (df DataFrame) Collect(columns ...string) DataFrame {
	if len(columns) == 0 {
		columns = nil
	}
	return df.by(func(s frame.Scanner) (frame.Scanner, error) { return frame.Collect(s, columns) })
}

// fromTable makes a DataFrame of a table or of the error that came in its place.
func fromTable(t *frame.Table, err error, schema *frame.Schema) DataFrame {
	if t == nil || err != nil {
		return DataFrame{err: err}
	}
	return DataFrame{records: held(t), schema: schema, err: t.Source.Log()}
}

// held returns the table as it is now: who has a pointer to it can put another in its place.
func held(t *frame.Table) *frame.Table { now := *t; return &now }

// Err returns the first error on the way to df.
func (df DataFrame) Err() error {
	if df.err == nil && df.records == nil {
		return errors.New("dpnb: an empty DataFrame; make one with ReadCSV, FromScanner, FromGota, Adult or Patients")
	}
	return df.err
}

// Public declares that the file holds nothing to protect, so that reports may publish its checksum and its number of
// rows. A checksum of private records gives one of them away to whoever knows all the others.
func (df DataFrame) Public() DataFrame {
	return df.change(func(t *frame.Table) (*frame.Table, error) {
		public := *t
		public.Source.Public = true
		return &public, public.Source.Log()
	})
}

// WithSchema states what is publicly known about the columns. It must be known without the data; bounds that were read
// off the data protect nobody.
//
// Errors (in Err): bounds that bound nothing, no categories, two fields of one name.
func (df DataFrame) WithSchema(fields ...Field) DataFrame {
	return df.Knowing(&frame.Schema{Fields: fields})
}

// Knowing is WithSchema of a schema that is read already, with the columns that it ignores and copies. Columns that
// are not there are not looked for.
func (df DataFrame) Knowing(s *frame.Schema) DataFrame {
	if df.err = df.Err(); df.err == nil {
		df.err = s.Validate()
	}
	stated := df.by(s.Prepared)
	stated.schema, stated.unprepared = s.Clone(), df.records
	return stated
}

// WithIgnored returns df with a column that its schema ignores, if nothing was done to the table since it was stated:
// so that PerPerson can say by it whose row it is after other steps.
func (df DataFrame) WithIgnored(column string) DataFrame {
	if df.err != nil || df.schema == nil || df.unprepared == nil || !slices.Contains(df.schema.Ignored, column) {
		return df
	}
	s := df.schema.Clone()
	s.Ignored = slices.DeleteFunc(s.Ignored, func(name string) bool { return name == column })
	df.records = df.unprepared
	return df.Knowing(s)
}

// PerPerson says that the column tells whose row it is, and keeps at most the given number of rows of each person:
// which of them depends on the rows of that person alone (frame.PerPerson). Guarantees are then for a person with all
// of these rows. One row each costs no more than rows of different people; with up to k rows the noise of every
// question and fit is about k times as large.
//
// A budget pays either for people or for rows: its first release decides, and all others have to be of that kind. It
// knows the people by the name of the column here, whatever it is renamed to later.
//
// A table that is scanned is read once more for the choice, before the first answer or fit, with about 100 bytes for
// each person in memory.
//
// The column is not a feature of any fit, and may be one that the schema just stated ignores. The rows are chosen from
// all that is in the table now: Drop and Filter before or after change which they are, not the promise.
//
// Errors (in Err): a column that is not there, rows < 1 or too many; PerPerson a second time.
func (df DataFrame) PerPerson(column string, rows int) DataFrame {
	df = df.WithIgnored(column)
	df = df.by(func(s frame.Scanner) (frame.Scanner, error) {
		if err := mechanism.CheckRows(rows); err != nil {
			return nil, err
		}
		if df.rows > 0 {
			return nil, fmt.Errorf("dpnb: the rows are of the people of %q already", df.person)
		}
		if df.schema != nil && slices.Contains(df.schema.Ignored, column) {
			return nil, fmt.Errorf("dpnb: column %q is of type \"ignore\" in the schema, and so is not read: say "+
				"whose row it is right after the schema, or df.WithIgnored(%[1]q) there", column)
		}
		return frame.PerPerson(s, column, rows)
	})
	df.person, df.key, df.rows = column, column, rows
	return df
}

// Person returns the column that said whose row it is (PerPerson) and how many rows each may have; "" and 1 if each row
// is a person.
func (df DataFrame) Person() (column string, rows int) { return df.person, max(1, df.rows) }

// PersonColumn returns what that column is called now, "" if it is not in the table.
func (df DataFrame) PersonColumn() string { return df.key }

// unit is what the ledger calls people with up to so many rows, 0 saying that each row is one.
func unit(column string, rows int) string {
	if rows == 0 {
		return ""
	}
	return ledger.UnitOf(column, rows)
}

// Drop returns df without the named columns.
func (df DataFrame) Drop(names ...string) DataFrame {
	return df.by(func(s frame.Scanner) (frame.Scanner, error) { return frame.Drop(s, names...) })
}

// DropMissing returns df without the rows that lack a value in one of the named columns, or in any column if none are
// named. It treats each row by itself.
func (df DataFrame) DropMissing(names ...string) DataFrame {
	return df.by(func(s frame.Scanner) (frame.Scanner, error) { return frame.DropMissing(s, names...) })
}

// Head returns the first n rows. They are raw records, to be looked at: which rows they are depends on those before
// them, so that one record more in the table changes two of them, and nothing can be released of them but by Simulate.
//
// Errors (in Err): n is negative.
func (df DataFrame) Head(n int) DataFrame {
	df.headed = true
	return df.by(func(s frame.Scanner) (frame.Scanner, error) {
		if n < 0 {
			return nil, fmt.Errorf("dpnb: Head(%d): want a number of rows from 0 on", n)
		}
		out, err := frame.FirstRows(s, n)
		if err == nil {
			out.Source = out.Source.After(fmt.Sprintf("the first %d rows", n))
		}
		return out, err
	})
}

// Filter returns the rows for which keep holds. A fit of them keeps its guarantee for df if keep depends only on what
// is in the row; if it depends on the row's position, as for Head, it does not. A row on which keep panics is left out,
// as by Where.
func (df DataFrame) Filter(keep func(row int) bool) DataFrame {
	return df.change(func(t *frame.Table) (*frame.Table, error) {
		if keep == nil {
			return nil, errors.New("dpnb: Filter wants a function that says which rows to keep")
		}
		out := t.Filter(func(row int) (kept bool) {
			defer func() { _ = recover() }() // an error would tell of that record; kept is false
			return keep(row)
		})
		out.Source = out.Source.After("filtered")
		return out, nil
	})
}

func (df DataFrame) change(f func(*frame.Table) (*frame.Table, error)) DataFrame {
	return df.by(func(frame.Scanner) (frame.Scanner, error) {
		t, err := df.inMemory()
		if err != nil {
			return nil, err
		}
		return f(t)
	})
}

// inMemory returns the table of df, which has no error.
func (df DataFrame) inMemory() (*frame.Table, error) {
	t, ok := df.records.(*frame.Table)
	if !ok {
		return nil, errors.New("dpnb: these rows are scanned and not in memory: Collect them, with the columns that " +
			"are needed, if they are few enough")
	}
	return t, nil
}

// Rows returns the number of rows, or 0 on error and where only a scan would tell. It is a fact about the records that
// no guarantee covers.
func (df DataFrame) Rows() int {
	if df.Err() != nil {
		return 0
	}
	if t, err := df.inMemory(); err == nil {
		return t.Rows()
	}
	return df.records.Origin().Rows
}

// Table returns the underlying table of df.
//
// Errors: df's own; df is scanned and not in memory.
func (df DataFrame) Table() (*frame.Table, error) {
	if err := df.Err(); err != nil {
		return nil, err
	}
	t, err := df.inMemory()
	if err != nil {
		return nil, err
	}
	return held(t), nil
}

// Gota returns df as a gota dataframe, with df's error if it has one: columns of the schema as floats or strings as it
// says, others as the table has them: of a CSV file as strings.
func (df DataFrame) Gota() dataframe.DataFrame {
	t, err := df.Table()
	if err != nil {
		return dataframe.DataFrame{Err: err}
	}
	return t.DataFrame(df.schema)
}

// Display shows raw records, and says so.
func (df DataFrame) Display() display.Item {
	if err := df.Err(); err != nil {
		return display.Failed(err)
	}
	const most = 10
	source, names := df.records.Origin(), df.records.Names()
	t, err := df.inMemory()
	if err != nil {
		it := withOrigin(source, display.Item{Header: []string{"column"}, Title: source.Name +
			": a table that is scanned"})
		for _, name := range names {
			it.Row(name)
		}
		return it
	}
	n := t.Rows()
	it := withOrigin(source, display.Item{Title: fmt.Sprintf("%s: %d rows × %d columns", cmp.Or(source.Name,
		"A table"), n, len(names)),
		Warning: rawWarning, Header: names})
	for i := range min(most, n) {
		row := make([]string, len(names))
		for j, name := range names {
			c, _ := t.Column(name)
			row[j] = cmp.Or(c.Text(i), "–")
		}
		it.Row(row...)
	}
	if n > most {
		it.Note("… and %d more rows", n-most)
	}
	return it
}

// Origin says in a coloured box which records df has, where that is known: blue for real people whose records are
// public, yellow for invented ones. Show it before the first result, so that nobody mistakes one kind for the other.
func (df DataFrame) Origin() display.Item {
	if err := df.Err(); err != nil {
		return display.Failed(err)
	}
	return df.WithOrigin(display.Item{})
}

// withOrigin adds to it what is to be known of where its records come from.
func withOrigin(s frame.Source, it display.Item) display.Item {
	it.Origin, it.Invented = s.Note, s.Invented
	if it.Origin == "" && s.Invented {
		it.Origin = "INVENTED: " + s.Name
	}
	return it
}

// Adult returns the training and the test part of the Adult census data (UCI repository: is the yearly income of a
// person above 50,000 dollars?), with its public schema. Where the files are not on this machine it returns 30,000 and
// 10,000 invented people (dataset.AdultLike), wherever the program runs; their tables and figures say so, and Source
// says which they are.
func Adult() (train, test DataFrame) {
	tr, te, err := dataset.Adult()
	return fromTable(tr, err, dataset.AdultSchema()), fromTable(te, err, dataset.AdultSchema())
}

// Source says in a sentence where df came from.
func (df DataFrame) Source() string {
	if err := df.Err(); err != nil {
		return err.Error()
	}
	s := df.records.Origin()
	text := s.Name
	switch {
	case s.Public && s.SHA256 != "":
		text += fmt.Sprintf(", %d rows, sha256 %s…", s.Rows, s.SHA256[:12])
	case !s.Public:
		text += ", private: its checksum and its number of rows are not published"
	}
	if s.Note != "" {
		text += ". " + s.Note
	}
	return text
}

// Patients returns the given number of invented patients with their public schema: pressure is a target for Regression,
// visits for Counts, ill for Binary and ward for Classes, each of which follows a known law (dataset.Patients). The
// same seed gives the same patients.
func Patients(rows int, seed uint64) DataFrame {
	t, err := dataset.Patients(rows, seed)
	return fromTable(t, err, dataset.PatientsSchema())
}
