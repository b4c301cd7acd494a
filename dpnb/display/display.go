// Package display shows tables, texts and images: as rich output in a notebook
// on the GoNB kernel, as plain text elsewhere.
package display

import (
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Item is a titled table with a warning above it and notes below it. Every
// part may be empty.
type Item struct {
	Title string
	// Origin says which records these are. It stands in a box at the very top,
	// blue for what was observed, yellow if they are Invented.
	Origin   string
	Invented bool
	// Warning is shown above everything else, so that it is not overlooked.
	Warning string
	Header  []string
	Rows    [][]string
	// Notes are sentences below the table.
	Notes []string
}

// Displayer is implemented by what can be shown.
type Displayer interface {
	Display() Item
}

// numeric reports whether every cell of column j looks like a number, so that
// it is set to the right.
func (it Item) numeric(j int) bool {
	found := false
	for _, r := range it.Rows {
		if j >= len(r) || r[j] == "" || r[j] == "–" {
			continue
		}
		if !strings.ContainsAny(r[j][:1], "+-−.0123456789") && !strings.HasPrefix(r[j], "−") {
			return false
		}
		if strings.Trim(strings.ReplaceAll(r[j], "−", "-"), "+-.,0123456789eE%± ") != "" {
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
	for _, r := range rows {
		var line strings.Builder
		for j, c := range r {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(c))
			if it.numeric(j) {
				c = pad + c
			} else {
				c += pad
			}
			line.WriteString("  " + c)
		}
		fmt.Fprintln(&b, strings.TrimRight(line.String(), " "))
	}
	for _, n := range it.Notes {
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

// HTML returns the item as HTML with its style inline, so that it looks the
// same in Jupyter, in a report and in a viewer that strips style sheets.
func (it Item) HTML() string {
	var b strings.Builder
	b.WriteString(`<div style="font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;max-width:62em;margin:.4em 0 .8em">`)
	if it.Origin != "" {
		border, ground, ink := "#0072b2", "#e8f2fa", "#00334f"
		if it.Invented {
			border, ground, ink = "#e6a700", "#fff6d6", "#4d3800"
		}
		fmt.Fprintf(&b, `<div style="border:1.5px solid %s;border-radius:4px;background:%s;color:%s;padding:.4em .8em;margin:0 0 .6em">%s</div>`,
			border, ground, ink, html.EscapeString(it.Origin))
	}
	if it.Warning != "" {
		fmt.Fprintf(&b, `<div style="border-left:4px solid #d55e00;background:#fdf1e7;color:#5c2a00;padding:.45em .8em;margin:0 0 .6em">%s</div>`, html.EscapeString(it.Warning))
	}
	if it.Title != "" {
		fmt.Fprintf(&b, `<div style="font-weight:600;margin:0 0 .35em">%s</div>`, html.EscapeString(it.Title))
	}
	if len(it.Rows) > 0 {
		b.WriteString(`<table style="border-collapse:collapse;margin:0">`)
		if len(it.Header) > 0 {
			b.WriteString("<thead><tr>")
			for j, h := range it.Header {
				fmt.Fprintf(&b, `<th style="%sborder-bottom:1.5px solid #888;font-weight:600">%s</th>`, it.cell(j), html.EscapeString(h))
			}
			b.WriteString("</tr></thead>")
		}
		b.WriteString("<tbody>")
		for _, r := range it.Rows {
			b.WriteString("<tr>")
			for j, c := range r {
				fmt.Fprintf(&b, `<td style="%sborder-bottom:1px solid #e4e4e4">%s</td>`, it.cell(j), html.EscapeString(c))
			}
			b.WriteString("</tr>")
		}
		b.WriteString("</tbody></table>")
	}
	for _, n := range it.Notes {
		fmt.Fprintf(&b, `<div style="color:#444;margin:.4em 0 0">%s</div>`, html.EscapeString(n))
	}
	b.WriteString("</div>")
	return b.String()
}

func (it Item) cell(j int) string {
	if it.numeric(j) {
		return "text-align:right;font-variant-numeric:tabular-nums;padding:.18em .9em .18em .5em;"
	}
	return "text-align:left;padding:.18em .9em .18em .5em;"
}

// Out is where text goes outside a notebook; nil is the standard output.
var Out io.Writer

func out() io.Writer {
	if Out != nil {
		return Out
	}
	return os.Stdout
}

// Show shows the item.
func Show(it Item) error {
	if !gonbui.IsNotebook {
		_, err := fmt.Fprintln(out(), it.Text())
		return err
	}
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMETextHTML:  it.HTML(),
		protocol.MIMETextPlain: it.Text(),
	}})
	gonbui.Sync()
	return gonbui.Error()
}

// ShowPNG shows an image; outside a notebook it writes alt, its description.
func ShowPNG(png []byte, alt string) error {
	if !gonbui.IsNotebook {
		_, err := fmt.Fprintf(out(), "[figure: %s]\n", alt)
		return err
	}
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMEImagePNG:  png,
		protocol.MIMETextPlain: "[figure: " + alt + "]",
	}})
	gonbui.Sync()
	return gonbui.Error()
}
