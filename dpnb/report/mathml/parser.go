package mathml

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parser reads a formula by recursive descent.
type parser struct {
	tokens  []string
	at      int
	display bool
	depth   int
}

// maxDepth bounds the nesting, so that no text can exhaust the stack.
const maxDepth = 100

// peek returns the next token that is no blank, or "" at the end.
func (p *parser) peek() string {
	for p.at < len(p.tokens) && p.tokens[p.at] == " " {
		p.at++
	}
	if p.at == len(p.tokens) {
		return ""
	}
	return p.tokens[p.at]
}

func (p *parser) next() string {
	t := p.peek()
	if t != "" {
		p.at++
	}
	return t
}

func (p *parser) expect(token string) error {
	if got := p.next(); got != token {
		return fmt.Errorf("%q expected before %q", token, got)
	}
	return nil
}

// ends are the tokens before which a row ends.
var ends = map[string]bool{"": true, "}": true, "&": true, `\\`: true, `\right`: true, `\middle`: true, `\end`: true}

// row reads up to the end of a group.
func (p *parser) row() ([]node, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	var row []node
	for !ends[p.peek()] {
		n, err := p.scripted()
		if err != nil {
			return nil, err
		}
		if last := len(row) - 1; last >= 0 && (n.word && touches(row[last]) || row[last].word && touches(n)) {
			row = append(row, space("0.167em"))
		}
		row = append(row, n)
	}
	return row, nil
}

// touches reports whether a node would stick to the name of a function: signs and
// spaces do not.
func touches(n node) bool {
	return !strings.HasPrefix(n.xml, "<mo") && !strings.HasPrefix(n.xml, "<mrow><mo") && !strings.HasPrefix(n.xml, "<mspace")
}

// scripted reads an atom with what is written below and above it.
func (p *parser) scripted() (node, error) {
	var base node
	if t := p.peek(); t == "^" || t == "_" {
		base = element("mrow", "") // a script on nothing
	} else {
		var err error
		if base, err = p.atom(); err != nil {
			return node{}, err
		}
	}
	var sub, sup string
	for {
		switch p.peek() {
		case "_", "^":
			which := p.next()
			n, err := p.argument()
			if err != nil {
				return node{}, err
			}
			if which == "_" {
				sub += n
			} else {
				sup += n
			}
			continue
		case "'":
			p.next()
			sup += `<mo>′</mo>`
			continue
		case `\limits`:
			p.next()
			base.limits = true
			continue
		case `\nolimits`:
			p.next()
			base.limits = false
			continue
		}
		n := attach(base, sub, sup, p.display)
		n.word = base.word
		return n, nil
	}
}

func attach(base node, sub, sup string, display bool) node {
	names := [3]string{"msub", "msup", "msubsup"}
	if base.limits && display {
		names = [3]string{"munder", "mover", "munderover"}
	}
	wrap := func(s string) string { return "<mrow>" + s + "</mrow>" }
	switch {
	case sub == "" && sup == "":
		return base
	case sup == "":
		return element(names[0], base.xml+wrap(sub))
	case sub == "":
		return element(names[1], base.xml+wrap(sup))
	default:
		return element(names[2], base.xml+wrap(sub)+wrap(sup))
	}
}

// argument reads what follows a command: a group, or a single atom. Of a number
// without braces it is the first digit only, as \frac12 is a half.
func (p *parser) argument() (string, error) {
	t := p.peek()
	if ends[t] {
		return "", fmt.Errorf("an argument is missing before %q", t)
	}
	if first, size := utf8.DecodeRuneInString(t); unicode.IsDigit(first) && size < len(t) {
		p.tokens[p.at] = t[size:]
		return leaf("mn", t[:size]).xml, nil
	}
	n, err := p.atom()
	return n.xml, err
}

// atom reads one thing: a group, a command with its arguments, a letter, a number
// or a sign.
func (p *parser) atom() (node, error) {
	t := p.next()
	switch first, _ := utf8.DecodeRuneInString(t); {
	case t == "{":
		row, err := p.row()
		if err != nil {
			return node{}, err
		}
		return node{xml: group(row)}, p.expect("}")
	case first == '\\':
		return p.command(t)
	case t == "~":
		return space("0.333em"), nil
	case t == "$" || t == "#":
		return node{}, fmt.Errorf("unexpected %q", t)
	case unicode.IsDigit(first):
		return leaf("mn", t), nil
	case unicode.IsLetter(first):
		return leaf("mi", t), nil
	case t == "-":
		return operator("−"), nil
	case t == "*":
		return operator("∗"), nil
	case t == "(" || t == ")" || t == "[" || t == "]" || t == "|":
		return node{xml: `<mo stretchy="false">` + t + `</mo>`}, nil
	default:
		return operator(t), nil
	}
}

// raw reads a group as the text that it is.
func (p *parser) raw() (string, error) {
	if err := p.expect("{"); err != nil {
		return "", err
	}
	var b strings.Builder
	for depth := 1; p.at < len(p.tokens); p.at++ {
		switch t := p.tokens[p.at]; {
		case t == "{":
			depth++
		case t == "}":
			if depth--; depth == 0 {
				p.at++
				return b.String(), nil
			}
		case len(t) == 2 && t[0] == '\\' && strings.Contains(`{}%$#&_ `, t[1:]):
			b.WriteString(t[1:])
		case t == `\,`:
			b.WriteString(" ")
		case t[0] == '\\':
			return "", fmt.Errorf("%s inside text", t)
		default:
			b.WriteString(t)
		}
	}
	return "", fmt.Errorf("a } is missing")
}

func space(width string) node { return node{xml: `<mspace width="` + width + `"/>`} }
