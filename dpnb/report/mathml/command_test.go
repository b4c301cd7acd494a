package mathml

import (
	"regexp"
	"strings"
	"testing"
)

// Every name of a command does what the others of its kind do; none of the lists is left out.
func TestNamesOfCommands(t *testing.T) {
	for _, c := range []struct{ names, after, want string }{
		{"big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm", "(",
			`<mo stretchy="true" symmetric="true" minsize="1.3em">(</mo>`},
		{"big", ".", `<mo stretchy="true" symmetric="true" minsize="1.3em"></mo>`},
		{"displaystyle textstyle scriptstyle nonumber notag", " x", "<mi>x</mi>"},
		{"displaystyle", "", "<mrow></mrow>"}, {"label", "{a}", "<mtext></mtext>"},
		{"text textrm textnormal mbox textit textbf texttt", "{a b}", "<mtext>a\u00a0b</mtext>"},
		{"mathrm mathup", "{ab}", `<mi mathvariant="normal">ab</mi>`},
		{"liminf", "", `>lim inf<`}, {"limsup", "", `>lim sup<`}, {"argmin", "", `>arg min<`},
		{"argmax", "", `>arg max<`},
		{"sqrt", "{x}", "<msqrt><mi>x</mi></msqrt>"}, {"sqrt", "[3]{x}", "<mroot><mi>x</mi><mn>3</mn></mroot>"},
		{"bmod mod", " n", ">mod<"}, {"", " ", `<mspace width="0.333em"/>`},
		{"underline", "{x}", `<munder accent="true"><mi>x</mi><mo stretchy="true">_</mo></munder>`},
	} {
		for name := range strings.SplitSeq(c.names, " ") {
			if got := body(t, `\`+name+c.after, false); !strings.Contains(got, c.want) {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}

// Letters in a style are those that Unicode calls so, looked up by their names.
func TestAlphabets(t *testing.T) {
	for _, c := range []struct{ names, letters, want string }{
		{"mathbf boldsymbol bm", "AZaz09ΑΩαω", "𝐀𝐙𝐚𝐳𝟎𝟗𝚨𝛀𝛂𝛚"},
		{"mathcal mathscr", "AZaz09", "𝒜𝒵𝒶𝓏09"},
		{"mathbb", "AZaz09", "𝔸ℤ𝕒𝕫𝟘𝟡"},
		{"mathfrak", "AZaz09", "𝔄ℨ𝔞𝔷09"},
		{"mathsf", "AZaz09", "𝖠𝖹𝖺𝗓𝟢𝟫"},
		{"mathtt", "AZaz09", "𝙰𝚉𝚊𝚣𝟶𝟿"},
	} {
		for name := range strings.SplitSeq(c.names, " ") {
			if got := body(t, `\`+name+"{"+c.letters+"}", false); tags.ReplaceAllString(got, "") != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}

var tags = regexp.MustCompile("<[^>]*>")
