package page

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// raised sets what plain text writes with ^ and _, e^{−x}, p^α, H_{e^ε}, as superscripts and subscripts; programs and
// formulas keep theirs. A brace that is not closed in its text is left as it is.
func (b *Body) raised() {
	var texts []*html.Node
	for n := range b.root.Descendants() {
		if n.Type == html.TextNode && strings.ContainsAny(n.Data, "^_") && !verbatim(n) {
			texts = append(texts, n)
		}
	}
	for _, n := range texts {
		for _, part := range scripts(n.Data) {
			n.Parent.InsertBefore(part, n)
		}
		n.Parent.RemoveChild(n)
	}
}

// verbatim says whether a text belongs to a program, a formula, a drawing or a style.
func verbatim(n *html.Node) bool {
	for a := range n.Ancestors() {
		switch a.Data {
		case "code", "pre", "math", "svg", "script", "style":
			return true
		}
	}
	return false
}

// scripts cuts a text where something is to be raised or lowered.
func scripts(text string) (parts []*html.Node) {
	plain := func(s string) {
		if s != "" {
			parts = append(parts, &html.Node{Type: html.TextNode, Data: s})
		}
	}
	from := 0
	for i := 1; i < len(text); i++ { // something stands before a script
		name := map[byte]string{'^': "sup", '_': "sub"}[text[i]]
		if before, _ := utf8.DecodeLastRuneInString(text[:i]); name == "" || unicode.IsSpace(before) {
			continue
		}
		single := exponent
		if name == "sub" {
			if single = nil; symbol.MatchString(text[from:i]) {
				single = index
			}
		}
		content, length := script(text[i+1:], single)
		if length == 0 {
			continue
		}
		plain(text[from:i])
		e := element(name)
		for _, part := range scripts(content) {
			e.AppendChild(part)
		}
		parts = append(parts, e)
		from = i + 1 + length
		i = from - 1
	}
	plain(text[from:])
	return parts
}

// exponent is what ^ raises without braces: a number, or a letter or sign with the marks on it. index is what _ lowers,
// after a symbol, which is one letter and no word.
var (
	exponent = regexp.MustCompile(`^(?:[−-]?(?:\d+(?:\.\d+)?[½¼]?|[½¼])|[\p{L}⊤∞⋆]\p{Mn}*)`)
	index    = regexp.MustCompile(`^[\p{L}\d]+`)
	symbol   = regexp.MustCompile(`(?:^|[^\p{L}\p{Mn}\d_])\p{L}\p{Mn}*$`)
)

// script returns what stands in braces at the head of a text, or what single finds there, unless it is nil, and how
// many bytes that takes; 0 is neither.
func script(text string, single *regexp.Regexp) (content string, length int) {
	if strings.HasPrefix(text, "{") {
		depth := 0
		for i, r := range text {
			switch r {
			case '{':
				depth++
			case '}':
				if depth--; depth == 0 {
					return text[1:i], i + 1
				}
			}
		}
		return "", 0
	}
	if single == nil {
		return "", 0
	}
	content = single.FindString(text)
	return content, len(content)
}
