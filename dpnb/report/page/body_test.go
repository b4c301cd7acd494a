package page

import (
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestContents(t *testing.T) {
	body := must.Get(Parse([]byte(`<h1 id="x">The <em>title</em><a class="anchor-link" href="#x">¶</a></h1>
		<h2>Two words, here: δ</h2><h3>Below</h3><h2>Two words, here: δ</h2>`)))
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
	body := must.Get(Parse([]byte(`<p>a <math><mi>x</mi>
		<annotation>` + strings.Repeat("x", longFormula) + `</annotation></math> <math><mi>` +
		strings.Repeat("y", longFormula+1) +
		`</mi></math></p><math display="block"><mi>z</mi></math><table><tbody><tr><td>1</td></tr></tbody></table>`)))
	if body.Tidy() {
		t.Error("there is code")
	}
	html := must.Get(body.HTML())
	for _, want := range []string{`<p>a <math><mi>x`, `<span class="long"><math><mi>yyy`,
		`<div class="scroll"><math display`, `aria-label="table"><table>`} {
		if !strings.Contains(string(html), want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
}

// A browser does not break between a formula and what belongs to it; short cells are told from long ones; a picture in
// a text scrolls as those of outputs do.
func TestTiesAndCells(t *testing.T) {
	body := must.Get(Parse([]byte(`<p>so (<math><mi>x</mi></math>), or <math><mi>y</mi></math> and` +
		`<math><mi>z</mi></math>.</p><table><tbody><tr><td>81.87 ± 0.27</td><td>seventeen letters</td><td>` +
		strings.Repeat("long ", 17) + `</td></tr></tbody></table><p><img alt="a"></p>`)))
	body.Tidy()
	html := must.Get(body.HTML())
	for _, want := range []string{`so <span class="tied">(<math><mi>x</mi></math>),</span> or <math><mi>y</mi></math> `,
		`and<span class="tied"><math><mi>z</mi></math>.</span></p>`, `<td class="short">81`, `<td>seventeen`,
		`<td class="long">long`, `<p><span class="figure" tabindex="0"><img alt="a"`} {
		if !strings.Contains(string(html), want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
}

// Lists that programs interrupt go on counting where they fold out; outputs with columns keep their lines.
func TestNumbersAndColumns(t *testing.T) {
	body := must.Get(Parse([]byte(`<details><summary>S</summary><ol><li>a</li><li>b</li></ol><pre>go</pre>
		<ol><li>c</li></ol></details><ol><li>d</li></ol><div class="jp-OutputArea-output"><pre>n   ε
1   2</pre><pre>a sentence  with two blanks
and one without</pre></div><pre>x   y
1   2</pre>`)))
	body.Tidy()
	html := must.Get(body.HTML())
	for text, want := range map[string]int{`<ol start="3"><li>c`: 1, "<ol start": 1, `<pre class="aligned">n `: 1,
		"aligned": 1} {
		if got := strings.Count(string(html), text); got != want {
			t.Errorf("%d times %s in %s, want %d", got, text, html, want)
		}
	}
}

// Each picture among the outputs has its own address and its own words, and no other picture has any.
func TestFigures(t *testing.T) {
	const output = `<div class="jp-RenderedImage"><img src="a" alt="x"></div>`
	body := must.Get(Parse([]byte(output + `<img src="b" alt="in a text">` + output)))
	body.Figures([]string{"it rises", "it falls"})
	html := string(must.Get(body.HTML()))
	for _, want := range []string{`id="figure-1" tabindex="0"><img src="a" alt="it rises"`,
		`<img src="b" alt="in a text"/>`, `id="figure-2" tabindex="0"><img src="a" alt="it falls"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
}
