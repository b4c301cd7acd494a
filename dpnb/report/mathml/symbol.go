package mathml

import (
	"strings"
	"unicode/utf8"
)

// identifiers are written as letters.
var identifiers = map[string]string{
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ",
	"eta": "η", "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
	"xi": "ξ", "omicron": "ο", "pi": "π", "varpi": "ϖ", "rho": "ρ", "varrho": "ϱ", "sigma": "σ", "varsigma": "ς",
	"tau": "τ", "upsilon": "υ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
	"Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
	"Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
	"infty": "∞", "partial": "∂", "nabla": "∇", "ell": "ℓ", "hbar": "ℏ", "Re": "ℜ", "Im": "ℑ",
	"emptyset": "∅", "varnothing": "∅", "top": "⊤", "bot": "⊥", "aleph": "ℵ", "imath": "ı", "jmath": "ȷ",
}

// operators are signs between or before terms.
var operators = map[string]string{
	"le": "≤", "leq": "≤", "leqslant": "⩽", "ge": "≥", "geq": "≥", "geqslant": "⩾", "ne": "≠", "neq": "≠",
	"lt": "<", "gt": ">", "approx": "≈", "sim": "∼", "simeq": "≃", "cong": "≅", "equiv": "≡", "propto": "∝",
	"ll": "≪", "gg": "≫", "prec": "≺", "preceq": "⪯", "succ": "≻", "succeq": "⪰", "lesssim": "≲", "gtrsim": "≳",
	"in": "∈", "notin": "∉", "ni": "∋", "subset": "⊂", "subseteq": "⊆", "supset": "⊃", "supseteq": "⊇",
	"cup": "∪", "cap": "∩", "setminus": "∖", "triangleq": "≜", "coloneqq": "≔", "doteq": "≐",
	"to": "→", "rightarrow": "→", "leftarrow": "←", "gets": "←", "leftrightarrow": "↔", "mapsto": "↦",
	"longrightarrow": "⟶", "Rightarrow": "⇒", "Leftarrow": "⇐", "Leftrightarrow": "⇔", "implies": "⟹", "iff": "⟺",
	"uparrow": "↑", "downarrow": "↓", "hookrightarrow": "↪",
	"cdot": "⋅", "times": "×", "div": "÷", "pm": "±", "mp": "∓", "ast": "∗", "star": "⋆", "circ": "∘", "bullet": "∙",
	"oplus": "⊕", "otimes": "⊗", "odot": "⊙", "wedge": "∧", "land": "∧", "vee": "∨", "lor": "∨", "neg": "¬", "lnot": "¬",
	"forall": "∀", "exists": "∃", "nexists": "∄", "mid": "∣", "nmid": "∤", "parallel": "∥", "perp": "⊥", "colon": ":",
	"ldots": "…", "dots": "…", "cdots": "⋯", "vdots": "⋮", "ddots": "⋱", "dotsc": "…", "dotsb": "⋯",
	"prime": "′", "dagger": "†", "backslash": "∖", "%": "%", "&": "&", "_": "_", "$": "$", "#": "#", "angle": "∠",
	"square": "□", "Box": "□", "blacksquare": "■", "checkmark": "✓", "vdash": "⊢", "models": "⊨", "asymp": "≍",
}

var bigOperators = map[string]string{
	"sum": "∑", "prod": "∏", "int": "∫", "iint": "∬", "oint": "∮", "bigcup": "⋃", "bigcap": "⋂", "bigoplus": "⨁", "bigotimes": "⨂",
}

var delimiters = map[string]string{
	"{": "{", "}": "}", "lbrace": "{", "rbrace": "}", "|": "‖", "Vert": "‖", "lVert": "‖", "rVert": "‖",
	"vert": "|", "lvert": "|", "rvert": "|", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋",
	"lceil": "⌈", "rceil": "⌉", "lbrack": "[", "rbrack": "]",
}

// functions are written upright.
var functions = map[string]string{
	"log": "log", "ln": "ln", "lg": "lg", "exp": "exp", "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh",
	"sinh": "sinh", "cosh": "cosh", "arcsin": "arcsin", "arccos": "arccos", "arctan": "arctan", "max": "max",
	"min": "min", "inf": "inf", "sup": "sup", "lim": "lim", "liminf": "lim inf", "limsup": "lim sup", "arg": "arg",
	"argmin": "arg min", "argmax": "arg max", "det": "det", "dim": "dim", "ker": "ker", "deg": "deg", "gcd": "gcd",
	"Pr": "Pr", "bmod": "mod", "mod": "mod",
}

var limitFunctions = map[string]bool{
	"max": true, "min": true, "inf": true, "sup": true, "lim": true, "liminf": true, "limsup": true,
	"argmin": true, "argmax": true, "det": true, "gcd": true, "Pr": true,
}

var spaces = map[string]string{
	",": "0.167em", ":": "0.222em", ">": "0.222em", ";": "0.278em", "!": "-0.167em", " ": "0.333em",
	"quad": "1em", "qquad": "2em", "thinspace": "0.167em", "enspace": "0.5em",
}

type accent struct {
	sign        string
	wide, under bool
}

var accents = map[string]accent{
	"hat": {sign: "^"}, "widehat": {sign: "^", wide: true}, "tilde": {sign: "~"}, "widetilde": {sign: "~", wide: true},
	"bar": {sign: "¯"}, "overline": {sign: "¯", wide: true}, "underline": {sign: "_", wide: true, under: true},
	"vec": {sign: "→"}, "overrightarrow": {sign: "→", wide: true}, "dot": {sign: "˙"}, "ddot": {sign: "¨"},
	"check": {sign: "ˇ"}, "breve": {sign: "˘"},
}

var sizes = map[string]bool{
	"big": true, "Big": true, "bigg": true, "Bigg": true, "bigl": true, "bigr": true, "Bigl": true, "Bigr": true,
	"biggl": true, "biggr": true, "Biggl": true, "Biggr": true, "bigm": true, "Bigm": true,
}

// ignored commands change what MathML decides by itself.
var ignored = map[string]bool{
	"displaystyle": true, "textstyle": true, "scriptstyle": true, "nonumber": true, "notag": true,
}

// An alphabet is a set of letters in a style. MathML has no attribute for them:
// they are characters of their own in Unicode's block Mathematical Alphanumeric
// Symbols, but for those that Unicode had before.
type alphabet int

const (
	upright alphabet = iota
	bold
	script
	blackboard
	fraktur
	sansSerif
	typewriter
)

var alphabets = map[string]alphabet{
	"mathrm": upright, "mathup": upright, "mathbf": bold, "boldsymbol": bold, "bm": bold, "mathcal": script, "mathscr": script,
	"mathbb": blackboard, "mathfrak": fraktur, "mathsf": sansSerif, "mathtt": typewriter,
}

// first are the capital and the small A of each alphabet, and its zero if it has
// digits of its own.
var first = map[alphabet][3]rune{
	bold: {0x1D400, 0x1D41A, 0x1D7CE}, script: {0x1D49C, 0x1D4B6, 0}, blackboard: {0x1D538, 0x1D552, 0x1D7D8},
	fraktur: {0x1D504, 0x1D51E, 0}, sansSerif: {0x1D5A0, 0x1D5BA, 0x1D7E2}, typewriter: {0x1D670, 0x1D68A, 0x1D7F6},
}

// before are the letters that Unicode had before it had the alphabet.
var before = map[alphabet]map[rune]rune{
	script:     {'B': 'ℬ', 'E': 'ℰ', 'F': 'ℱ', 'H': 'ℋ', 'I': 'ℐ', 'L': 'ℒ', 'M': 'ℳ', 'R': 'ℛ', 'e': 'ℯ', 'g': 'ℊ', 'o': 'ℴ'},
	blackboard: {'C': 'ℂ', 'H': 'ℍ', 'N': 'ℕ', 'P': 'ℙ', 'Q': 'ℚ', 'R': 'ℝ', 'Z': 'ℤ'},
	fraktur:    {'C': 'ℭ', 'H': 'ℌ', 'I': 'ℑ', 'R': 'ℜ', 'Z': 'ℨ'},
}

const (
	boldAlpha = 0x1D6C2 // of Unicode's bold small Greek letters
	boldGamma = 0x1D6A8 // of its bold capital Greek letters, which begin with Alpha
)

func (a alphabet) letter(r rune) rune {
	if old, ok := before[a][r]; ok {
		return old
	}
	starts := first[a]
	switch {
	case r >= 'A' && r <= 'Z':
		return starts[0] + r - 'A'
	case r >= 'a' && r <= 'z':
		return starts[1] + r - 'a'
	case r >= '0' && r <= '9' && starts[2] != 0:
		return starts[2] + r - '0'
	case a == bold && r >= 'α' && r <= 'ω':
		return boldAlpha + r - 'α'
	case a == bold && r >= 'Α' && r <= 'Ω':
		return boldGamma + r - 'Α'
	default:
		return r
	}
}

// restyle changes the text between the tags of a piece of MathML. Entities and
// tags stay as they are.
func (a alphabet) restyle(xml string) string {
	var b strings.Builder
	for i := 0; i < len(xml); {
		switch c := xml[i]; c {
		case '<', '&':
			end := strings.IndexByte(xml[i:], map[byte]byte{'<': '>', '&': ';'}[c])
			if end < 0 {
				end = len(xml) - i - 1
			}
			b.WriteString(xml[i : i+end+1])
			i += end + 1
		default:
			r, size := utf8.DecodeRuneInString(xml[i:])
			b.WriteRune(a.letter(r))
			i += size
		}
	}
	return b.String()
}
