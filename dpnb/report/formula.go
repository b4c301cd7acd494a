package report

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/dpnb/notebooks/dpnb/report/mathml"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// formulas holds the formulas of a notebook while its text is converted to HTML, and the tags around what folds out,
// whose inside a converter would leave as it is written. In the text each has a mark in its place, which no converter
// touches.
type formulas struct {
	converted []string // HTML, by the number in the mark
}

// Marks are letters and digits only, so that Markdown sees a word.
const markFormat = "dpnbFORMULA%dX"

var mark = regexp.MustCompile(`dpnbFORMULA(\d+)X`)

// formulaPattern finds, in this order: code, in which dollars mean nothing; an escaped dollar; a formula on a line of
// its own; one in a line, which begins and ends without a blank and has no digit behind it, so that prices are none;
// the tags of what folds out.
var formulaPattern = regexp.MustCompile("(?s)(```.*?```|~~~.*?~~~|``.*?``|`[^`\n]*`|\\\\\\$)" +
	`|\$\$(.+?)\$\$` +
	`|(\\begin\{(?:align|gather|equation|eqnarray)\*?\}.*?\\end\{(?:align|gather|equation|eqnarray)\*?\})` +
	`|\$([^\s$](?:[^$\n]|\n[^$\n])*?)\$` +
	`|(<details><summary>[^<\n]*</summary>|</details>)`)

// takeFormulas returns a copy of the notebook with marks in the place of formulas.
func takeFormulas(nb *notebook.Notebook) (*notebook.Notebook, *formulas, error) {
	content, err := nb.Encode()
	if err != nil {
		return nil, nil, err
	}
	shown, err := notebook.Parse(content)
	if err != nil {
		return nil, nil, err
	}
	f := &formulas{}
	for _, c := range shown.Cells {
		c.MapProse(f.take)
	}
	return shown, f, nil
}

func (f *formulas) take(text string) string {
	var b strings.Builder
	for text != "" {
		m := formulaPattern.FindStringSubmatchIndex(text)
		if m == nil {
			break
		}
		b.WriteString(f.dollars(text[:m[0]]))
		whole := text[m[0]:m[1]]
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		inline, fold := part(4), part(5)
		after := text[m[1]:]
		switch {
		case part(2)+part(3) != "":
			b.WriteString(f.convert(whole, part(2)+part(3), true))
		case inline != "" && !endsInBlank(inline) && !beginsWithDigit(after):
			b.WriteString(f.convert(whole, inline, false))
		case inline != "": // a dollar that is one: go on behind it
			b.WriteString(f.dollars("$"))
			after = text[m[0]+1:]
		case fold != "":
			b.WriteString(f.mark(fold))
		case whole == `\$`:
			b.WriteString(f.dollars("$"))
		default: // code
			b.WriteString(f.dollars(whole))
		}
		text = after
	}
	return b.String() + f.dollars(text)
}

// dollars puts marks in the place of dollars that begin no formula. The converter would look for one behind them, even
// in code.
func (f *formulas) dollars(text string) string {
	for strings.Contains(text, "$") {
		text = strings.Replace(text, "$", f.mark("$"), 1)
	}
	return text
}

func (f *formulas) mark(html string) string {
	f.converted = append(f.converted, html)
	return fmt.Sprintf(markFormat, len(f.converted)-1)
}

func endsInBlank(s string) bool     { return strings.TrimRight(s, " \t\n") != s }
func beginsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// convert returns the mark of a formula; one that cannot be converted is shown as it was written.
func (f *formulas) convert(whole, tex string, display bool) string {
	xml, err := mathml.Convert(tex, display)
	if err != nil {
		return f.mark(`<code class="tex">` + html.EscapeString(whole) + `</code>`)
	}
	return f.mark(xml)
}

// A heading's text is its address too.
var markedAddress = regexp.MustCompile(`(?:id|href)="[^"]*dpnbFORMULA[^"]*"`)

func (f *formulas) put(page []byte) []byte {
	for i, tag := range f.converted {
		if strings.HasPrefix(tag, "<details>") || tag == "</details>" { // it stands by itself, which makes a paragraph
			page = bytes.ReplaceAll(page, fmt.Appendf(nil, "<p>"+markFormat+"</p>", i), []byte(tag))
		}
	}
	page = markedAddress.ReplaceAllFunc(
		page, func(address []byte) []byte { return mark.ReplaceAll(address, []byte("formula$1")) })
	return mark.ReplaceAllFunc(page, func(m []byte) []byte {
		var i int
		if _, err := fmt.Sscanf(string(m), markFormat, &i); err != nil || i >= len(f.converted) {
			return m // somebody's own word
		}
		return []byte(f.converted[i])
	})
}
