package mathml

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

var annotation = regexp.MustCompile(`(?s)<annotation.*?</annotation>`)

// body is the MathML of a formula without what all of them have around it.
func body(t *testing.T, tex string, display bool) string {
	t.Helper()
	got := must.Get(Convert(tex, display))
	wellFormed(t, got)
	got = annotation.ReplaceAllString(got, "")
	_, got, _ = strings.Cut(got, "<semantics>")
	return strings.TrimSuffix(got, "</semantics></math>")
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

func TestConvert(t *testing.T) {
	for tex, want := range map[string]string{
		"x":    "<mi>x</mi>",
		"12.5": "<mn>12.5</mn>",
		"0,1":  "<mrow><mn>0</mn><mo>,</mo><mn>1</mn></mrow>",
		"a-b":  "<mrow><mi>a</mi><mo>−</mo><mi>b</mi></mrow>",
		"x^2":  "<msup><mi>x</mi><mrow><mn>2</mn></mrow></msup>",
		"x_{ij}^2": "<msubsup><mi>x</mi><mrow><mrow><mi>i</mi><mi>j</mi></mrow></mrow>" +
			"<mrow><mn>2</mn></mrow></msubsup>",
		"f''":    `<mrow><mi>f</mi><mo lspace="0" rspace="0">″</mo></mrow>`,
		"f'''":   `<mrow><mi>f</mi><mo lspace="0" rspace="0">‴</mo></mrow>`,
		"f'''''": `<mrow><mi>f</mi><mo lspace="0" rspace="0">‴″</mo></mrow>`,
		"x'_1": `<msub><mrow><mi>x</mi><mo lspace="0" rspace="0">′</mo></mrow>` +
			`<mrow><mn>1</mn></mrow></msub>`,
		`\frac12`:             "<mfrac><mn>1</mn><mn>2</mn></mfrac>",
		`x^12`:                "<mrow><msup><mi>x</mi><mrow><mn>1</mn></mrow></msup><mn>2</mn></mrow>",
		`\frac{1}{2}`:         "<mfrac><mn>1</mn><mn>2</mn></mfrac>",
		`\sqrt[3]{x}`:         "<mroot><mi>x</mi><mn>3</mn></mroot>",
		`a < b`:               "<mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow>",
		`\mathbb{R}^d`:        "<msup><mi>ℝ</mi><mrow><mi>d</mi></mrow></msup>",
		`\mathbf{w}`:          "<mi>𝐰</mi>",
		`\mathcal{NM}`:        "<mrow><mi>𝒩</mi><mi>ℳ</mi></mrow>",
		`\boldsymbol{\theta}`: "<mi>𝛉</mi>",
		`\mathrm{priv}`:       `<mi mathvariant="normal">priv</mi>`,
		`a\log x`: `<mrow><mi>a</mi><mspace width="0.167em"/><mi mathvariant="normal">log</mi>` +
			`<mspace width="0.167em"/><mi>x</mi></mrow>`,
		`-\log(x)`: `<mrow><mo>−</mo><mi mathvariant="normal">log</mi><mo stretchy="false">(</mo><mi>x</mi>` +
			`<mo stretchy="false">)</mo></mrow>`,
		`\text{if } x`: "<mrow><mtext>if\u00a0</mtext><mi>x</mi></mrow>",
		`\hat\theta`:   `<mover accent="true"><mi>θ</mi><mo stretchy="false">^</mo></mover>`,
		`\left\lVert x\right.`: `<mrow><mo stretchy="true" fence="true" form="prefix">‖</mo><mi>x</mi>` +
			`<mo stretchy="true" fence="true" form="postfix"></mo></mrow>`,
		`\not=`: "<mo>=\u0338</mo>",
		`\begin{cases} 1 & x \\ 0 \end{cases}`: `<mrow><mo stretchy="true" fence="true" form="prefix">{</mo><mtable>` +
			`<mtr><mtd style="text-align: left"><mn>1</mn></mtd><mtd style="text-align: left"><mi>x</mi></mtd></mtr>` +
			`<mtr><mtd style="text-align: left"><mn>0</mn></mtd></mtr></mtable></mrow>`,
		`x_{\rm min}`:        `<msub><mi>x</mi><mrow><mi mathvariant="normal">min</mi></mrow></msub>`,
		`x\tag{1}`:           `<mrow><mi>x</mi><mspace width="2em"/><mtext>(1)</mtext></mrow>`,
		`\operatorname{a<b}`: `<mi mathvariant="normal">a&lt;b</mi>`,
		`\boxed{x}`:          `<mrow style="border: thin solid; padding: 0.3em"><mi>x</mi></mrow>`,
		"% a remark\nx":      "<mi>x</mi>",
		"":                   "<mrow></mrow>",
	} {
		if got := body(t, tex, false); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tex, got, want)
		}
	}
}

func TestLimitsDependOnTheMode(t *testing.T) {
	for _, tex := range []string{`\sum_{i=1}^n`, `\operatorname*{arg\,min}_x^y`, `\max_x^y`} {
		if got := body(t, tex, true); !strings.HasPrefix(got, "<munderover>") {
			t.Errorf("%s on a line of its own: %s", tex, got)
		}
		if got := body(t, tex, false); !strings.HasPrefix(got, "<msubsup>") {
			t.Errorf("%s in a line: %s", tex, got)
		}
	}
	if got := body(t, `\int_0^1`, true); !strings.HasPrefix(got, "<msubsup>") {
		t.Errorf("an integral: %s", got)
	}
}

// TestFormulasOfTheTrade converts what notebooks on private learning write.
func TestFormulasOfTheTrade(t *testing.T) {
	for _, tex := range []string{
		`\hat\theta = \operatorname*{arg\,min}_{\theta\in\mathcal{C}} \frac1{n} \sum_{i=1}^{n} \ell(\theta; x_i, y_i)` +
			` + \frac{\lambda}{2}\lVert\theta\rVert_2^2 + \langle b, \theta\rangle`,
		`\Pr[M(D)\in S] \le e^{\varepsilon}\,\Pr[M(D')\in S] + \delta`,
		`\delta(\varepsilon) = \Phi\!\left(\frac{\Delta}{2\sigma}-\frac{\varepsilon\sigma}{\Delta}\right) - ` +
			`e^{\varepsilon}\Phi\!\left(-\frac{\Delta}{2\sigma}-\frac{\varepsilon\sigma}{\Delta}\right)`,
		`\delta = \inf_{\alpha>1} ` +
			`\frac{\exp\big((\alpha-1)(\alpha\rho-\varepsilon)\big)}{\alpha-1}\Bigl(1-\tfrac{1}{\alpha}\Bigr)^{\alpha}`,
		`D_\alpha(P\,\|\,Q) = \frac{1}{\alpha-1}\log \mathbb{E}_{x\sim ` +
			`Q}\left[\left(\frac{P(x)}{Q(x)}\right)^{\!\alpha}\right]`,
		`\begin{aligned} f(x) &= x^2 + 1 \\ &\ge 1 \end{aligned}`,
		`b \sim \mathcal N\bigl(0, \sigma^2 I_d\bigr), \quad \|x_i\|_2 \leq 1 \;\forall i \in \{1,\dots,n\}`,
		`\underbrace{\nabla L(\theta)}_{\text{gradient}} \not= 0`,
		`\left.\frac{\partial f}{\partial t}\right|_{t=0} \xi_{\max} \overline{x+y} \sqrt{\log(1/\delta)}`,
	} {
		for _, display := range []bool{false, true} {
			got, err := Convert(tex, display)
			if err != nil {
				t.Error(err)
				continue
			}
			wellFormed(t, got)
		}
	}
}

func TestConvertRefusesWhatItDoesNotKnow(t *testing.T) {
	for tex, want := range map[string]string{
		`\unknown`:                 `\unknown is not known`,
		`\begin{tikz}\end{tikz}`:   `\begin{tikz}`,
		`{x`:                       `"}" expected`,
		`x}`:                       `unexpected "}"`,
		`\frac{1}`:                 "argument is missing",
		`x^`:                       "argument is missing",
		`\left( x`:                 `\left without \right`,
		`\left x`:                  "is no bracket",
		`\begin{cases} 1`:          `without its \end`,
		`\text{a`:                  "} is missing",
		`\sqrt[3`:                  `without ]`,
		`a $ b`:                    `unexpected "$"`,
		`\`:                        `\ is not known`,
		strings.Repeat("{", 10000): "nested",
	} {
		if got, err := Convert(tex, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %s, %v; want %q", tex, got, err, want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	f.Add(`\frac{1}{2} \left( x_i^2 \right) \begin{cases} a & b \\ c \end{cases} \mathbb{R} \hat x' \sqrt[3]{x}`)
	f.Add(`\text{a < b} \operatorname*{arg\,min}_{x} \not= \binom{n}{k} \underbrace{x}_{y}`)
	f.Fuzz(func(t *testing.T, tex string) {
		got, err := Convert(tex, true)
		if err == nil && validText(tex) {
			wellFormed(t, got)
		}
	})
}

// validText reports whether XML can hold the characters.
func validText(s string) bool {
	return strings.ToValidUTF8(s, "") == s && strings.IndexFunc(s, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
	}) < 0
}
