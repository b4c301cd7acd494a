package page

import (
	"strings"
	"testing"
)

func TestContents(t *testing.T) {
	body, err := Parse([]byte(`<h1 id="x">The <em>title</em><a class="anchor-link" href="#x">¶</a></h1>
		<h2>Two words, here: δ</h2><h3>Below</h3><h2>Two words, here: δ</h2>`))
	if err != nil {
		t.Fatal(err)
	}
	if got := body.Title(); got != "The title" {
		t.Errorf("title %q", got)
	}
	contents := body.Contents(true)
	if len(contents) != 2 || contents[0] != (Heading{"Two words, here: δ", "two-words-here-δ"}) ||
		contents[1].ID != "two-words-here-δ-1" {
		t.Errorf("contents %+v", contents)
	}
	below, err := body.Below()
	if err != nil || strings.Contains(string(below), "title") || !strings.Contains(string(below), `<h3 id="below">`) {
		t.Errorf("%s, %v", below, err)
	}
}

func TestWideThingsScroll(t *testing.T) {
	body, err := Parse([]byte(`<p>a <math><mi>x</mi>
		<annotation>` + strings.Repeat("x", longFormula) + `</annotation></math> <math><mi>` +
		strings.Repeat("y", longFormula+1) +
		`</mi></math></p><math display="block"><mi>z</mi></math><table><tbody><tr><td>1</td></tr></tbody></table>`))
	if err != nil {
		t.Fatal(err)
	}
	if body.Tidy() {
		t.Error("there is code")
	}
	html, err := body.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<p>a <math><mi>x`, `<span class="long"><math><mi>yyy`,
		`<div class="scroll"><math display`, `aria-label="table"><table>`} {
		if !strings.Contains(string(html), want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
}
