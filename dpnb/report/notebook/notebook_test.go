package notebook

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestRoundTripKeepsEverything(t *testing.T) {
	content := must.Get(os.ReadFile("testdata/odd.ipynb"))
	nb := must.Get(Parse(content))
	again, err := nb.Encode()
	if err != nil || string(again) != string(content) {
		t.Errorf("%v; became\n%s", err, again)
	}
	if nb.Title() != "Odd <things> & numbers" {
		t.Errorf("title %q", nb.Title())
	}
	code := nb.Cells[1]
	if code.Type() != "code" || code.Source() != "a := 1\nb" || code.ExecutionCount() != "3" || !code.HasTag("x") {
		t.Errorf("code cell: %+v", code)
	}
}

func TestOutputs(t *testing.T) {
	nb := must.Get(ReadFile("testdata/odd.ipynb"))
	nb.JoinStreams()
	out := nb.Cells[1].Outputs()
	want := []Output{
		{Kind: "stdout", Text: "one\ntwo\n"},
		{Kind: "display", Text: "1", Types: []string{"image/png", "text/html", "text/plain"}},
		{Kind: "stderr", Text: "warned\n"},
		{Kind: "error", Text: "exit status 2"},
	}
	if len(out) != len(want) {
		t.Fatalf("%+v", out)
	}
	for i := range want {
		if out[i].Kind != want[i].Kind || out[i].Text != want[i].Text ||
			strings.Join(out[i].Types, " ") != strings.Join(want[i].Types, " ") {
			t.Errorf("output %d: %+v, want %+v", i, out[i], want[i])
		}
	}
	shown := must.Get(Parse([]byte(`{"nbformat":4,"cells":[{"cell_type":"code","source":"","outputs":[
		{"data":{"image/png":"a b\nc","text/plain":"one"}},{"data":{"text/plain":"none"}},
		{"data":{"image/jpeg":"d","text/html":"instead"}},{"data":{"image/jpeg":"d"}},
		{"data":{"image/svg+xml":"<svg/>"}}]}]}`))).Cells[0].Pictures()
	if want := []Picture{{"data:image/png;base64,abc", "one"}, {"data:image/jpeg;base64,d", ""},
		{"data:image/svg+xml;base64,PHN2Zy8+", ""}}; !slices.Equal(shown, want) {
		t.Errorf("pictures %q", shown)
	}
	if nb.Cells[1].Stderr() != "warned\n" || nb.Cells[1].Traceback() != "first\nsecond" {
		t.Errorf("%q, %q", nb.Cells[1].Stderr(), nb.Cells[1].Traceback())
	}
}

func TestParseRefuses(t *testing.T) {
	for content, want := range map[string]string{
		"":                                  "not a notebook",
		"[]":                                "not a notebook",
		`{"nbformat": 3, "worksheets": []}`: "format 4",
		`{"nbformat": 4}`:                   "no list of cells",
		`{"nbformat": 4, "cells": [1]}`:     "cell 1",
	} {
		if _, err := Parse([]byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", content, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	content := must.Get(os.ReadFile("testdata/odd.ipynb"))
	f.Add(content)
	f.Fuzz(func(t *testing.T, content []byte) {
		nb, err := Parse(content)
		if err != nil {
			return
		}
		nb.Title()
		nb.ClearOutputs()
		for _, c := range nb.Cells {
			c.Outputs()
			c.HasTag("x")
		}
		must.Get(nb.Encode())
	})
}
