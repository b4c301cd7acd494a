package frame

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
)

// Portable returns p with its expression in words that regular expressions of other languages read alike (Python's re,
// Perl's and R's with perl = TRUE, JavaScript's with the flag u, Java's): groups, alternatives, repetitions, sets of
// characters that are all named, and looks around in place of anchors and edges of words. Classes of characters
// (\pL, \w), letters of either case and flags are written out. Whether a text matches is the same; which part of it
// does may not be.
//
// Errors: an expression that package regexp does not read.
func (p Pattern) Portable() (Pattern, error) {
	r, err := syntax.Parse(p.Match, syntax.Perl)
	if err != nil {
		return p, err
	}
	var b strings.Builder
	portable(&b, r)
	p.Match = b.String()
	return p, nil
}

// word are the characters of a word to \b, and behind and ahead are those before and after a place.
const (
	word   = "[0-9A-Z_a-z]"
	behind = "(?<=" + word + ")(?!" + word + ")"
	ahead  = "(?<!" + word + ")(?=" + word + ")"
)

func portable(b *strings.Builder, r *syntax.Regexp) {
	joined := func(by string) {
		b.WriteString("(?:")
		for i, s := range r.Sub {
			if i > 0 {
				b.WriteString(by)
			}
			portable(b, s)
		}
		b.WriteString(")")
	}
	switch r.Op {
	case syntax.OpNoMatch:
		b.WriteString("(?!)")
	case syntax.OpEmptyMatch:
		b.WriteString("(?:)")
	case syntax.OpLiteral:
		b.WriteString("(?:")
		for _, c := range r.Rune {
			if r.Flags&syntax.FoldCase == 0 {
				class(b, []rune{c, c})
				continue
			}
			set := []rune{c, c}
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				set = append(set, f, f)
			}
			class(b, set)
		}
		b.WriteString(")")
	case syntax.OpCharClass:
		class(b, r.Rune)
	case syntax.OpAnyCharNotNL:
		b.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		b.WriteString(`[\s\S]`)
	case syntax.OpBeginText:
		b.WriteString(`(?<![\s\S])`)
	case syntax.OpEndText:
		b.WriteString(`(?![\s\S])`)
	case syntax.OpBeginLine:
		b.WriteString(`(?<![^\n])`)
	case syntax.OpEndLine:
		b.WriteString(`(?![^\n])`)
	case syntax.OpWordBoundary:
		b.WriteString("(?:" + behind + "|" + ahead + ")")
	case syntax.OpNoWordBoundary:
		b.WriteString("(?!" + behind + "|" + ahead + ")")
	case syntax.OpConcat, syntax.OpCapture:
		joined("")
	case syntax.OpAlternate:
		joined("|")
	case syntax.OpStar:
		joined("")
		b.WriteString("*")
	case syntax.OpPlus:
		joined("")
		b.WriteString("+")
	case syntax.OpQuest:
		joined("")
		b.WriteString("?")
	case syntax.OpRepeat:
		joined("")
		if r.Max < 0 {
			fmt.Fprintf(b, "{%d,}", r.Min)
		} else {
			fmt.Fprintf(b, "{%d,%d}", r.Min, r.Max)
		}
	default:
		panic("frame: an expression of a kind that package regexp did not have")
	}
}

// class writes the set of characters from set[0] to set[1], from set[2] to set[3] and so on; by those that are not in
// it where the last character of all is, so that this is never written.
func class(b *strings.Builder, set []rune) {
	if len(set) == 2 && set[0] == set[1] {
		character(b, set[0], false)
		return
	}
	not := len(set) > 0 && set[len(set)-1] == unicode.MaxRune
	if not {
		var rest []rune
		next := rune(0)
		for i := 0; i < len(set); i += 2 {
			if set[i] > next {
				rest = append(rest, next, set[i]-1)
			}
			next = set[i+1] + 1
		}
		set = rest
	}
	set = withoutSurrogates(set)
	switch {
	case len(set) > 0:
	case not:
		b.WriteString(`[\s\S]`)
		return
	default:
		b.WriteString("(?!)")
		return
	}
	b.WriteString("[")
	if not {
		b.WriteString("^")
	}
	for i := 0; i < len(set); i += 2 {
		character(b, set[i], true)
		if set[i+1] > set[i] {
			b.WriteString("-")
			character(b, set[i+1], true)
		}
	}
	b.WriteString("]")
}

// withoutSurrogates returns a set without what is no character: no text has one, and written they would be U+FFFD.
func withoutSurrogates(set []rune) (out []rune) {
	const low, high = 0xd800, 0xdfff
	for i := 0; i < len(set); i += 2 {
		if lo, hi := set[i], min(set[i+1], low-1); lo <= hi {
			out = append(out, lo, hi)
		}
		if lo, hi := max(set[i], high+1), set[i+1]; lo <= hi {
			out = append(out, lo, hi)
		}
	}
	return out
}

// character writes one character, inside of a set or not.
func character(b *strings.Builder, c rune, inside bool) {
	switch {
	case c < 0x20 || c == 0x7f:
		fmt.Fprintf(b, `\x%02x`, c)
		return
	case strings.ContainsRune(`$()*+./?[\]^{|}`, c) || c == '-' && inside:
		b.WriteByte('\\')
	}
	b.WriteRune(c)
}
