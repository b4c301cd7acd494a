package mathml

import (
	"fmt"
	"strings"
)

// environments are the tables that LaTeX knows, by the brackets around them and
// how their columns are aligned.
var environments = map[string]struct{ open, close, align string }{
	"aligned": {"", "", "right left"}, "align": {"", "", "right left"}, "align*": {"", "", "right left"},
	"split": {"", "", "right left"}, "eqnarray": {"", "", "right center left"},
	"gather": {"", "", "center"}, "gather*": {"", "", "center"}, "gathered": {"", "", "center"},
	"equation": {"", "", "center"}, "equation*": {"", "", "center"},
	"matrix": {"", "", "center"}, "array": {"", "", "center"},
	"pmatrix": {"(", ")", "center"}, "bmatrix": {"[", "]", "center"}, "vmatrix": {"|", "|", "center"},
	"cases": {"{", "", "left"},
}

// environment reads a table between \begin and \end.
func (p *parser) environment() (node, error) {
	name, err := p.raw()
	if err != nil {
		return node{}, err
	}
	e, ok := environments[name]
	if !ok {
		return node{}, fmt.Errorf(`\begin{%s} is not known`, name)
	}
	if name == "array" { // the alignment of its columns
		if _, err := p.raw(); err != nil {
			return node{}, err
		}
	}
	aligns := strings.Fields(e.align)
	var rows, cells strings.Builder
	for column := 0; ; {
		row, err := p.row()
		if err != nil {
			return node{}, err
		}
		fmt.Fprintf(&cells, `<mtd style="text-align: %s">%s</mtd>`, aligns[column%len(aligns)], group(row))
		end := p.next()
		if end == "&" {
			column++
			continue
		}
		fmt.Fprintf(&rows, "<mtr>%s</mtr>", &cells)
		cells.Reset()
		column = 0
		switch {
		case end == `\\` && p.peek() != `\end`:
		case end == `\end`, end == `\\` && p.next() == `\end`:
			if closing, err := p.raw(); err != nil || closing != name {
				return node{}, fmt.Errorf(`\begin{%s} without its \end`, name)
			}
			return element("mrow", bracket(e.open, "prefix")+element("mtable", rows.String()).xml+bracket(e.close, "postfix")), nil
		default:
			return node{}, fmt.Errorf(`\begin{%s} without its \end`, name)
		}
	}
}

// bracket is a fence, or nothing where there is none.
func bracket(text, form string) string {
	if text == "" {
		return ""
	}
	return fence(text, form).xml
}
