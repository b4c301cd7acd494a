package objective

import (
	"math"
)

// Roughly returns about ln δ(ε), to some thousandths of δ with 1,000 cells: for searches, in a tenth of the time of
// Profile. It is no bound: what a search finds is to be proved.
//
// W of each form is put on a lattice of so many cells, its mass split between neighbours so that the mean is kept, and
// the laws are convolved. The remove direction alone is looked at: there W is larger by a logarithm.
//
// Errors: as Profile.
func (r Rows) Roughly(eps float64, cells int) (float64, error) { return Stages{r}.Roughly(eps, cells) }

// Roughly is that of Rows for several stages.
func (s Stages) Roughly(eps float64, cells int) (float64, error) {
	const reach = 8.0
	nodes := 2 * cells
	weights, total := make([]float64, nodes), 0.0
	for i := range weights {
		n := reach * (2*(float64(i)+0.5)/float64(nodes) - 1)
		weights[i] = math.Exp(-n * n / 2)
		total += weights[i]
	}
	var losses [][]float64 // of each form, at the nodes
	low, high := math.Inf(1), math.Inf(-1)
	var counts []int
	for _, r := range s {
		if _, err := r.components(); err != nil {
			return 0, err
		}
		for _, f := range r.Forms {
			e := (&problem{curve: f.Curve, lambda: r.Lambda, sigma: r.Sigma}).envelope()
			w := make([]float64, nodes)
			for i := range w {
				w[i] = e.compute(reach * (2*(float64(i)+0.5)/float64(nodes) - 1))
				low, high = math.Min(low, w[i]), math.Max(high, w[i])
			}
			losses, counts = append(losses, w), append(counts, f.Count)
		}
		if r.Mu > 0 {
			w := make([]float64, nodes)
			for i := range w {
				w[i] = r.Mu * (r.Mu/2 + reach*(2*(float64(i)+0.5)/float64(nodes)-1))
				low, high = math.Min(low, w[i]), math.Max(high, w[i])
			}
			losses, counts = append(losses, w), append(counts, 1)
		}
	}
	step := (high - low) / float64(cells)
	if !(step > 0) {
		return 0, nil
	}
	sum, parts := []float64{1}, 0
	for k, w := range losses {
		law := make([]float64, cells+2)
		for i, v := range w {
			at := (v - low) / step
			j := math.Floor(at)
			law[int(j)] += weights[i] / total * (1 - (at - j))
			law[int(j)+1] += weights[i] / total * (at - j)
		}
		for range counts[k] {
			sum = convolve(sum, law)
			parts++
		}
	}
	delta := 0.0
	for j, v := range sum {
		if loss := float64(parts)*low + step*float64(j); loss > eps {
			delta -= v * math.Expm1(eps-loss)
		}
	}
	return math.Log(delta), nil
}

// convolve returns the law of the sum; what is far below any δ is left out.
func convolve(a, b []float64) []float64 {
	out := make([]float64, len(a)+len(b)-1)
	for i, v := range a {
		if v < 1e-30 {
			continue
		}
		for j, w := range b {
			out[i+j] += v * w
		}
	}
	return out
}
