// Package notebook reads, changes, compares and writes Jupyter notebooks without losing what it does not know.
//
// Format: https://nbformat.readthedocs.io/en/latest/format_description.html
package notebook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Notebook is a notebook of format 4.
type Notebook struct {
	fields map[string]any
	Cells  []*Cell
}

// Cell is one cell.
type Cell struct{ fields map[string]any }

// Tags that this package knows.
const (
	tagParameters = "parameters"          // declares what -p may set
	TagInjected   = "injected-parameters" // sets it
	TagProvenance = "dpnb-provenance"     // says where the results come from
	TagError      = "shows-error"         // shows an error on purpose
)

// ReadFile reads the notebook at path.
func ReadFile(path string) (*Notebook, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	nb, err := Parse(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nb, nil
}

// Parse reads a notebook.
func Parse(content []byte) (*Notebook, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber() // so that no number changes its digits
	nb := &Notebook{}
	if err := decoder.Decode(&nb.fields); err != nil {
		return nil, fmt.Errorf("not a notebook: %w", err)
	}
	if format, ok := nb.fields["nbformat"].(json.Number); !ok || format.String() != "4" {
		return nil, errors.New("not a notebook of format 4: open and save it in Jupyter once")
	}
	list, ok := nb.fields["cells"].([]any)
	if !ok {
		return nil, errors.New("not a notebook: it has no list of cells")
	}
	for i, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("not a notebook: cell %d is no object", i+1)
		}
		nb.Cells = append(nb.Cells, &Cell{fields})
	}
	return nb, nil
}

// Encode returns the notebook as Jupyter itself writes it: keys in order, indented by one.
func (nb *Notebook) Encode() ([]byte, error) {
	list := make([]any, len(nb.Cells))
	for i, c := range nb.Cells {
		list[i] = c.fields
	}
	nb.fields["cells"] = list
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(nb.fields)
	return out.Bytes(), err
}

// Metadata returns the notebook's metadata, to read and to change.
func (nb *Notebook) Metadata() map[string]any { return object(nb.fields, "metadata") }

// Setting returns what the notebook's metadata say under dpnb about something, or "".
func (nb *Notebook) Setting(name string) string {
	settings, _ := nb.Metadata()["dpnb"].(map[string]any)
	return text(settings[name])
}

// SetKernel writes which kernel the notebook wants, and how its language is coloured: the kernel leaves the latter
// empty, which is taken to mean Python.
func (nb *Notebook) SetKernel(name, display, language string) {
	nb.Metadata()["kernelspec"] = map[string]any{"name": name, "display_name": display, "language": language}
	info := object(nb.Metadata(), "language_info")
	info["name"], info["pygments_lexer"] = language, language
}

// Language returns the language that the notebook says it is in, or "".
func (nb *Notebook) Language() string {
	return cmp.Or(text(object(nb.Metadata(), "kernelspec")["language"]),
		text(object(nb.Metadata(), "language_info")["name"]))
}

// Title returns the first heading of the notebook, or "".
func (nb *Notebook) Title() string {
	for _, c := range nb.Cells {
		if c.Type() != "markdown" {
			continue
		}
		for _, line := range strings.Split(c.Source(), "\n") {
			if title, ok := strings.CutPrefix(line, "# "); ok {
				return strings.TrimSpace(title)
			}
		}
	}
	return ""
}

// NewMarkdown returns a text cell. The ID must differ from those of the notebook's other cells.
func NewMarkdown(id, source string, tags ...string) *Cell {
	return newCell("markdown", id, source, tags)
}

// newCode returns a code cell that has not been run.
func newCode(id, source string, tags ...string) *Cell {
	c := newCell("code", id, source, tags)
	c.fields["execution_count"] = nil
	c.fields["outputs"] = []any{}
	return c
}

func newCell(kind, id, source string, tags []string) *Cell {
	list := make([]any, len(tags))
	for i, tag := range tags {
		list[i] = tag
	}
	return &Cell{map[string]any{
		"cell_type": kind, "id": id, "source": lines(source), "metadata": map[string]any{"tags": list},
	}}
}

// Type returns code, markdown or raw.
func (c *Cell) Type() string { return text(c.fields["cell_type"]) }

// Source returns the text of the cell.
func (c *Cell) Source() string { return text(c.fields["source"]) }

// ID returns the cell's name in the notebook.
func (c *Cell) ID() string { return text(c.fields["id"]) }

// SetSource replaces the text of the cell.
func (c *Cell) SetSource(source string) { c.fields["source"] = lines(source) }

// HasTag reports whether the cell has a tag.
func (c *Cell) HasTag(tag string) bool {
	tags, _ := object(c.fields, "metadata")["tags"].([]any)
	return slices.Contains(tags, any(tag))
}

// ExecutionCount returns the number in the square brackets beside a code cell, or "" where it has not been run.
func (c *Cell) ExecutionCount() string {
	n, _ := c.fields["execution_count"].(json.Number)
	return n.String()
}

// ClearOutputs removes what earlier runs gave.
func (nb *Notebook) ClearOutputs() {
	for _, c := range nb.Cells {
		if c.Type() == "code" {
			c.fields["outputs"], c.fields["execution_count"] = []any{}, nil
		}
	}
}

// TakeOutputs copies what running the cell gave from another one.
func (c *Cell) TakeOutputs(from *Cell) {
	c.fields["outputs"] = from.fields["outputs"]
	c.fields["execution_count"] = from.fields["execution_count"]
}

// object returns the object under key, made if it is not there.
func object(fields map[string]any, key string) map[string]any {
	o, ok := fields[key].(map[string]any)
	if !ok {
		o = map[string]any{}
		fields[key] = o
	}
	return o
}

// text joins a string that the format allows to be cut into a list of lines.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, line := range v {
			s, _ := line.(string)
			b.WriteString(s)
		}
		return b.String()
	default:
		return ""
	}
}

// lines cuts a string into the list of lines that Jupyter writes.
func lines(s string) []any {
	list := []any{}
	for line := range strings.Lines(s) {
		list = append(list, line)
	}
	return list
}
