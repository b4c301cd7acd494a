package notebook

import (
	"maps"
	"slices"
	"strings"
)

// Output is one output of a code cell, in the form in which it is compared.
type Output struct {
	// Kind is stdout, stderr, error, or display for anything richer.
	Kind string
	// Text is what was written, or the richest text of a display.
	Text string
	// Types are the MIME types of a display, in alphabetical order.
	Types []string
}

// textTypes are the forms of a display that can be compared as text, the richest
// first.
var textTypes = []string{"text/html", "text/markdown", "text/latex", "text/plain"}

// Outputs returns what the cell gave. Pieces of one stream that follow each other
// are joined: where they were cut is chance.
func (c *Cell) Outputs() []Output {
	var list []Output
	for _, o := range c.rawOutputs() {
		out := Output{Kind: "display"}
		switch text(o["output_type"]) {
		case "stream":
			out.Kind, out.Text = text(o["name"]), text(o["text"])
			if last := len(list) - 1; last >= 0 && list[last].Kind == out.Kind {
				list[last].Text += out.Text
				continue
			}
		case "error":
			out.Kind, out.Text = "error", text(o["evalue"])
		default:
			data, _ := o["data"].(map[string]any)
			out.Types = slices.Sorted(maps.Keys(data))
			for _, t := range textTypes {
				if v, ok := data[t]; ok {
					out.Text = text(v)
					break
				}
			}
		}
		list = append(list, out)
	}
	return list
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
