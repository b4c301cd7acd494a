package notebook

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

// Output is one output of a code cell, in the form in which it is compared.
type Output struct {
	// Kind is stdout, stderr, error, or display for anything richer.
	Kind string
	// Text is what was written, or the text of a display.
	Text string
	// Types are the MIME types of a display, in alphabetical order.
	Types []string
}

// textTypes are the forms of a display that can be compared as text. The plain one comes first: it has a line for each
// row of a table, so that a difference can be seen, and a change of style is none.
var textTypes = []string{"text/plain", "text/markdown", "text/latex", "text/html"}

// JoinStreams makes one output of pieces of a stream that follow each other: where they were cut is chance.
func (nb *Notebook) JoinStreams() {
	for _, c := range nb.Cells {
		raw := c.rawOutputs()
		if len(raw) == 0 {
			continue
		}
		joined := []any{}
		var last map[string]any
		for _, o := range raw {
			if isStream(o) && isStream(last) && text(o["name"]) == text(last["name"]) {
				last["text"] = lines(text(last["text"]) + text(o["text"]))
				continue
			}
			joined = append(joined, o)
			last = o
		}
		c.fields["outputs"] = joined
	}
}

func isStream(o map[string]any) bool { return text(o["output_type"]) == "stream" }

// Outputs returns what the cell gave. Streams are expected to be joined.
func (c *Cell) Outputs() []Output {
	var list []Output
	for _, o := range c.rawOutputs() {
		out := Output{Kind: "display"}
		switch text(o["output_type"]) {
		case "stream":
			out.Kind, out.Text = text(o["name"]), text(o["text"])
		case "error":
			out.Kind, out.Text = "error", text(o["evalue"])
		default:
			data, _ := o["data"].(map[string]any)
			out.Types = slices.Sorted(maps.Keys(data))
			if k := slices.IndexFunc(textTypes, func(t string) bool { return data[t] != nil }); k >= 0 {
				out.Text = text(data[textTypes[k]])
			}
		}
		list = append(list, out)
	}
	return list
}

// MapProse replaces each text of the cell in which formulas are shown: that of a markdown cell, and Markdown or LaTeX
// among the outputs.
func (c *Cell) MapProse(f func(string) string) {
	if c.Type() == "markdown" {
		c.fields["source"] = lines(f(c.Source()))
	}
	for _, o := range c.rawOutputs() {
		data, _ := o["data"].(map[string]any)
		for _, t := range []string{"text/markdown", "text/latex"} {
			if v, ok := data[t]; ok {
				data[t] = lines(f(text(v)))
			}
		}
	}
}

// Marked returns the plain text of every output whose HTML contains the mark.
func (c *Cell) Marked(mark string) []string {
	var texts []string
	for _, o := range c.rawOutputs() {
		if data, _ := o["data"].(map[string]any); strings.Contains(text(data["text/html"]), mark) {
			texts = append(texts, text(data["text/plain"]))
		}
	}
	return texts
}

// Stderr returns what the cell wrote to standard error.
func (c *Cell) Stderr() string {
	var b strings.Builder
	for _, o := range c.Outputs() {
		if o.Kind == "stderr" {
			b.WriteString(o.Text)
		}
	}
	return b.String()
}

// Traceback returns the text of the error that ended the cell, or "".
func (c *Cell) Traceback() string {
	for _, o := range c.rawOutputs() {
		if text(o["output_type"]) == "error" {
			list, _ := o["traceback"].([]any)
			parts := make([]string, len(list))
			for i, part := range list {
				parts[i] = text(part)
			}
			return strings.Join(parts, "\n")
		}
	}
	return ""
}

func (c *Cell) rawOutputs() []map[string]any {
	list, _ := c.fields["outputs"].([]any)
	var out []map[string]any
	for _, item := range list {
		if o, ok := item.(map[string]any); ok {
			out = append(out, o)
		}
	}
	return out
}

// Picture is a picture among the outputs: its address with all its data, and the text that stands for it.
type Picture struct{ Source, Text string }

// Pictures returns the pictures that the cell shows, in order.
func (c *Cell) Pictures() (list []Picture) {
	for _, o := range c.rawOutputs() {
		data, _ := o["data"].(map[string]any)
		if data["text/html"] != nil || data["text/markdown"] != nil {
			continue // that is shown instead
		}
		kinds := []string{"image/svg+xml", "image/png", "image/jpeg"}
		k := slices.IndexFunc(kinds, func(kind string) bool { return data[kind] != nil })
		if k < 0 {
			continue
		}
		content := strings.Join(strings.Fields(text(data[kinds[k]])), "")
		if k == 0 {
			content = base64.StdEncoding.EncodeToString([]byte(text(data[kinds[k]])))
		}
		list = append(list, Picture{"data:" + kinds[k] + ";base64," + content, text(data["text/plain"])})
	}
	return list
}
