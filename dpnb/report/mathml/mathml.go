// Package mathml turns the formulas of a notebook, written in LaTeX, into MathML, which browsers show without a script.
// So a report can be read anywhere, offline too. The room report enters; others may.
//
// It knows the part of LaTeX that formulas in notebooks use; what it does not know it reports as an error, and never
// guesses.
//
// MathML Core: https://www.w3.org/TR/mathml-core/
package mathml

import (
	"fmt"
	"html"
	"strings"
)

// Convert returns the MathML of a LaTeX formula, for a line of its own if display is set.
//
// Errors: one that names the first command or bracket that it cannot convert.
func Convert(tex string, display bool) (string, error) {
	p := &parser{tokens: tokenize(tex), display: display}
	content := p.row("")
	if t := p.peek(); t != "" {
		p.fail("unexpected %q", t)
	}
	if p.err != nil {
		return "", fmt.Errorf("formula %q: %w", tex, p.err)
	}
	mode := ""
	if display {
		mode = ` display="block"`
	}
	return fmt.Sprintf(
		`<math%s><semantics>%s<annotation encoding="application/x-tex">%s</annotation></semantics></math>`,
		mode, content, html.EscapeString(tex)), nil
}

// node is a piece of MathML.
type node struct {
	xml string
	// limits is set for operators under and over which, on a line of their own, their scripts are put.
	limits bool
	// word is set for the names of functions, which keep a distance from letters.
	word bool
}

func element(name, content string) node {
	return node{xml: "<" + name + ">" + content + "</" + name + ">"}
}

func leaf(name, text string) node { return element(name, html.EscapeString(text)) }

// identifier is a letter.
func identifier(text string) node { return leaf("mi", text) }

// operator is an mo that does not grow with its surroundings unless it is told to.
func operator(text string) node { return leaf("mo", text) }

func integral(sign string) node { return node{xml: `<mo largeop="true">` + sign + `</mo>`} }

// sum is an operator such as ∑, whose scripts are its limits.
func sum(sign string) node { return node{xml: integral(sign).xml, limits: true} }

// bracket keeps the size of a letter, fence grows with what it encloses.
func bracket(sign string) node { return node{xml: `<mo stretchy="false">` + sign + `</mo>`} }

func fence(sign, form string) string {
	return fmt.Sprintf(`<mo stretchy="true" fence="true" form="%s">%s</mo>`, form, strings.TrimPrefix(sign, "."))
}

func space(width string) node { return node{xml: `<mspace width="` + width + `"/>`} }

// function is a word such as log.
func function(name string) node {
	return node{xml: `<mi mathvariant="normal">` + name + `</mi>`, word: true}
}

// limit is a function such as max, under which scripts are put.
func limit(name string) node {
	n := function(name)
	n.limits = true
	return n
}

// group makes one piece of several.
func group(row []node) string {
	if len(row) == 1 {
		return row[0].xml
	}
	var b strings.Builder
	for _, n := range row {
		b.WriteString(n.xml)
	}
	return element("mrow", b.String()).xml
}
