package figure

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// Slider is a figure for each of several values, of which one is seen at a time: that of the value at which a slider
// stands. It needs no server; where scripts do not run, the figure of Start is seen.
type Slider struct {
	// Name is what is turned, "ε", and Values are what it is turned to.
	Name    string
	Values  []float64
	Figures []*Figure
	// Start is the place in Values at which it stands first.
	Start int
}

// Turn returns the figures that draw makes of each value, the slider standing at start, or at the value nearest to it.
// For the eye to follow them, draw gives all of them the same ranges (XRange, YRange).
func Turn(name string, values []float64, start float64, draw func(value float64) *Figure) *Slider {
	s := &Slider{Name: name, Values: values}
	for i, v := range values {
		s.Figures = append(s.Figures, draw(v))
		if distance(v, start) < distance(values[s.Start], start) {
			s.Start = i
		}
	}
	return s
}

func distance(a, b float64) float64 { return max(a-b, b-a) }

// turned shows the picture at which the slider stands, and says its value.
const turned = `var at=+this.value,box=this.parentNode.parentNode,all=box.querySelectorAll('img');` +
	`all.forEach(function(p,i){p.style.display=i==at?'':'none'});` +
	`var says=all[at].getAttribute('data-value');` +
	`box.querySelector('output').textContent=says;this.setAttribute('aria-valuetext',says)`

// families is what browsers take where Liberation Sans is not installed: letters of the same widths.
var families = []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")

// written is a text of an SVG, with the size of its letters.
var written = regexp.MustCompile(`<text ([^>]*font-size:([\d.]+)px[^>]*)>([^<]+)<`)

// inAnyLetters has a browser give each text the width that it has in Liberation Sans, by which labels were placed,
// whatever letters it takes.
func inAnyLetters(svg []byte) []byte {
	svg = bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), families)
	return written.ReplaceAllFunc(svg, func(one []byte) []byte {
		m := written.FindSubmatch(one)
		size, _ := strconv.ParseFloat(string(m[2]), 64)
		width := style(size, Ink).Width(html.UnescapeString(string(m[3]))).Points()
		return fmt.Appendf(nil, `<text textLength="%.1f" lengthAdjust="spacingAndGlyphs" %s>%s<`, width, m[1], m[3])
	})
}

// image returns the figure as an element of a page, as SVG, with such attributes.
func (f *Figure) image(attributes string) (string, error) {
	svg, err := f.SVG()
	return fmt.Sprintf(`<img alt="%s" %s src="data:image/svg+xml;base64,%s">`, html.EscapeString(f.Words()), attributes,
		base64.StdEncoding.EncodeToString(inAnyLetters(svg))), err
}

// HTML returns the slider with its figures as SVG, for a notebook and for the page that is made of it. Errors: those of
// a figure, or that there is none.
func (s *Slider) HTML() (string, error) {
	if len(s.Figures) == 0 || len(s.Figures) != len(s.Values) {
		return "", errors.New("figure: a slider needs a figure for each value")
	}
	says := func(i int) string { return html.EscapeString(fmt.Sprintf("%s = %s", s.Name, Number(s.Values[i]))) }
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="figure"><label style="display:block;font-family:system-ui,sans-serif;font-size:14px">`+
		`<input type="range" min="0" max="%d" step="1" value="%d" aria-label="%s" aria-valuetext="%s" `+
		`style="width:22em;max-width:55%%;vertical-align:middle" oninput="%s"> <output>%s</output></label>`,
		len(s.Figures)-1, s.Start, html.EscapeString(s.Name), says(s.Start), turned, says(s.Start))
	for i, f := range s.Figures {
		hidden := ` style="display:none"`
		if i == s.Start {
			hidden = ""
		}
		img, err := f.image(fmt.Sprintf(`data-value="%s"%s`, says(i), hidden))
		if err != nil {
			return "", err
		}
		b.WriteString(img)
	}
	return b.String() + "</div>", nil
}

// Words describes the figure at which the slider stands first, and says what it can be turned to.
func (s *Slider) Words() string {
	if len(s.Figures) == 0 {
		return ""
	}
	values := make([]string, len(s.Values))
	for i, v := range s.Values {
		values[i] = Number(v)
	}
	return fmt.Sprintf("%s Seen at %s = %s, of %s.", s.Figures[s.Start].Words(), s.Name, values[s.Start],
		strings.Join(values, ", "))
}
