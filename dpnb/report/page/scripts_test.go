package page

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestRaised(t *testing.T) {
	for text, want := range map[string]string{
		"<p>δ = e^{−x²/2} and p^α q^{1−α}, (P/Q)^α/α</p>": "<p>δ = e<sup>−x²/2</sup> and p<sup>α</sup> " +
			"q<sup>1−α</sup>, (P/Q)<sup>α</sup>/α</p>",
		"<p>H_{e^ε}(P‖Q), H_{e^{ε̃}}, e^ε̂.</p>": "<p>H<sub>e<sup>ε</sup></sub>(P‖Q), H<sub>e<sup>ε̃</sup></sub>, " +
			"e<sup>ε̂</sup>.</p>",
		"<p>a ^b, x^, x^{y, which_table, ^a</p>": "<p>a ^b, x^, x^{y, which_table, ^a</p>",
		"<p>2^10, n^-0.5, n^−½, A^⊤a, κ^2.</p>": "<p>2<sup>10</sup>, n<sup>-0.5</sup>, n<sup>−½</sup>, " +
			"A<sup>⊤</sup>a, κ<sup>2</sup>.</p>",
		"<p>λ_max, χ_d, f_C(u), (E_Q), which_x, 1_a.</p>": "<p>λ<sub>max</sub>, χ<sub>d</sub>, " +
			"f<sub>C</sub>(u), (E<sub>Q</sub>), which_x, 1_a.</p>",
		"<p><code>e^{x}</code> <b>e^x</b></p><pre>a^b</pre>": "<p><code>e^{x}</code> " +
			"<b>e<sup>x</sup></b></p><pre>a^b</pre>",
	} {
		b := must.Get(Parse([]byte(text)))
		b.raised()
		if got, err := b.HTML(); err != nil || string(got) != want {
			t.Errorf("%s (%v), want %s", got, err, want)
		}
	}
}
