// Package mathml turns the formulas of a notebook, written in LaTeX, into MathML,
// which browsers show without a script. So a report can be read anywhere, offline
// too.
//
// It knows the part of LaTeX that formulas in notebooks use; what it does not know
// it reports as an error, and never guesses.
//
// MathML Core: https://www.w3.org/TR/mathml-core/
package mathml

import (
	"fmt"
	"html"
	"strings"
	"unicode"
)

// Convert returns the MathML of a LaTeX formula, for a line of its own if display
// is set.
//
// Errors: one that names the first command or bracket that it cannot convert.
func Convert(tex string, display bool) (string, error) {
	p := &parser{tokens: tokenize(tex), display: display}
	row, err := p.row()
	if err == nil && p.peek() != "" {
		err = fmt.Errorf("unexpected %q", p.peek())
	}
	if err != nil {
		return "", fmt.Errorf("formula %q: %w", tex, err)
	}
	mode := ""
	if display {
		mode = ` display="block"`
	}
	return fmt.Sprintf(`<math%s><semantics>%s<annotation encoding="application/x-tex">%s</annotation></semantics></math>`,
		mode, group(row), html.EscapeString(tex)), nil
}

// tokenize cuts a formula into commands with their backslash, numbers, blanks
// (each as one space) and single characters. Comments are left out.
func tokenize(tex string) []string {
	var tokens []string
	runes := []rune(tex)
	for i := 0; i < len(runes); {
		start := i
		switch r := runes[i]; {
		case r == '\\' && i+1 < len(runes):
			i += 2
			if isLetter(runes[start+1]) {
				for i < len(runes) && isLetter(runes[i]) {
					i++
				}
			}
		case unicode.IsSpace(r):
			for i < len(runes) && unicode.IsSpace(runes[i]) {
				i++
			}
			tokens = append(tokens, " ")
			continue
		case unicode.IsDigit(r):
			for i < len(runes) && (unicode.IsDigit(runes[i]) ||
				(runes[i] == '.' || runes[i] == ',') && i+1 < len(runes) && unicode.IsDigit(runes[i+1])) {
				i++
			}
		case r == '%':
			for i < len(runes) && runes[i] != '\n' {
				i++
			}
			continue
		default:
			i++
		}
		tokens = append(tokens, string(runes[start:i]))
	}
	return tokens
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// node is a piece of MathML.
type node struct {
	xml string
	// limits is set for operators under and over which, on a line of their own, their
	// scripts are put.
	limits bool
	// word is set for the names of functions, which keep a distance from letters.
	word bool
}

func group(row []node) string {
	if len(row) == 1 {
		return row[0].xml
	}
	var b strings.Builder
	b.WriteString("<mrow>")
	for _, n := range row {
		b.WriteString(n.xml)
	}
	b.WriteString("</mrow>")
	return b.String()
}

func element(name, content string) node {
	return node{xml: "<" + name + ">" + content + "</" + name + ">"}
}

func leaf(name, text string) node { return element(name, html.EscapeString(text)) }

// operator is an mo that does not grow with its surroundings unless it is told to.
func operator(text string) node { return leaf("mo", text) }

func fence(text, form string) node {
	if text == "." {
		text = ""
	}
	return node{xml: fmt.Sprintf(`<mo stretchy="true" fence="true" form="%s">%s</mo>`, form, html.EscapeString(text))}
}
