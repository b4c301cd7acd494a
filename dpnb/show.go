package dpnb

import (
	"fmt"

	"github.com/go-gota/gota/dataframe"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
)

// Show shows anything of this package, a figure, an error, or a gota
// dataframe: in a notebook as a table or an image, elsewhere as text. What it
// shows of raw records is labelled as such.
func Show(things ...any) {
	for _, v := range things {
		if err := show(v); err != nil {
			panic(fmt.Sprintf("dpnb: Show: %v", err))
		}
	}
}

func show(v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case display.Displayer:
		return display.Show(v.Display())
	case display.Item:
		return display.Show(v)
	case *figure.Figure:
		png, err := v.PNG()
		if err != nil {
			return err
		}
		return display.ShowPNG(png, v.Alt)
	case dataframe.DataFrame:
		return display.Show(gotaItem(v))
	case error:
		return display.Show(display.Item{Warning: v.Error()})
	}
	return display.Show(display.Item{Notes: []string{fmt.Sprint(v)}})
}

// gotaItem shows a gota dataframe. Nobody knows whether its rows are records,
// so it says nothing about them.
func gotaItem(df dataframe.DataFrame) display.Item {
	if df.Err != nil {
		return display.Item{Warning: df.Err.Error()}
	}
	const most = 20
	it := display.Item{Header: df.Names()}
	records := df.Records()[1:]
	for i, r := range records {
		if i == most {
			it.Notes = []string{fmt.Sprintf("… and %d more rows", len(records)-most)}
			break
		}
		it.Rows = append(it.Rows, r)
	}
	return it
}
