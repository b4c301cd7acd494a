package frame_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// An error that quotes a record says so; one that does not, does not.
func TestErrorsSayWhetherTheyQuote(t *testing.T) {
	read := func(text string, kinds map[string]frame.Kind) (*frame.Table, error) {
		path := filepath.Join(t.TempDir(), "people.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return frame.ReadCSVFile(path, &frame.CSVSettings{Kinds: kinds})
	}
	schema := &frame.Schema{Fields: []frame.Field{frame.NumericField("age", 0, 120), frame.CategoricalField("ill", "yes", "no"), frame.NumericField("visits", 0, 9)}}
	for name, c := range map[string]struct {
		csv    string
		label  string
		task   frame.Task
		kinds  map[string]frame.Kind
		quotes string
	}{
		"label":           {"age,ill,visits\n30,SECRET,1\n31,no,2\n", "ill", frame.TwoClasses, nil, "SECRET"},
		"category":        {"age,ill,visits\n30,SECRET,1\n31,no,2\n", "visits", frame.Count, nil, "SECRET"},
		"text for number": {"age,ill,visits\nSECRET,yes,1\n31,no,2\n", "ill", frame.TwoClasses, nil, "SECRET"},
		"text for target": {"age,ill,visits\n30,yes,SECRET\n31,no,2\n", "visits", frame.Count, nil, "SECRET"},
		"no count":        {"age,ill,visits\n30,yes,1.2345\n31,no,2\n", "visits", frame.Count, nil, "1.2345"},
		"kind":            {"age,ill,visits\n30,yes,SECRET\n31,no,2\n", "ill", frame.TwoClasses, map[string]frame.Kind{"visits": frame.Numeric}, "SECRET"},
		"missing":         {"age,ill,visits\n30,,1\n31,no,2\n", "ill", frame.TwoClasses, nil, ""},
		"no column":       {"age,ill\n30,yes\n31,no\n", "visits", frame.Count, nil, ""},
	} {
		tab, err := read(c.csv, c.kinds)
		if err == nil {
			_, err = frame.NewDesign(tab, schema, frame.DesignSettings{Label: c.label, Task: c.task})
		}
		var in *frame.InputError
		if !errors.As(err, &in) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if in.Quotes != (c.quotes != "") || in.Quotes != strings.Contains(err.Error(), "quotes a record") || !strings.Contains(err.Error(), c.quotes) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
