package frame

import (
	"cmp"
	"math"
	"strconv"
	"time"
)

// DatePart is what of a date a field stands for.
type DatePart int

const (
	// NoDate: the field is no date.
	NoDate DatePart = iota
	// Days since 1970-01-01, with the share of the day if there is a time; a number.
	Days
	// Year is a number.
	Year
	// Month has the categories January to December.
	Month
	// Weekday has the categories Monday to Sunday.
	Weekday
	// Hour is the time of the day in hours, from 0 to 24, as a number.
	Hour
)

// DateField is a date between two days, as a number of days since 1970-01-01. The layout is how the texts of the column
// write it, in the way of package time: "2006-01-02", "02.01.2006", "1/2/06", "2006-01-02 15:04". First and last are in
// that layout, or as in 2020-01-31, or numbers of days. Columns of numbers, as Parquet has for dates, are such days
// already, and need no layout. A text that is no date in this layout is no number.
func DateField(name, layout, first, last string) Field {
	f := NumericField(name, dayOf(layout, first), dayOf(layout, last))
	f.Layout, f.Part = layout, Days
	return f
}

// dayOf returns the number of days that a bound of a date says; NaN, which validate refuses, if it says none.
func dayOf(layout, text string) float64 {
	for _, l := range []string{layout, time.DateOnly} {
		if t, err := time.Parse(l, trim(text)); err == nil && l != "" {
			return daysOf(t)
		}
	}
	if v, err := strconv.ParseFloat(trim(text), 64); err == nil {
		return v
	}
	return math.NaN()
}

// dayText writes a number of days as a date where it is one: dayOf of it is the same number.
func dayText(days float64) (text string, ok bool) {
	const most = 2.9e6 // year 9999
	if days != math.Trunc(days) || math.Abs(days) > most {
		return "", false
	}
	text = time.Unix(int64(days)*86400, 0).UTC().Format(time.DateOnly)
	return text, dayOf("", text) == days
}

// YearField is the year of a date.
func YearField(name, layout string, first, last int) Field {
	f := NumericField(name, float64(first), float64(last))
	f.Layout, f.Part = layout, Year
	return f
}

// MonthField is the month of a date, by its English name.
func MonthField(name, layout string) Field {
	f := Field{Name: name, Kind: Categorical, Layout: layout, Part: Month}
	for m := time.January; m <= time.December; m++ {
		f.Levels = append(f.Levels, m.String())
	}
	return f
}

// WeekdayField is the day of the week of a date, by its English name.
func WeekdayField(name, layout string) Field {
	f := Field{Name: name, Kind: Categorical, Layout: layout, Part: Weekday}
	for d := range 7 {
		f.Levels = append(f.Levels, time.Weekday((d+1)%7).String())
	}
	return f
}

// HourField is the time of the day in hours, from 0 to 24. It has no period unless a term says so.
func HourField(name, layout string) Field {
	f := NumericField(name, 0, 24)
	f.Layout, f.Part = layout, Hour
	return f
}

func daysOf(t time.Time) float64 {
	return (float64(t.Unix()) + float64(t.Nanosecond())/1e9) / 86400
}

// String names the part.
func (p DatePart) String() string {
	return []string{"no date", "days since 1970-01-01", "year", "month", "weekday", "hour"}[p]
}

func (p DatePart) kind() Kind {
	if p == Month || p == Weekday {
		return Categorical
	}
	return Numeric
}

// laidOut refuses a layout that does not write what the field is of a date: 2006 stands for a year in it, and YYYY for
// itself.
func (f *Field) laidOut() error {
	if f.Part == NoDate || f.undated() {
		return nil
	}
	day := time.Date(2019, time.November, 23, 0, 0, 0, 0, time.UTC)
	if f.Part == Hour {
		day = day.Add(17 * time.Hour)
	}
	read, err := time.Parse(f.Layout, day.Format(f.Layout))
	lacks := ""
	switch {
	case f.Part == Month && read.Month() != day.Month():
		lacks = "month"
	case f.Part == Hour:
		if read.Hour() != day.Hour() {
			lacks = "hour"
		}
	case f.Part != Month && read.Year() != day.Year():
		lacks = "year"
	case f.Part == Weekday && !read.Truncate(24*time.Hour).Equal(day):
		lacks = "day"
	}
	if err != nil || lacks != "" {
		return inputErrorf("field %q: in the layout %q no part of a date stands for its %s: write 2 January 2006 as "+
			"the file would, for example \"2006-01-02\" or \"02.01.2006\", and 15:04 for the time", f.Name, f.Layout,
			cmp.Or(lacks, "day"))
	}
	return nil
}

// undated reports a date without a layout: texts cannot be read by it.
func (f *Field) undated() bool { return f.Part != NoDate && f.Layout == "" }

// dated refuses dates that are texts, which the format of the file makes of a column whatever is in it, if there is no
// layout to read them by.
func (f *Field) dated(c *Column) error {
	if f.undated() && c.Kind == Categorical {
		return inputErrorf("column %q has texts, and the schema has no layout of its dates: say how the file writes "+
			"2 January 2006, for example \"2006-01-02\" or \"02.01.2006\"", f.Name)
	}
	return nil
}

// read returns the column as the field sees it: c itself, or what the dates in it stand for, each by itself. A text
// that is no date is NaN, or stays what it is among categories.
func (f *Field) read(c *Column) *Column {
	if f.Patterns != nil {
		return f.patterned(c)
	}
	if f.Part == NoDate {
		return c
	}
	out := &Column{Name: c.Name, Kind: f.Part.kind()}
	for i := range c.len() {
		t, ok := f.date(c, i)
		switch {
		case out.Kind == Categorical && ok && f.Part == Month:
			out.Texts = append(out.Texts, t.Month().String())
		case out.Kind == Categorical && ok:
			out.Texts = append(out.Texts, t.Weekday().String())
		case out.Kind == Categorical:
			out.Texts = append(out.Texts, c.Text(i))
		case !ok:
			out.Numbers = append(out.Numbers, math.NaN())
		case f.Part == Year:
			out.Numbers = append(out.Numbers, float64(t.Year()))
		case f.Part == Hour:
			seconds := float64(t.Second()) + float64(t.Nanosecond())/1e9
			out.Numbers = append(out.Numbers, float64(t.Hour())+float64(t.Minute())/60+seconds/3600)
		default:
			out.Numbers = append(out.Numbers, daysOf(t))
		}
	}
	return out
}

func (f *Field) date(c *Column, i int) (t time.Time, ok bool) {
	if c.Kind == Numeric {
		v := c.Numbers[i]
		if math.IsNaN(v) || math.Abs(v) > 1e8 { // beyond ± 270,000 years
			return t, false
		}
		return time.Unix(int64(math.Floor(v*86400)), 0).UTC(), true
	}
	t, err := time.Parse(f.Layout, trim(c.Texts[i]))
	return t, err == nil
}
