package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/dpnb/notebooks/dpnb/internal/numeral"
)

// Body is the inside of a page while it is made ready.
type Body struct{ root *html.Node }

// Parse reads what a converter gave: a fragment, not a document.
func Parse(fragment []byte) (*Body, error) {
	context := &html.Node{Type: html.ElementNode, Data: "main", DataAtom: atom.Main}
	nodes, err := html.ParseFragment(strings.NewReader(string(fragment)), context)
	if err != nil {
		return nil, err
	}
	root := &html.Node{Type: html.ElementNode, Data: "main", DataAtom: atom.Main}
	for _, n := range nodes {
		root.AppendChild(n)
	}
	return &Body{root}, nil
}

// HTML returns the body as text.
func (b *Body) HTML() (template.HTML, error) {
	var s strings.Builder
	for c := range b.root.ChildNodes() {
		if err := html.Render(&s, c); err != nil {
			return "", err
		}
	}
	return template.HTML(s.String()), nil
}

// all returns the elements with a name, and with a class if one is given, in the order of the page.
func (b *Body) all(name, class string) (found []*html.Node) {
	for n := range b.root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name && (class == "" || hasClass(n, class)) {
			found = append(found, n)
		}
	}
	return found
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func setAttribute(n *html.Node, key, value string) {
	for i, a := range n.Attr {
		if a.Key == key {
			n.Attr[i].Val = value
			return
		}
	}
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(n, "class")), class)
}

// inside returns the nearest element around n that has the class, or nil.
func inside(n *html.Node, class string) *html.Node {
	for a := range n.Ancestors() {
		if hasClass(a, class) {
			return a
		}
	}
	return nil
}

func textOf(n *html.Node) string {
	var s strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			s.WriteString(c.Data)
		}
	}
	return s.String()
}

func element(name string, attributes ...string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: name, DataAtom: atom.Lookup([]byte(name))}
	for i := 0; i+1 < len(attributes); i += 2 {
		setAttribute(n, attributes[i], attributes[i+1])
	}
	return n
}

// wrap puts n into an element that stands in its place.
func wrap(n, around *html.Node) {
	n.Parent.InsertBefore(around, n)
	n.Parent.RemoveChild(n)
	around.AppendChild(n)
}

// longFormula is how many signs of a formula fit on a line of a phone, where it cannot be broken.
const longFormula = 24

// shortCell is up to how many signs a cell of a table stays on one line, and longCell from how many on it is not made a
// column of single words, where a table is wider than a phone.
const shortCell, longCell = 16, 36

// Tidy takes out what only an editor needs, raises what plain text writes with ^, gives what can be wide a box of its
// own to scroll in, numbers lists that programs interrupt, and folds code: the plumbing at the top of a notebook is
// folded in, other code is folded out. It says whether there is code.
func (b *Body) Tidy() (code bool) {
	b.raised()
	for _, class := range []string{"jp-InputPrompt", "jp-OutputPrompt", "jp-Collapser"} {
		for _, n := range b.all("div", class) {
			n.Parent.RemoveChild(n)
		}
	}
	for _, n := range b.all("table", "") {
		wrap(n, element("div", "class", "scroll", "tabindex", "0", "role", "region", "aria-label", "table"))
	}
	for _, n := range b.all("td", "") {
		switch size := utf8.RuneCountInString(strings.TrimSpace(textOf(n))); {
		case size <= shortCell:
			setAttribute(n, "class", "short")
		case size >= longCell:
			setAttribute(n, "class", "long")
		}
	}
	for _, n := range b.all("img", "") {
		if inside(n, "jp-RenderedImage") == nil && inside(n, "figure") == nil {
			wrap(n, element("span", "class", "figure", "tabindex", "0"))
		}
	}
	for _, n := range b.all("math", "") {
		if attribute(n, "display") == "block" {
			wrap(n, element("div", "class", "scroll"))
			continue
		}
		if signs(n) > longFormula {
			wrap(n, element("span", "class", "long"))
			n = n.Parent
		}
		tie(n)
	}
	for _, n := range b.all("pre", "") {
		if text := textOf(n); inside(n, "jp-OutputArea-output") != nil && aligned(text) || strings.Contains(text, "│") {
			setAttribute(n, "class", "aligned")
		}
	}
	for _, n := range b.all("details", "") {
		number(n)
	}
	for _, n := range b.all("div", "highlight") {
		if inside(n, "jp-CodeCell") == nil {
			continue
		}
		code = true
		text := strings.TrimSpace(textOf(n))
		lines := strings.Count(text, "\n") + 1
		summary := element("summary")
		summary.AppendChild(&html.Node{Type: html.TextNode, Data: "code, " + numeral.Count(lines, "line")})
		details := element("details", "class", "code")
		if !strings.HasPrefix(text, "!") && !strings.HasPrefix(text, "import") {
			setAttribute(details, "open", "")
		}
		wrap(n, details)
		details.InsertBefore(summary, n)
	}
	return code
}

// tie keeps brackets before a formula and punctuation behind it on its line, where a browser would break.
func tie(n *html.Node) {
	before, after := n.PrevSibling, n.NextSibling
	head, tail := "", ""
	if before != nil && before.Type == html.TextNode {
		head = before.Data[len(strings.TrimRight(before.Data, "([")):]
	}
	if after != nil && after.Type == html.TextNode {
		tail = after.Data[:len(after.Data)-len(strings.TrimLeft(after.Data, ".,;:!?)]"))]
	}
	if head+tail == "" {
		return
	}
	wrap(n, element("span", "class", "tied"))
	if head != "" {
		before.Data = strings.TrimSuffix(before.Data, head)
		n.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: head}, n)
	}
	if tail != "" {
		after.Data = strings.TrimPrefix(after.Data, tail)
		n.Parent.AppendChild(&html.Node{Type: html.TextNode, Data: tail})
	}
}

// aligned says whether an output has columns: two lines with several blanks within, which make no sense where lines are
// broken.
func aligned(text string) bool {
	n := 0
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(strings.TrimSpace(line), "  ") {
			n++
		}
	}
	return n > 1
}

// number lets the numbered lists in n go on where the one before ended, for programs stand between them.
func number(n *html.Node) {
	next := 1
	for list := range n.ChildNodes() {
		if list.Data != "ol" {
			continue
		}
		if next > 1 {
			setAttribute(list, "start", fmt.Sprint(next))
		}
		for c := range list.ChildNodes() {
			if c.Data == "li" {
				next++
			}
		}
	}
}

// signs counts what is seen of a formula: neither blanks nor its source, which may be noted in it.
func signs(formula *html.Node) (n int) {
	for c := range formula.Descendants() {
		if c.Type == html.TextNode && c.Parent.Data != "annotation" {
			n += utf8.RuneCountInString(strings.Join(strings.Fields(c.Data), ""))
		}
	}
	return n
}

// FigureID is the address on its page of the picture with a number, from 1.
func FigureID(number int) string { return fmt.Sprintf("figure-%d", number) }

// Figures gives each picture among the outputs, in order, an address and the text that stands for it.
func (b *Body) Figures(texts []string) {
	number := 0
	for _, n := range b.all("img", "") {
		if inside(n, "jp-RenderedImage") == nil {
			continue
		}
		if setAttribute(n, "alt", ""); number < len(texts) {
			setAttribute(n, "alt", texts[number])
		}
		number++
		setAttribute(n, "loading", "lazy")
		wrap(n, element("div", "class", "figure", "id", FigureID(number), "tabindex", "0"))
	}
}

// Contents returns the headings below the title. A page whose headings have no address, or the converter's own, gets
// GitHub's if asked for, so that links from elsewhere work here as they do there.
func (b *Body) Contents(asGitHub bool) (contents []Heading) {
	seen := map[string]int{}
	for n := range b.root.Descendants() {
		if n.Type != html.ElementNode || len(n.Data) != 2 || n.Data[0] != 'h' || n.Data[1] < '1' || n.Data[1] > '6' {
			continue
		}
		text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(textOf(n)), "¶"))
		if asGitHub {
			id := gitHubID(text)
			if seen[id]++; seen[id] > 1 {
				id = fmt.Sprintf("%s-%d", id, seen[id]-1)
			}
			setAttribute(n, "id", id)
			for c := range n.Descendants() {
				if hasClass(c, "anchor-link") {
					setAttribute(c, "href", "#"+id)
				}
			}
		}
		if n.Data == "h2" {
			contents = append(contents, Heading{text, attribute(n, "id")})
		}
	}
	return contents
}

// gitHubID returns the address that GitHub gives a heading: small letters, blanks as dashes, no other punctuation.
func gitHubID(text string) string {
	var s strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r == ' ':
			s.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			s.WriteRune(r)
		}
	}
	return s.String()
}

// Links gives each address on the page, of links and of pictures, to f, and puts what it returns in its place.
func (b *Body) Links(f func(address string) string) {
	for n := range b.root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		key := map[string]string{"a": "href", "img": "src"}[n.Data]
		if address := attribute(n, key); key != "" && address != "" {
			setAttribute(n, key, f(address))
		}
	}
}

// Title returns the text of the first heading.
func (b *Body) Title() string {
	if h := b.all("h1", ""); len(h) > 0 {
		return strings.TrimSuffix(strings.TrimSpace(textOf(h[0])), "¶")
	}
	return ""
}

// Below returns the body without its title.
func (b *Body) Below() (template.HTML, error) {
	for _, h := range b.all("h1", "") {
		h.Parent.RemoveChild(h)
	}
	return b.HTML()
}
