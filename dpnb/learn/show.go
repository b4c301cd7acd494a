package learn

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
)

// Show shows anything of this package, a figure, an error, or a gota dataframe: in a notebook as a table or an image,
// elsewhere as text. Raw records are labelled as such. A result that is empty because of an error is left out, so that
// Show(f(…)) of a call that returns both shows the error once.
func Show(things ...any) {
	var failed []error
	for _, v := range things {
		if err, is := v.(error); is {
			failed = append(failed, err)
		}
	}
	for _, v := range things {
		if empty(v, failed) {
			continue
		}
		if err := show(v); err != nil {
			display.Stop(fmt.Errorf("dpnb: Show: %w", err))
		}
	}
}

// empty reports what has no more to show than one of the errors that are shown.
func empty(v any, shown []error) bool {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
		return len(shown) > 0
	}
	var own error
	switch v := v.(type) {
	case dataframe.DataFrame:
		own = v.Err
	case interface{ Err() error }:
		own = v.Err()
	}
	return own != nil && slices.ContainsFunc(shown, func(err error) bool {
		return errors.Is(own, errNoModel) || // which only points to the error of the fit
			strings.Contains(err.Error(), own.Error()) || strings.Contains(own.Error(), err.Error())
	})
}

// illustrated is shown with its figure, if there is no error.
type illustrated interface {
	display.Displayer
	Err() error
	Illustration() *figure.Figure
}

func show(v any) error {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
		if m, ok := v.(*Model); ok {
			return display.Show(m.Display())
		}
		return display.Show(display.Failed(fmt.Errorf(
			"nothing to show: the %s is nil; look at the err that came with it", typed(v))))
	}
	switch v := v.(type) {
	case nil:
		return nil
	case *Comparison:
		return withFigure(v, v.Err(), v.Figure)
	case *Evaluation:
		if err := display.Show(v.Display()); err != nil || v.Calibration == nil {
			return err
		}
		if err := display.Show(v.CalibrationTable()); err != nil {
			return err
		}
		return show(v.Figure())
	case illustrated:
		return withFigure(v, v.Err(), v.Illustration)
	case Card:
		if v == "" {
			return nil // the error beside it says why
		}
		return display.ShowMarkdown(string(v))
	case display.Displayer:
		return display.Show(v.Display())
	case *figure.Figure:
		return drawn(v, true)
	case *figure.Slider:
		turned, err := v.HTML()
		if err != nil {
			return err
		}
		return display.ShowHTML(turned, v.Words())
	case dataframe.DataFrame:
		return display.Show(gotaItem(v))
	case *frame.Table:
		return display.Show(DataFrame{records: v}.Display())
	case *frame.Design:
		return display.Show((&Dataset{design: v}).Display())
	case error:
		return display.Show(display.Failed(v))
	}
	switch reflect.ValueOf(v).Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		return display.Show(display.Item{Notes: []string{fmt.Sprint(v)}})
	}
	// Anything else might be records in disguise.
	return fmt.Errorf("cannot show a %s; show a DataFrame, a Dataset, a Budget, a Model, a figure, an error, a text "+
		"or a number; "+
		"Model.PredictFrame makes a dataframe of predictions", typed(v))
}

// withFigure shows v and, where it has no error, its figure, if it has one.
func withFigure(v display.Displayer, failed error, figureOf func() *figure.Figure) error {
	if err := display.Show(v.Display()); err != nil || failed != nil {
		return err
	}
	if f := figureOf(); f != nil {
		return drawn(f, false) // its title is that of the table
	}
	return nil
}

// drawn shows a figure: a page of several as HTML, with its title if asked for, any other as an image.
func drawn(f *figure.Figure, titled bool) error {
	page, err := f.HTML(titled)
	if err != nil {
		return err
	}
	if page != "" {
		return display.ShowHTML(page, f.Words())
	}
	png, err := f.PNG()
	if err != nil {
		return err
	}
	return display.ShowPNG(png, f.Words())
}

// typed is the type of v as it is typed in a notebook, by the names of the front door.
func typed(v any) string {
	return strings.NewReplacer("learn.", "dpnb.", "explore.", "dpnb.", "frame.Field", "dpnb.Field",
		"frame.CSVSettings", "dpnb.CSV",
		"noise.Source", "dpnb.NoiseSource").Replace(fmt.Sprintf("%T", v))
}

// rawWarning is shown above whatever may be about individual people.
const rawWarning = "RAW RECORDS: these are data of individual people, and nothing protects them. " +
	"Remove the output before you share the notebook, unless the data are public."

// gotaItem shows a gota dataframe. Whether its rows are records cannot be known, unless they are of a model's
// coefficients, so it is labelled as if they were.
func gotaItem(df dataframe.DataFrame) display.Item {
	if df.Err != nil {
		return display.Failed(df.Err)
	}
	const most = 20
	it := display.Item{Header: df.Names(), Rows: df.Records()[1:]}
	var known bool
	if it.Warning, known = warningOf(it.Header, it.Rows); !known {
		it.Warning = rawWarning
	}
	if n := len(it.Rows) - most; n > 0 {
		it.Rows = it.Rows[:most]
		it.Note("… and %d more rows", n)
	}
	return it
}

// Must returns v. If there is an error it ends the cell with it, and panics outside a notebook: for the cells of a
// notebook, which cannot return an error. What is shown does not need it, since Show takes the error as well.
func Must[T any](v T, err error) T {
	if err != nil {
		display.Stop(err)
	}
	return v
}

// Valid ends the cell as Must does if one of the things is an error, or has one: what was mistyped is said before
// anything is paid for.
func Valid(things ...any) {
	var errs []error
	said := map[string]bool{} // a schema that is wrong is so for all that is made with it
	add := func(err error) {
		if err != nil && !said[err.Error()] {
			errs, said[err.Error()] = append(errs, err), true
		}
	}
	for _, v := range things {
		switch v := v.(type) {
		case error:
			add(v)
		case interface{ Err() error }:
			add(v.Err())
		}
	}
	if err := errors.Join(errs...); err != nil {
		display.Stop(err)
	}
}
