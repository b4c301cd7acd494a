package mathml

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Names, each followed by what it stands for.
const (
	identifiers = `
		alpha α  beta β  gamma γ  delta δ  epsilon ϵ  varepsilon ε  zeta ζ  eta η  theta θ  vartheta ϑ  iota ι  kappa κ
		lambda λ  mu μ  nu ν  xi ξ  omicron ο  pi π  varpi ϖ  rho ρ  varrho ϱ  sigma σ  varsigma ς  tau τ  upsilon υ
		phi ϕ  varphi φ  chi χ  psi ψ  omega ω  Gamma Γ  Delta Δ  Theta Θ  Lambda Λ  Xi Ξ  Pi Π  Sigma Σ  Upsilon Υ
		Phi Φ  Psi Ψ  Omega Ω  infty ∞  partial ∂  nabla ∇  ell ℓ  hbar ℏ  Re ℜ  Im ℑ  emptyset ∅  varnothing ∅  top ⊤
		bot ⊥  aleph ℵ  imath ı  jmath ȷ`
	operators = `
		le ≤  leq ≤  leqslant ⩽  ge ≥  geq ≥  geqslant ⩾  ne ≠  neq ≠  lt <  gt >  approx ≈  sim ∼  simeq ≃  cong ≅
		equiv ≡  propto ∝  ll ≪  gg ≫  prec ≺  preceq ⪯  succ ≻  succeq ⪰  lesssim ≲  gtrsim ≳  in ∈  notin ∉  ni ∋
		subset ⊂  subseteq ⊆  supset ⊃  supseteq ⊇  cup ∪  cap ∩  setminus ∖  triangleq ≜  coloneqq ≔  doteq ≐  to →
		rightarrow →  leftarrow ←  gets ←  leftrightarrow ↔  mapsto ↦  longrightarrow ⟶  Rightarrow ⇒  Leftarrow ⇐
		Leftrightarrow ⇔  implies ⟹  iff ⟺  uparrow ↑  downarrow ↓  hookrightarrow ↪  cdot ⋅  times ×  div ÷  pm ±  mp ∓
		ast ∗  star ⋆  circ ∘  bullet ∙  oplus ⊕  otimes ⊗  odot ⊙  wedge ∧  land ∧  vee ∨  lor ∨  neg ¬  lnot ¬
		forall ∀  exists ∃  nexists ∄  mid ∣  nmid ∤  parallel ∥  perp ⊥  colon :  ldots …  dots …  cdots ⋯  vdots ⋮
		ddots ⋱  dotsc …  dotsb ⋯  prime ′  dagger †  backslash ∖  % %  & &  _ _  $ $  # #  angle ∠  square □  Box □
		blacksquare ■  checkmark ✓  vdash ⊢  models ⊨  asymp ≍`
	sums       = `sum ∑  prod ∏  bigcup ⋃  bigcap ⋂  bigoplus ⨁  bigotimes ⨂`
	integrals  = `int ∫  iint ∬  oint ∮`
	delimiters = `
		{ {  } }  lbrace {  rbrace }  | ‖  Vert ‖  lVert ‖  rVert ‖  vert |  lvert |  rvert |  langle ⟨  rangle ⟩
		lfloor ⌊  rfloor ⌋  lceil ⌈  rceil ⌉  lbrack [  rbrack ]`
	spaces = `
		, 0.167em  : 0.222em  > 0.222em  ; 0.278em  ! -0.167em  quad 1em  qquad 2em  thinspace 0.167em  enspace 0.5em`
	accents     = `hat ^  tilde ~  bar ¯  vec →  dot ˙  ddot ¨  check ˇ  breve ˘`
	wideAccents = `widehat ^  widetilde ~  overline ¯  overrightarrow →`
)

// Functions are written upright; those of the second list have limits.
const (
	functions = `log ln lg exp sin cos tan tanh sinh cosh arcsin arccos arctan arg dim ker deg mod`
	limits    = `max min inf sup lim det gcd Pr`
)

// pairs reads a list of names and what they stand for.
func pairs(list string) map[string]string {
	m := map[string]string{}
	words := strings.Fields(list)
	for i := 0; i < len(words); i += 2 {
		m[words[i]] = words[i+1]
	}
	return m
}

// templates are the commands that put their arguments into a format.
var templates = map[string]string{
	"frac dfrac tfrac cfrac": "<mfrac>%s%s</mfrac>",
	"binom":                  `<mrow><mo>(</mo><mfrac linethickness="0">%s%s</mfrac><mo>)</mo></mrow>`,
	"overset stackrel":       "<mover>%[2]s%[1]s</mover>",
	"underset":               "<munder>%[2]s%[1]s</munder>",
	"boxed":                  `<mrow style="border: thin solid; padding: 0.3em">%s</mrow>`,
	"pmod": `<mrow><mspace width="1em"/><mo>(</mo><mi>mod</mi>` +
		`<mspace width="0.333em"/>%s<mo>)</mo></mrow>`,
}

// braces are templates whose scripts are put under or over them.
var braces = map[string]string{
	"underbrace": `<munder>%s<mo stretchy="true">⏟</mo></munder>`,
	"overbrace":  `<mover>%s<mo stretchy="true">⏞</mo></mover>`,
}

// environment is a table that LaTeX knows: how its columns are aligned, in turn, and the brackets around it.
type environment struct{ align, open, close string }

var environments = map[string]environment{}

func init() {
	for names, e := range map[string]environment{
		"aligned align align* split": {"right left", "", ""},
		"eqnarray":                   {"right center left", "", ""},
		"gather gather* gathered equation equation* matrix array": {"center", "", ""},
		"pmatrix": {"center", "(", ")"},
		"bmatrix": {"center", "[", "]"},
		"vmatrix": {"center", "|", "|"},
		"cases":   {"left", "{", ""},
	} {
		for _, name := range strings.Fields(names) {
			environments[name] = e
		}
	}
}

// An alphabet is a set of letters in a style. MathML has no attribute for them: they are characters of their own in
// Unicode's block Mathematical Alphanumeric Symbols, but for those that Unicode had before.
type alphabet struct {
	// The first of its letters and digits, 0 where they have no style of their own.
	capital, small, zero, greekCapital, greekSmall rune
	// before are the letters that Unicode had before it had the alphabet.
	before map[rune]rune
}

var alphabets = map[string]*alphabet{
	"mathbf boldsymbol bm": {0x1D400, 0x1D41A, 0x1D7CE, 0x1D6A8, 0x1D6C2, nil},
	"mathcal mathscr": {0x1D49C, 0x1D4B6, 0, 0, 0, map[rune]rune{
		'B': 'ℬ', 'E': 'ℰ', 'F': 'ℱ', 'H': 'ℋ', 'I': 'ℐ', 'L': 'ℒ', 'M': 'ℳ', 'R': 'ℛ', 'e': 'ℯ', 'g': 'ℊ', 'o': 'ℴ'}},
	"mathbb": {0x1D538, 0x1D552, 0x1D7D8, 0, 0, map[rune]rune{
		'C': 'ℂ', 'H': 'ℍ', 'N': 'ℕ', 'P': 'ℙ', 'Q': 'ℚ', 'R': 'ℝ', 'Z': 'ℤ'}},
	"mathfrak": {0x1D504, 0x1D51E, 0, 0, 0, map[rune]rune{'C': 'ℭ', 'H': 'ℌ', 'I': 'ℑ', 'R': 'ℜ', 'Z': 'ℨ'}},
	"mathsf":   {0x1D5A0, 0x1D5BA, 0x1D7E2, 0, 0, nil},
	"mathtt":   {0x1D670, 0x1D68A, 0x1D7F6, 0, 0, nil},
}

func (a *alphabet) letter(r rune) rune {
	if old, ok := a.before[r]; ok {
		return old
	}
	for _, s := range []struct{ first, last, styled rune }{
		{'A', 'Z', a.capital}, {'a', 'z', a.small}, {'0', '9', a.zero}, {'Α', 'Ω', a.greekCapital},
		{'α', 'ω', a.greekSmall},
	} {
		if s.styled != 0 && r >= s.first && r <= s.last {
			return s.styled + r - s.first
		}
	}
	return r
}

// characters matches the tags, the entities and the letters of a piece of MathML.
var characters = regexp.MustCompile(`<[^>]*>|&[^;]*;|.`)

func (a *alphabet) restyle(xml string) string {
	return characters.ReplaceAllStringFunc(xml, func(s string) string {
		if r, size := utf8.DecodeRuneInString(s); size == len(s) {
			return string(a.letter(r))
		}
		return s
	})
}

var letterTags = strings.NewReplacer("<mrow>", "", "</mrow>", "", "</mi><mi>", "", "<mi>", "", "</mi>", "")

// upright sets letters upright; those of a word belong together.
func upright(xml string) node {
	if word := letterTags.Replace(xml); !strings.Contains(word, "<") {
		return function(word)
	}
	return node{xml: strings.ReplaceAll(xml, "<mi>", `<mi mathvariant="normal">`)}
}
