// Package display shows tables, texts and images: as rich output in a notebook on the GoNB kernel, as plain text
// elsewhere. It knows nothing about what it shows. Packages with the mathematics must not import it, because cells that
// use them would be slow to build.
package display

import (
	"fmt"
	"html"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/dpnb/notebooks/dpnb/internal/numeral"
)

// Item is a titled table with a warning above it and notes below it. Every part may be empty.
type Item struct {
	Title string
	// Origin says which records these are. It stands in a box at the very top, blue for what was observed, yellow if
	// they are Invented.
	Origin   string
	Invented bool
	// Warning is shown above everything else, so that it is not overlooked.
	Warning string
	// Error says that Warning gives the reason why there is nothing else to show.
	Error  bool
	Header []string
	Rows   [][]string
	// Notes are sentences below the table, and Details below them, which a page folds.
	Notes, Details []string
}

// Displayer is implemented by whatever can be shown.
type Displayer interface {
	Display() Item
}

// Display implements Displayer.
func (it Item) Display() Item { return it }

// Failed returns the item that shows an error.
func Failed(err error) Item { return Item{Warning: err.Error(), Error: true} }

// ErrorMark is in the HTML of every error and, since texts are escaped, in no other HTML.
const ErrorMark = ` data-dpnb="error"`

// Row adds a row to the table.
func (it *Item) Row(cells ...string) { it.Rows = append(it.Rows, cells) }

// Rowf is Row of cells that are formatted as by fmt.Sprintf, by formats with " | " between them. What is formatted may
// have that, too.
func (it *Item) Rowf(formats string, a ...any) {
	if false {
		_ = fmt.Sprintf(formats, a...) // go vet then checks calls as it does those of Sprintf
	}
	const between = "\x00"
	it.Row(strings.Split(fmt.Sprintf(strings.ReplaceAll(formats, " | ", between), a...), between)...)
}

// Note adds a note, formatted as by fmt.Sprintf.
func (it *Item) Note(format string, a ...any) { it.Notes = append(it.Notes, fmt.Sprintf(format, a...)) }

// Detail adds a sentence that a page folds, formatted as by fmt.Sprintf.
func (it *Item) Detail(format string, a ...any) {
	it.Details = append(it.Details, fmt.Sprintf(format, a...))
}

// number is what a cell looks like that holds one: a sign, a digit or ∞ first.
var number = regexp.MustCompile(`^[-+−.\d∞][-+−.,\deE%± ∞]*$`)

// numeric reports whether every cell of column j looks like a number, so that it is set to the right.
func (it Item) numeric(j int) bool {
	found := false
	for _, r := range it.Rows {
		if j >= len(r) || r[j] == "" || r[j] == "–" {
			continue
		}
		if !number.MatchString(r[j]) {
			return false
		}
		found = true
	}
	return found
}

// Text returns the item as plain text with aligned columns.
func (it Item) Text() string {
	var b strings.Builder
	if it.Origin != "" {
		fmt.Fprintf(&b, "[%s]\n", it.Origin)
	}
	if it.Warning != "" {
		fmt.Fprintf(&b, "!! %s\n", it.Warning)
	}
	if it.Title != "" {
		fmt.Fprintln(&b, it.Title)
	}
	rows := it.Rows
	if len(it.Header) > 0 {
		rows = append([][]string{it.Header}, rows...)
	}
	rows = wrapped(rows)
	var width []int
	for _, r := range rows {
		for j, c := range r {
			for len(width) <= j {
				width = append(width, 0)
			}
			width[j] = max(width[j], utf8.RuneCountInString(c))
		}
	}
	right := make([]bool, len(width))
	for j := range right {
		right[j] = it.numeric(j)
	}
	for _, r := range rows {
		var line strings.Builder
		for j, c := range r {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(c))
			if right[j] {
				c = pad + c
			} else {
				c += pad
			}
			line.WriteString("  " + c)
		}
		fmt.Fprintln(&b, strings.TrimRight(line.String(), " "))
	}
	for _, n := range slices.Concat(it.Notes, it.Details) {
		fmt.Fprintln(&b, n)
	}
	return b.String()
}

// textWidth is how many characters of a cell stand on one line of text.
const textWidth = 56

// wrapped breaks long cells at spaces into rows of their own.
func wrapped(rows [][]string) [][]string {
	var out [][]string
	for _, r := range rows {
		parts := make([][]string, len(r))
		lines := 1
		for j, c := range r {
			parts[j] = wrap(c)
			lines = max(lines, len(parts[j]))
		}
		for k := range lines {
			line := make([]string, len(r))
			for j, p := range parts {
				if k < len(p) {
					line[j] = p[k]
				}
			}
			out = append(out, line)
		}
	}
	return out
}

func wrap(text string) []string {
	var lines []string
	line, n := "", 0
	for _, word := range strings.Split(text, " ") {
		w := utf8.RuneCountInString(word)
		if n > 0 && n+1+w > textWidth {
			lines = append(lines, line)
			line, n = "", 0
		}
		if n > 0 {
			line += " "
			n++
		}
		line += word
		n += w
	}
	return append(lines, line)
}

// The styles of HTML: of a number's cell, of any other, of notes, and of a box by its border and the tint of its
// ground. Texts have the colour of the page around them, and nothing else is opaque, so that they can be read where
// that is dark.
const (
	rightCell = "text-align:right;font-variant-numeric:tabular-nums;padding:.18em .9em .18em .5em;"
	leftCell  = "text-align:left;padding:.18em .9em .18em .5em;"
	whole     = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;max-width:62em;margin:.4em 0 .8em"
	headLine  = "border-bottom:1.5px solid rgba(128,128,128,.9);font-weight:600"
	rowLine   = "border-bottom:1px solid rgba(128,128,128,.35)"
	note      = "opacity:.8;margin:.4em 0 0"
	box       = "border:1.5px solid rgb(%[1]s);border-radius:4px;background:rgba(%[1]s,.13);padding:.4em .8em;" +
		"margin:0 0 .6em"
	warning = "border-left:4px solid rgb(213,94,0);background:rgba(213,94,0,.13);padding:.45em .8em;margin:0 0 .6em"
)

var (
	observedBox = fmt.Sprintf(box, "0,114,178")
	inventedBox = fmt.Sprintf(box, "230,167,0")
)

// HTML returns the item as HTML with its style inline, so that it looks the same in Jupyter, in a report and in a
// viewer that strips style sheets. Numbers are written as figures write them, but so that Go reads what is copied:
// 1e-6.
func (it Item) HTML() string {
	var b strings.Builder
	element := func(tag, style, text string) {
		fmt.Fprintf(&b, `<%s style="%s">%s</%s>`, tag, style, html.EscapeString(numeral.Typed(text)), tag)
	}
	part := func(style, text string) {
		if text != "" {
			element("div", style, text)
		}
	}
	mark := ""
	if it.Error {
		mark = ErrorMark
	}
	fmt.Fprintf(&b, `<div%s style="%s">`, mark, whole)
	if it.Invented {
		part(inventedBox, it.Origin)
	} else {
		part(observedBox, it.Origin)
	}
	part(warning, it.Warning)
	part("font-weight:600;margin:0 0 .35em", it.Title)
	if len(it.Rows) > 0 {
		row := func(tag, border string, cells []string) {
			b.WriteString("<tr>")
			for j, c := range cells {
				style := leftCell
				if it.numeric(j) {
					style = rightCell
					if tag == "td" {
						style += "white-space:nowrap;"
					}
				}
				element(tag, style+border, c)
			}
			b.WriteString("</tr>")
		}
		b.WriteString(`<table style="border-collapse:collapse;margin:0">`)
		if len(it.Header) > 0 {
			b.WriteString("<thead>")
			row("th", headLine, it.Header)
			b.WriteString("</thead>")
		}
		b.WriteString("<tbody>")
		for _, r := range it.Rows {
			row("td", rowLine, r)
		}
		b.WriteString("</tbody></table>")
	}
	for _, n := range it.Notes {
		element("div", note, n)
	}
	if len(it.Details) > 0 {
		fmt.Fprintf(&b, `<details style="%s"><summary style="color:inherit">How, and what it rests on</summary>`, note)
		for _, n := range it.Details {
			element("div", "margin:.4em 0 0", n)
		}
		b.WriteString("</details>")
	}
	b.WriteString("</div>")
	return b.String()
}

// Out is where text goes outside a notebook; nil is the standard output.
var Out io.Writer

// Show shows the item.
func Show(it Item) error {
	return send(it.Text(), protocol.MIMETextHTML, func() any { return it.HTML() })
}

// ShowPNG shows an image; outside a notebook it writes alt, its description.
func ShowPNG(png []byte, alt string) error {
	return send("[figure: "+alt+"]", protocol.MIMEImagePNG, func() any { return png })
}

// ShowHTML shows what needs a page; outside a notebook it writes alt, its description.
func ShowHTML(page, alt string) error {
	return send("[figure: "+alt+"]", protocol.MIMETextHTML, func() any { return page })
}

// ShowMarkdown shows a text in Markdown; outside a notebook it writes it as it is.
func ShowMarkdown(text string) error {
	return send(text, protocol.MIMETextMarkdown, func() any { return text })
}

// send sends what rich returns, of the given type, to a notebook with text as its plain form; elsewhere it writes text.
func send(text string, kind protocol.MIMEType, rich func() any) error {
	if !gonbui.IsNotebook {
		w := Out
		if w == nil {
			w = os.Stdout
		}
		_, err := fmt.Fprintln(w, text)
		return err
	}
	working.end()
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{kind: rich(), protocol.MIMETextPlain: text}})
	gonbui.Sync()
	return gonbui.Error()
}

// Stop ends a notebook's cell with an error as a sentence, and with the line of the cell that called for it, of which
// the kernel says where it is; elsewhere it panics.
func Stop(err error) {
	if !gonbui.IsNotebook {
		panic(err)
	}
	stop(os.Stderr, err)
	os.Exit(1)
}

func stop(stderr io.Writer, err error) {
	if shown := Show(Failed(err)); shown != nil {
		fmt.Fprintln(stderr, err)
	}
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	for f, more := frames.Next(); f.PC != 0; f, more = frames.Next() {
		if strings.HasPrefix(f.Function, "main.") {
			fmt.Fprintf(stderr, "The cell ends here:\n\t%s:%d\n", f.File, f.Line)
			return
		}
		if !more {
			return
		}
	}
}
