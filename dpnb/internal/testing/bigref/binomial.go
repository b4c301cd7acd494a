package bigref

import "math/big"

// RandomisedResponse is the exact privacy loss of k runs of randomised response of ε₀, which dominate every ε₀-DP
// mechanism composed k times: J of law Bin(k, p), p = e^ε₀/(1 + e^ε₀), and the loss (2J − k)ε₀.
type RandomisedResponse struct {
	eps0  F
	k     int64
	first int64 // the outcome to which the sums of index 0 belong
	// p[i] and q[i] are P(J ≥ first + i) under the law that is drawn from and the other.
	p, q []F
}

// NewRandomisedResponse sums the binomial law outward from its mode, as far as its terms are above 2^−bits of the
// largest: what is left is that much of the whole.
func NewRandomisedResponse(eps0 F, k int64, bits int) *RandomisedResponse {
	odds := Exp(eps0)
	mode, _ := Quo(Product(Int(k), odds), Sum(Int(1), odds)).Int64()
	walk := func(step int64) []F {
		var terms []F
		t := Int(1)
		for j := mode; t.Sign() != 0 && t.MantExp(nil) > -bits; {
			terms = append(terms, t)
			// T(j+1)/T(j) = odds·(k − j)/(j + 1)
			if step > 0 {
				t = Quo(Product(t, odds, Int(k-j)), Int(j+1))
			} else {
				t = Quo(Product(t, Int(j)), Product(odds, Int(k-j+1)))
			}
			if j += step; j < 0 || j > k {
				break
			}
		}
		return terms
	}
	down, up := walk(-1), walk(+1)
	n := len(down) + len(up) - 1
	r := &RandomisedResponse{eps0: eps0, k: k, first: mode - int64(len(down)-1), p: make([]F, n+1), q: make([]F, n+1)}
	r.p[n], r.q[n] = blank(), blank()
	last := r.first + int64(n) - 1
	other, twice := Exp(Neg(r.loss(last))), Exp(Sum(eps0, eps0)) // e^{−loss}
	for i := n - 1; i >= 0; i-- {
		var term F
		if at := i - (len(down) - 1); at >= 0 {
			term = up[at]
		} else {
			term = down[-at]
		}
		r.p[i] = Sum(r.p[i+1], term)
		r.q[i] = Sum(r.q[i+1], Product(term, other))
		other = Product(other, twice)
	}
	whole := r.p[0]
	for i := range r.p {
		r.p[i], r.q[i] = Quo(r.p[i], whole), Quo(r.q[i], whole)
	}
	return r
}

func (r *RandomisedResponse) loss(j int64) F { return Product(Int(2*j-r.k), r.eps0) }

// Delta returns δ(ε) = P(loss ≥ ε) − e^ε P′(loss ≥ ε); 0 above the largest loss that was summed.
func (r *RandomisedResponse) Delta(eps F) F {
	// The first outcome whose loss is above ε: j > (ε/ε₀ + k)/2.
	half := Product(New(0.5), Sum(Quo(eps, r.eps0), Int(r.k)))
	j, _ := new(big.Float).Set(half).Int64()
	i := j + 1 - r.first
	i = max(0, i)
	if i >= int64(len(r.p)) {
		return blank()
	}
	return Sub(r.p[i], Product(Exp(eps), r.q[i]))
}
