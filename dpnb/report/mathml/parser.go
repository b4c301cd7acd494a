package mathml

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenPattern matches a comment, blanks, a command with its backslash, a number, or a single character. A comma ends a
// number, as it does in TeX: [0,1] holds two.
var tokenPattern = regexp.MustCompile(`(?s)%[^\n]*|[\s\v\x{85}\p{Z}]+|\\(?:[A-Za-z]+|.)|\p{Nd}+(?:\.\p{Nd}+)*|.`)

// tokenize cuts a formula into tokens. Blanks become one space, comments are left out.
func tokenize(tex string) []string {
	var tokens []string
	for _, t := range tokenPattern.FindAllString(string([]rune(tex)), -1) {
		switch {
		case strings.TrimSpace(t) == "":
			tokens = append(tokens, " ")
		case t[0] != '%':
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// parser reads a formula by recursive descent. After an error it stands at the end, so that everything under way comes
// to an end, too.
type parser struct {
	tokens  []string
	at      int
	display bool
	depth   int
	err     error // the first
}

// maxDepth bounds the nesting, so that no text can exhaust the stack.
const maxDepth = 100

func (p *parser) fail(format string, args ...any) node {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.at = len(p.tokens)
	return node{}
}

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

// skip reads the token if it is the next.
func (p *parser) skip(token string) bool {
	found := p.peek() == token
	if found {
		p.at++
	}
	return found
}

func (p *parser) expect(token string) {
	if got := p.next(); got != token {
		p.fail("%q expected before %q", token, got)
	}
}

// ends are the tokens before which a row ends.
var ends = map[string]bool{"": true, "}": true, "&": true, `\\`: true, `\right`: true, `\middle`: true, `\end`: true}

// row reads up to the end of a group, or to the token stop.
func (p *parser) row(stop string) string {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.fail("nested more than %d deep", maxDepth)
	}
	var row []node
	for t := p.peek(); !ends[t] && t != stop; t = p.peek() {
		n := p.scripted()
		if last := len(row) - 1; last >= 0 && (n.word && touches(row[last]) || row[last].word && touches(n)) {
			row = append(row, space("0.167em"))
		}
		row = append(row, n)
	}
	return group(row)
}

// touches reports whether a node would stick to the name of a function: signs and spaces do not.
func touches(n node) bool {
	return !strings.HasPrefix(n.xml, "<mo") && !strings.HasPrefix(n.xml, "<mrow><mo") &&
		!strings.HasPrefix(n.xml, "<mspace")
}

// scripted reads an atom with what stands below and above it.
func (p *parser) scripted() node {
	base := element("mrow", "") // a script on nothing
	if t := p.peek(); t != "^" && t != "_" {
		base = p.atom()
	}
	var below, above string
	primes := 0
	for {
		switch {
		case p.skip("_"):
			below += p.argument()
		case p.skip("^"):
			above += p.argument()
		case p.skip("'"):
			primes++
		case p.skip(`\limits`):
			base.limits = true
		case p.skip(`\nolimits`):
			base.limits = false
		default:
			return attach(primed(base, primes), below, above, p.display)
		}
	}
}

// primed puts primes behind a node, on its line: their glyphs are raised and small already, and as exponents they would
// be twice so.
func primed(base node, primes int) node {
	if primes > 0 {
		signs := strings.Repeat("‴", primes/3) + []string{"", "′", "″"}[primes%3]
		base.xml = element("mrow", base.xml+`<mo lspace="0" rspace="0">`+signs+"</mo>").xml
	}
	return base
}

func attach(base node, below, above string, display bool) node {
	sub, sup := "sub", "sup"
	if base.limits && display {
		sub, sup = "under", "over"
	}
	name, content := "m", base.xml
	if below != "" {
		name, content = name+sub, content+element("mrow", below).xml
	}
	if above != "" {
		name, content = name+sup, content+element("mrow", above).xml
	}
	if name == "m" {
		return base
	}
	n := element(name, content)
	n.word = base.word
	return n
}

// argument reads what follows a command: a group, or a single atom. Of a number without braces it is the first digit
// only, as \frac12 is a half.
func (p *parser) argument() string {
	t := p.peek()
	if ends[t] {
		return p.fail("an argument is missing before %q", t).xml
	}
	if first, size := utf8.DecodeRuneInString(t); unicode.IsDigit(first) && size < len(t) {
		p.tokens[p.at] = t[size:]
		return leaf("mn", t[:size]).xml
	}
	return p.atom().xml
}

// atom reads one thing: a group, a command with its arguments, a letter, a number or a sign.
func (p *parser) atom() node {
	t := p.next()
	switch first, _ := utf8.DecodeRuneInString(t); {
	case t == "{":
		content := p.row("")
		p.expect("}")
		return node{xml: content}
	case first == '\\':
		if c, ok := commands[t[1:]]; ok {
			return c(p)
		}
		return p.fail(`%s is not known`, t)
	case t == "~":
		return space("0.333em")
	case t == "$" || t == "#":
		return p.fail("unexpected %q", t)
	case unicode.IsDigit(first):
		return leaf("mn", t)
	case unicode.IsLetter(first):
		return identifier(t)
	case t == "-":
		return operator("−")
	case t == "*":
		return operator("∗")
	case t != "" && strings.Contains("()[]|", t):
		return bracket(t)
	default:
		return operator(t)
	}
}

// raw reads a group as the text that it is.
func (p *parser) raw() string {
	p.expect("{")
	var b strings.Builder
	for depth := 1; p.at < len(p.tokens); p.at++ {
		switch t := p.tokens[p.at]; {
		case t == "{":
			depth++
		case t == "}":
			if depth--; depth == 0 {
				p.at++
				return b.String()
			}
		case len(t) == 2 && t[0] == '\\' && strings.Contains(`{}%$#&_ `, t[1:]):
			b.WriteString(t[1:])
		case t == `\,`:
			b.WriteString(" ")
		case t[0] == '\\':
			return p.fail("%s inside text", t).xml
		default:
			b.WriteString(t)
		}
	}
	return p.fail("a } is missing").xml
}
