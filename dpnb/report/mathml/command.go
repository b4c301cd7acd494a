package mathml

import (
	"fmt"
	"strings"
)

// command converts a command and reads its arguments.
func (p *parser) command(t string) (node, error) {
	name := t[1:]
	if s, ok := identifiers[name]; ok {
		return leaf("mi", s), nil
	}
	if s, ok := operators[name]; ok {
		return operator(s), nil
	}
	if s, ok := bigOperators[name]; ok {
		return node{xml: `<mo largeop="true">` + s + `</mo>`, limits: strings.Contains("∑∏⋃⋂⨁⨂", s)}, nil
	}
	if s, ok := delimiters[name]; ok {
		return node{xml: `<mo stretchy="false">` + s + `</mo>`}, nil
	}
	if s, ok := functions[name]; ok {
		return named(s, limitFunctions[name]), nil
	}
	if width, ok := spaces[name]; ok {
		return space(width), nil
	}
	if accent, ok := accents[name]; ok {
		return p.accented(accent)
	}
	if alphabet, ok := alphabets[name]; ok {
		return p.styled(alphabet)
	}
	if sizes[name] {
		return p.sized()
	}
	if ignored[name] {
		if ends[p.peek()] {
			return element("mrow", ""), nil
		}
		return p.scripted()
	}
	return p.structure(name)
}

// structure converts the commands that build something of their arguments.
func (p *parser) structure(name string) (node, error) {
	switch name {
	case "frac", "dfrac", "tfrac", "cfrac":
		return p.two("<mfrac>%s%s</mfrac>")
	case "binom":
		return p.two(`<mrow><mo>(</mo><mfrac linethickness="0">%s%s</mfrac><mo>)</mo></mrow>`)
	case "overset", "stackrel":
		return p.two("<mover>%[2]s%[1]s</mover>")
	case "underset":
		return p.two("<munder>%[2]s%[1]s</munder>")
	case "sqrt":
		return p.root()
	case "left":
		return p.fenced()
	case "begin":
		return p.environment()
	case "not":
		return p.negated()
	case "text", "textrm", "textnormal", "mbox", "textit", "textbf", "texttt", "label":
		s, err := p.raw()
		if name == "label" {
			s = ""
		}
		return leaf("mtext", strings.ReplaceAll(s, " ", "\u00a0")), err
	case "operatorname":
		limits := p.peek() == "*"
		if limits {
			p.next()
		}
		s, err := p.raw()
		return named(strings.TrimSpace(s), limits), err
	case "underbrace", "overbrace":
		arg, err := p.argument()
		if name == "underbrace" {
			return node{xml: "<munder>" + arg + `<mo stretchy="true">⏟</mo></munder>`, limits: true}, err
		}
		return node{xml: "<mover>" + arg + `<mo stretchy="true">⏞</mo></mover>`, limits: true}, err
	case "rm": // upright letters up to the end of the group
		row, err := p.row()
		if err != nil {
			return node{}, err
		}
		return style(upright, group(row)), nil
	case "boxed":
		arg, err := p.argument()
		return node{xml: `<mrow style="border: thin solid; padding: 0.3em">` + arg + "</mrow>"}, err
	case "tag":
		s, err := p.raw()
		return node{xml: `<mspace width="2em"/>` + leaf("mtext", "("+s+")").xml}, err
	case "pmod":
		arg, err := p.argument()
		return node{xml: `<mrow><mspace width="1em"/><mo>(</mo><mi>mod</mi><mspace width="0.333em"/>` + arg + "<mo>)</mo></mrow>"}, err
	default:
		return node{}, fmt.Errorf(`\%s is not known`, name)
	}
}

// named is a function such as log.
func named(s string, limits bool) node {
	return node{xml: `<mi mathvariant="normal">` + s + `</mi>`, limits: limits, word: true}
}

// two reads two arguments into a format.
func (p *parser) two(format string) (node, error) {
	a, err := p.argument()
	if err != nil {
		return node{}, err
	}
	b, err := p.argument()
	return node{xml: fmt.Sprintf(format, a, b)}, err
}

func (p *parser) root() (node, error) {
	if p.peek() != "[" {
		arg, err := p.argument()
		return element("msqrt", arg), err
	}
	p.next()
	var degree []node
	for p.peek() != "]" {
		if ends[p.peek()] {
			return node{}, fmt.Errorf(`\sqrt[ without ]`)
		}
		n, err := p.scripted()
		if err != nil {
			return node{}, err
		}
		degree = append(degree, n)
	}
	p.next()
	arg, err := p.argument()
	return element("mroot", arg+group(degree)), err
}

func (p *parser) accented(a accent) (node, error) {
	arg, err := p.argument()
	name := "mover"
	if a.under {
		name = "munder"
	}
	return node{xml: fmt.Sprintf(`<%s accent="true">%s<mo stretchy="%t">%s</mo></%s>`, name, arg, a.wide, a.sign, name)}, err
}

// negated strikes the following sign through.
func (p *parser) negated() (node, error) {
	n, err := p.atom()
	if err != nil {
		return node{}, err
	}
	end := strings.LastIndex(n.xml, "</mo>")
	if end < 0 {
		return node{}, fmt.Errorf(`\not before something that is no sign`)
	}
	return node{xml: n.xml[:end] + "\u0338" + n.xml[end:]}, nil
}

// delimiter reads what stands after \left, \right or \big.
func (p *parser) delimiter() (string, error) {
	t := p.next()
	if s, ok := delimiters[strings.TrimPrefix(t, `\`)]; ok && strings.HasPrefix(t, `\`) {
		return s, nil
	}
	if t != "" && strings.Contains("()[]|/.", t) {
		return t, nil
	}
	if t == "<" || t == ">" {
		return map[string]string{"<": "⟨", ">": "⟩"}[t], nil
	}
	return "", fmt.Errorf("%q is no bracket", t)
}

// sized reads a bracket whose size is given. Its size is then that of what it
// encloses, which is what one wants.
func (p *parser) sized() (node, error) {
	s, err := p.delimiter()
	return node{xml: `<mo stretchy="true" symmetric="true" minsize="1.3em">` + strings.TrimPrefix(s, ".") + `</mo>`}, err
}

// fenced reads \left( … \middle| … \right).
func (p *parser) fenced() (node, error) {
	open, err := p.delimiter()
	if err != nil {
		return node{}, err
	}
	parts := fence(open, "prefix").xml
	for {
		row, err := p.row()
		if err != nil {
			return node{}, err
		}
		parts += group(row)
		end := p.next()
		if end != `\right` && end != `\middle` {
			return node{}, fmt.Errorf(`\left without \right`)
		}
		s, err := p.delimiter()
		if err != nil {
			return node{}, err
		}
		if end == `\right` {
			return element("mrow", parts+fence(s, "postfix").xml), nil
		}
		parts += fence(s, "infix").xml
	}
}

// styled reads letters of another alphabet.
func (p *parser) styled(a alphabet) (node, error) {
	arg, err := p.argument()
	if err != nil {
		return node{}, err
	}
	return style(a, arg), nil
}

// style sets letters that were read in another alphabet.
func style(a alphabet, arg string) node {
	if a != upright {
		return node{xml: a.restyle(arg)}
	}
	// Letters of a word belong together.
	word := strings.NewReplacer("<mrow>", "", "</mrow>", "", "</mi><mi>", "", "<mi>", "", "</mi>", "").Replace(arg)
	if !strings.Contains(word, "<") {
		return named(word, false)
	}
	return node{xml: strings.ReplaceAll(arg, "<mi>", `<mi mathvariant="normal">`)}
}
