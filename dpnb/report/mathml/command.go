package mathml

import (
	"fmt"
	"html"
	"strings"
)

// commands are what may follow a backslash; each reads its arguments.
var commands = map[string]func(*parser) node{}

func init() {
	for _, table := range []struct {
		list string // names, each followed by its sign
		make func(sign string) node
	}{
		{identifiers, identifier}, {operators, operator}, {sums, sum}, {integrals, integral}, {delimiters, bracket},
		{spaces, space},
	} {
		for name, sign := range pairs(table.list) {
			commands[name] = func(*parser) node { return table.make(sign) }
		}
	}
	define(functions, func(_ *parser, name string) node { return function(name) })
	define(limits, func(_ *parser, name string) node { return limit(name) })
	for name, text := range map[string]string{
		"liminf": "lim inf", "limsup": "lim sup", "argmin": "arg min", "argmax": "arg max",
	} {
		commands[name] = func(*parser) node { return limit(text) }
	}
	commands["bmod"] = commands["mod"]
	commands[" "] = func(*parser) node { return space("0.333em") }

	for names, format := range templates {
		define(names, func(p *parser, _ string) node { return p.filled(format) })
	}
	for _, a := range []struct {
		element, list string
		stretchy      bool
	}{{"mover", accents, false}, {"mover", wideAccents, true}, {"munder", "underline _", true}} {
		for name, sign := range pairs(a.list) {
			format := fmt.Sprintf(`<%[1]s accent="true">%%s<mo stretchy="%[2]t">%[3]s</mo></%[1]s>`,
				a.element, a.stretchy, sign)
			commands[name] = func(p *parser) node { return p.filled(format) }
		}
	}
	for name, format := range braces {
		commands[name] = func(p *parser) node { return node{xml: p.filled(format).xml, limits: true} }
	}
	for names, a := range alphabets {
		define(names, func(p *parser, _ string) node { return node{xml: a.restyle(p.argument())} })
	}
	define("mathrm mathup", func(p *parser, _ string) node { return upright(p.argument()) })
	// Upright letters up to the end of the group.
	commands["rm"] = func(p *parser) node { return upright(p.row("")) }

	// A bracket whose size is given. Its size is then that of what it encloses, which is what one wants.
	define("big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm", func(p *parser, _ string) node {
		return node{xml: `<mo stretchy="true" symmetric="true" minsize="1.3em">` +
			strings.TrimPrefix(p.delimiter(), ".") + `</mo>`}
	})
	// What MathML decides by itself.
	define("displaystyle textstyle scriptstyle nonumber notag", func(p *parser, _ string) node {
		if ends[p.peek()] {
			return element("mrow", "")
		}
		return p.scripted()
	})
	define("text textrm textnormal mbox textit textbf texttt", func(p *parser, _ string) node {
		return leaf("mtext", strings.ReplaceAll(p.raw(), " ", "\u00a0"))
	})
	commands["label"] = func(p *parser) node { p.raw(); return leaf("mtext", "") }
	commands["tag"] = func(p *parser) node { return node{xml: space("2em").xml + leaf("mtext", "("+p.raw()+")").xml} }
	commands["operatorname"] = func(p *parser) node {
		limits := p.skip("*")
		n := function(html.EscapeString(strings.TrimSpace(p.raw())))
		n.limits = limits
		return n
	}
	commands["sqrt"] = (*parser).root
	commands["left"] = (*parser).fenced
	commands["not"] = (*parser).negated
	commands["begin"] = (*parser).environment
}

// define gives the same command to each of the names in a list.
func define(names string, c func(p *parser, name string) node) {
	for _, name := range strings.Fields(names) {
		commands[name] = func(p *parser) node { return c(p, name) }
	}
}

// filled reads as many arguments as the format has places for, and puts them in.
func (p *parser) filled(format string) node {
	args := make([]any, strings.Count(format, "%"))
	for i := range args {
		args[i] = p.argument()
	}
	return node{xml: fmt.Sprintf(format, args...)}
}

func (p *parser) root() node {
	if !p.skip("[") {
		return p.filled("<msqrt>%s</msqrt>")
	}
	degree := p.row("]")
	if !p.skip("]") {
		p.fail(`\sqrt[ without ]`)
	}
	return element("mroot", p.argument()+degree)
}

// negated strikes the following sign through.
func (p *parser) negated() node {
	n := p.atom()
	end := strings.LastIndex(n.xml, "</mo>")
	if end < 0 {
		return p.fail(`\not before something that is no sign`)
	}
	return node{xml: n.xml[:end] + "\u0338" + n.xml[end:]}
}

var delimiterSigns = pairs(delimiters)

// delimiter reads what stands after \left, \right or \big.
func (p *parser) delimiter() string {
	t := p.next()
	if s, ok := delimiterSigns[strings.TrimPrefix(t, `\`)]; ok && t[0] == '\\' {
		return s
	}
	switch {
	case t == "<":
		return "⟨"
	case t == ">":
		return "⟩"
	case t == "" || !strings.Contains("()[]|/.", t):
		p.fail("%q is no bracket", t)
	}
	return t
}

// fenced reads \left( … \middle| … \right).
func (p *parser) fenced() node {
	parts := fence(p.delimiter(), "prefix")
	for {
		parts += p.row("")
		switch {
		case p.skip(`\right`):
			return element("mrow", parts+fence(p.delimiter(), "postfix"))
		case p.skip(`\middle`):
			parts += fence(p.delimiter(), "infix")
		default:
			return p.fail(`\left without \right`)
		}
	}
}

// environment reads a table between \begin and \end.
func (p *parser) environment() node {
	name := p.raw()
	e, ok := environments[name]
	if !ok {
		return p.fail(`\begin{%s} is not known`, name)
	}
	if name == "array" { // the alignment of its columns
		p.raw()
	}
	align := strings.Fields(e.align)
	var rows, cells string
	for column := 0; ; column++ {
		cells += fmt.Sprintf(`<mtd style="text-align: %s">%s</mtd>`, align[column%len(align)], p.row(""))
		if p.skip("&") {
			continue
		}
		rows += element("mtr", cells).xml
		cells, column = "", -1
		more := p.skip(`\\`)
		switch {
		case p.skip(`\end`):
			if p.raw() != name {
				p.fail(`\begin{%s} without its \end`, name)
			}
			table := element("mtable", rows).xml
			if e.open != "" {
				table = fence(e.open, "prefix") + table
			}
			if e.close != "" {
				table += fence(e.close, "postfix")
			}
			return element("mrow", table)
		case !more:
			return p.fail(`\begin{%s} without its \end`, name)
		}
	}
}
