package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// failed returns a notebook of a text, a cell [1] and a failed cell [2].
func failed(t *testing.T, stderr, traceback string) *notebook.Notebook {
	t.Helper()
	outputs := []map[string]any{}
	if stderr != "" {
		outputs = append(outputs, map[string]any{"output_type": "stream", "name": "stderr", "text": stderr})
	}
	outputs = append(outputs,
		map[string]any{"output_type": "error", "ename": "ERROR", "evalue": "", "traceback": []string{traceback}})
	content := must.Get(json.Marshal(map[string]any{"nbformat": 4, "cells": []any{
		map[string]any{"cell_type": "markdown", "source": "text"},
		map[string]any{"cell_type": "code", "source": "func f() {\n\tpanic(1)\n}", "execution_count": 1},
		map[string]any{"cell_type": "code", "source": "%%\nf()\ng()", "execution_count": 2, "outputs": outputs},
	}}))
	return must.Get(notebook.Parse(content))
}

func TestLocate(t *testing.T) {
	for _, c := range []struct {
		name, stderr, traceback string
		driver                  driverFailure
		want                    string
	}{
		{
			"a panic in an earlier cell",
			"panic: 1\n\ngoroutine 1 [running]:\nmain.f()\n" +
				"\t \x1b[7m[[ Cell [1] Line 2 ]]\x1b[0m /tmp/x/main.go:9\nmain.main()\n" +
				"\t \x1b[7m[[ Cell [2] Line 2 ]]\x1b[0m /tmp/x/main.go:16\nexit status 2\n",
			"exit status 2", driverFailure{"error", "exit status 2", 2, ""},
			"cell 3 [2], in what cell 2 declares, line 2: panic(1)\npanic: 1",
		},
		{
			"a panic whose place the kernel missed",
			"panic: 1\n\ngoroutine 1 [running]:\nmain.f()\n\t/tmp/x/main.go:2 +0x1\nmain.main()\n" +
				"\t \x1b[7m[[ Cell [2] Line 2 ]]\x1b[0m /tmp/x/main.go:16\n",
			"exit status 2", driverFailure{"error", "exit status 2", 2, "func f() {\n  panic(1)"},
			"cell 3 [2], in what cell 2 declares, line 2: panic(1)\npanic: 1",
		},
		{
			"a panic in the first line",
			"panic: 1\n\ngoroutine 1 [running]:\n\t \x1b[7m[[ Cell [1] Line 1 ]]\x1b[0m /tmp/x/main.go:9\n",
			"exit status 2", driverFailure{"error", "exit status 2", 2, ""},
			"cell 3 [2], in what cell 2 declares, line 1: func f() {\npanic: 1",
		},
		{
			"a compiler's complaint", "", "# gonb_12ab\nCell[2]: Line 3\n\ng()\n^\nundefined: g",
			driverFailure{"error", "# gonb_12ab\n./main.go:18:13: undefined: g\n", 2, ""},
			"cell 3 [2], line 3: g()\nundefined: g",
		},
		{
			"a fatal log", "2026/01/02 it went wrong\nexit status 1\n", "exit status 1",
			driverFailure{"error", "exit status 1", 2, ""}, "cell 3 [2]\n2026/01/02 it went wrong",
		},
		{"a timeout", "", "", driverFailure{"timeout", "no answer within 5 s", 2, ""},
			"cell 3 [2]\nno answer within 5 s"},
		{"before the first cell", "", "", driverFailure{"dead", "the kernel ended", -1, ""},
			"before the first cell\nthe kernel ended"},
	} {
		if got := locate(failed(t, c.stderr, c.traceback), c.driver).Error(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// What display.Stop shows is what a report says of the cell, and a panic's own words are what it says of a panic.
func TestLocateWhatIsShown(t *testing.T) {
	const place = "\t \x1b[7m[[ Cell [1] Line 2 ]]\x1b[0m /tmp/x/main.go:9\nexit status 1\n"
	refused := display.Failed(errors.New("ledger: refused"))
	for stderr, want := range map[string]string{
		"The cell ends here:\n" + place: "cell 3 [2], in what cell 2 declares, line 2: panic(1)\nledger: refused",
		"panic: 1\n\n" + place:          "cell 3 [2], in what cell 2 declares, line 2: panic(1)\npanic: 1",
	} {
		nb := failed(t, stderr, "exit status 1")
		text := must.Get(nb.Encode())
		shown := must.Get(json.Marshal(map[string]any{"output_type": "display_data", "data": map[string]any{
			"text/html": refused.HTML(), "text/plain": refused.Text()}}))
		at := bytes.Index(text, []byte(`"outputs": [`)) + len(`"outputs": [`)
		nb = must.Get(notebook.Parse(slices.Concat(text[:at], shown, []byte(","), text[at:])))
		if got := locate(nb, driverFailure{"error", "exit status 1", 2, ""}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A cell that shows an error fails the report, wherever the error comes from; a warning, an error's words in a text,
// and a cell that is to show one do not.
func TestShownErrors(t *testing.T) {
	failed := display.Failed(errors.New(`no "x.csv"`))
	for _, c := range []struct {
		name string
		item display.Item
		tags []string
		want string
	}{
		{"an error", failed, nil, "cell 2 [4]\n2 cells show an error\ncell 2: no \"x.csv\"\ncell 3: no \"x.csv\""},
		{"on purpose", failed, []string{notebook.TagError}, ""},
		{"a warning", display.Item{Warning: "SIMULATION"}, nil, ""},
		{"words", display.Item{Notes: []string{failed.HTML()}}, nil, ""},
	} {
		cell := map[string]any{"cell_type": "code", "source": "%%", "execution_count": 4,
			"metadata": map[string]any{"tags": c.tags}, "outputs": []map[string]any{{"output_type": "display_data",
				"data": map[string]any{"text/html": c.item.HTML(), "text/plain": c.item.Text()}}}}
		content := must.Get(json.Marshal(map[string]any{"nbformat": 4, "cells": []any{
			map[string]any{"cell_type": "markdown", "source": "text"}, cell, cell}}))
		nb := must.Get(notebook.Parse(content))
		got := ""
		if f := shownErrors(nb); f != nil {
			got = f.Error()
		}
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
