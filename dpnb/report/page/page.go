// Package page makes self-contained HTML pages of what Jupyter has converted: one style for the reports on notebooks,
// for the pages of docs/ and for their index, light and dark, on a desk and on a phone.
package page

import (
	"bytes"
	_ "embed"
	"html/template"
)

var (
	//go:embed page.css
	css string
	//go:embed page.html.tmpl
	source string

	layout = template.Must(template.New("page").Parse(source))
)

// Link is a link with its text; without an address there is none.
type Link struct{ Text, Address string }

// Heading is an entry of a page's contents.
type Heading struct {
	Text, ID string
}

// Page is a page of the site.
type Page struct {
	Title          string
	Home           Link // the index; none on the index itself
	Previous, Next Link
	Verdict        string // passed or failed; none if nothing was run
	Note           string // beside the verdict
	Failure        string // what went wrong
	Contents       []Heading
	Code           bool // there is code that can be hidden
	Body           template.HTML
}

// Render returns the whole document.
func (p Page) Render() ([]byte, error) {
	var b bytes.Buffer
	err := layout.Execute(&b, struct {
		Page
		CSS template.CSS
	}{p, template.CSS(css)})
	return b.Bytes(), err
}
