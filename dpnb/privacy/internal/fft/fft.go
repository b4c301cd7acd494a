// Package fft is the discrete Fourier transform of real vectors of 5-smooth even length, out of place and without bit
// reversal (Stockham), several times as fast as a general one: composing privacy losses is little else.
package fft

import "math"

// Real transforms real vectors of one length. It is not safe for concurrent use.
type Real struct {
	n       int // length of the real vectors
	radices []int
	*Roots
	table []complex128 // the first half of them
	work  []complex128
	// live is how many entries at either end of work may be other than zero.
	live int
}

// NewReal returns a transform of length n.
//
// Panics: unless n is even, positive and has no prime factor above 5.
func NewReal(n int) *Real {
	if n < 2 || n%2 != 0 {
		panic("fft: length must be even and positive")
	}
	f := &Real{n: n, work: make([]complex128, n/2)}
	m := n / 2
	for _, r := range []int{5, 3, 4, 2} {
		for m%r == 0 {
			f.radices = append(f.radices, r)
			m /= r
		}
	}
	if m != 1 {
		panic("fft: length must have no prime factor above 5")
	}
	f.Roots = NewRoots(n)
	f.table = make([]complex128, n/2)
	for k := range f.table {
		f.table[k] = f.At(k)
	}
	return f
}

// Roots are the n-th roots of unity, as products of two short tables.
type Roots struct {
	n            int
	fine, coarse []complex128
}

const fine = 256

// NewRoots returns the n-th roots of unity.
func NewRoots(n int) *Roots {
	r := &Roots{n: n, fine: make([]complex128, fine), coarse: make([]complex128, (n+fine-1)/fine)}
	for i := range r.fine {
		r.fine[i] = root(i%n, n)
	}
	for i := range r.coarse {
		r.coarse[i] = root(i*fine, n)
	}
	return r
}

// At returns e^{−2πik/n} for 0 ≤ k < n, within 5e-16 of it.
func (r *Roots) At(k int) complex128 { return r.coarse[uint(k)/fine] * r.fine[uint(k)%fine] }

// Power returns e^{−2πijk/n} for 0 ≤ j, k < n, within 5e-16 of it; jk may be beyond the integers of a small machine.
func (r *Roots) Power(j, k int) complex128 { return r.At(int(int64(j) * int64(k) % int64(r.n))) }

// root returns e^{−2πik/n} for 0 ≤ k < n by a sine and a cosine.
func root(k, n int) complex128 {
	// k/n in eighths of a turn, so that the argument is at most π/4.
	o := (8*k + n/2) / n // nearest eighth… of which only quarters are used
	q := (o + 1) / 2     // nearest quarter
	s, c := math.Sincos(2 * math.Pi * (float64(k) - 0.25*float64(q)*float64(n)) / float64(n))
	switch q & 3 {
	case 0:
		return complex(c, -s)
	case 1:
		return complex(-s, -c)
	case 2:
		return complex(-c, s)
	}
	return complex(s, c)
}

// Coefficients returns X_k = Σ_j x_j e^{−2πijk/n} for k ≤ n/2 in dst, which must have length n/2 + 1. x has length n.
func (f *Real) Coefficients(dst []complex128, x []float64) {
	m := f.n / 2
	if len(x) != f.n || len(dst) != m+1 {
		panic("fft: wrong length")
	}
	for j := range f.work {
		f.work[j] = complex(x[2*j], x[2*j+1])
	}
	f.lives()
	z := f.complex(dst[:m])
	// X_k = (Z_k + Z̄_{m−k})/2 − (i/2)·e^{−2πik/n}(Z_k − Z̄_{m−k}). z may be dst itself, so that k and m − k are done
	// together.
	first := z[0]
	for k := 1; 2*k <= m; k++ {
		a, b := z[k], z[m-k]
		dst[k], dst[m-k] = f.split(k, a, b), f.split(m-k, b, a)
	}
	dst[0] = complex(real(first)+imag(first), 0)
	dst[m] = complex(real(first)-imag(first), 0)
}

// split returns X_k from a = Z_k and c = Z_{m−k}.
func (f *Real) split(k int, a, c complex128) complex128 {
	b := complex(real(c), -imag(c))
	even, odd := a+b, (a-b)*f.table[k]
	return complex(0.5*(real(even)+imag(odd)), 0.5*(imag(even)-real(odd)))
}

// Sequence returns n·x in dst for the coefficients X_k, k ≤ n/2, of a real x: the inverse of Coefficients but for the
// factor n. It overwrites coeff.
func (f *Real) Sequence(dst []float64, coeff []complex128) {
	m := f.n / 2
	if len(dst) != f.n || len(coeff) != m+1 {
		panic("fft: wrong length")
	}
	// Conjugates throughout make the forward transform the inverse one.
	for k := range f.work {
		a, b := coeff[k], coeff[m-k]
		b = complex(real(b), -imag(b))
		w := f.table[k]
		even, odd := a+b, (a-b)*complex(real(w), -imag(w))
		f.work[k] = complex(real(even)-imag(odd), -(imag(even) + real(odd)))
	}
	f.lives()
	for j, z := range f.complex(coeff[:m]) {
		dst[2*j], dst[2*j+1] = real(z), -imag(z)
	}
}

// lives counts the entries of work that are not zero from either end: privacy losses fill little of a long lattice, and
// their compositions have few frequencies.
func (f *Real) lives() {
	f.live = 0
	for low, high := 0, len(f.work)-1; low <= high; low, high = low+1, high-1 {
		if f.work[low] != 0 || f.work[high] != 0 {
			f.live = low + 1
		}
	}
}

// root returns e^{−2πik/n} for 0 ≤ k < n, within 5e-16 of it.
func (f *Real) root(k int) complex128 {
	if h := f.n / 2; k >= h {
		return -f.table[k-h]
	}
	return f.table[k]
}

// complex transforms f.work, of length n/2, with scratch of the same length, and returns the result, which is in one of
// the two.
//
// Stage by stage, with s the product of the radices done and r the present one, y[q + s(rp + j)] = w^{jp} Σ_k x[q + s(p
// + mk)] e^{−2πijk/r}, w = e^{−2πi/(rm)}. Of the entries s(p + mk) of x only those less than live from either end are
// not zero, and so only the p of y that are.
func (f *Real) complex(scratch []complex128) []complex128 {
	x, y := f.work, scratch
	s := 1
	for _, r := range f.radices {
		m := len(x) / (s * r)
		for p := 0; p < m; p++ {
			if p == f.live && p < m-f.live {
				clear(y[r*s*p : r*s*(m-f.live)])
				if p = m - f.live; p == m {
					break
				}
			}
			w := f.root(2 * p * s)
			switch r {
			case 2:
				radix2(y[2*s*p:2*s*(p+1)], x[s*p:], s, m, w)
			case 3:
				radix3(y[3*s*p:3*s*(p+1)], x[s*p:], s, m, w, f.root(4*p*s))
			case 4:
				radix4(y[4*s*p:4*s*(p+1)], x[s*p:], s, m, w, f.root(4*p*s), f.root(6*p*s))
			case 5:
				radix5(y[5*s*p:5*s*(p+1)], x[s*p:], s, m, w, f.root(4*p*s), f.root(6*p*s), f.root(8*p*s))
			}
		}
		x, y = y, x
		s *= r
	}
	return x
}

func radix2(y, x []complex128, s, m int, w complex128) {
	x0, x1 := x[:s], x[s*m:][:s]
	y0, y1 := y[:s], y[s:][:s]
	for q := range y0 {
		a, b := x0[q], x1[q]
		y0[q] = a + b
		y1[q] = (a - b) * w
	}
}

func radix3(y, x []complex128, s, m int, w1, w2 complex128) {
	const h = 0.866025403784438646763723170752936183 // √3/2
	x0, x1, x2 := x[:s], x[s*m:][:s], x[2*s*m:][:s]
	y0, y1, y2 := y[:s], y[s:][:s], y[2*s:][:s]
	for q := range y0 {
		a, b, c := x0[q], x1[q], x2[q]
		t, d := b+c, b-c
		u := complex(real(a)-0.5*real(t), imag(a)-0.5*imag(t))
		v := complex(h*imag(d), -h*real(d)) // −i·h·d
		y0[q] = a + t
		y1[q] = (u + v) * w1
		y2[q] = (u - v) * w2
	}
}

func radix4(y, x []complex128, s, m int, w1, w2, w3 complex128) {
	x0, x1, x2, x3 := x[:s], x[s*m:][:s], x[2*s*m:][:s], x[3*s*m:][:s]
	y0, y1, y2, y3 := y[:s], y[s:][:s], y[2*s:][:s], y[3*s:][:s]
	for q := range y0 {
		a, b, c, d := x0[q], x1[q], x2[q], x3[q]
		e, f := a+c, a-c
		g, h := b+d, b-d
		h = complex(imag(h), -real(h)) // −i(b − d)
		y0[q] = e + g
		y1[q] = (f + h) * w1
		y2[q] = (e - g) * w2
		y3[q] = (f - h) * w3
	}
}

func radix5(y, x []complex128, s, m int, w1, w2, w3, w4 complex128) {
	const (
		c1 = 0.309016994374947424102293417182819059  // cos 2π/5
		c2 = -0.809016994374947424102293417182819059 // cos 4π/5
		s1 = 0.951056516295153572116439333379382143  // sin 2π/5
		s2 = 0.587785252292473129168705954639072769  // sin 4π/5
	)
	x0, x1, x2, x3, x4 := x[:s], x[s*m:][:s], x[2*s*m:][:s], x[3*s*m:][:s], x[4*s*m:][:s]
	y0, y1, y2, y3, y4 := y[:s], y[s:][:s], y[2*s:][:s], y[3*s:][:s], y[4*s:][:s]
	for q := range y0 {
		a, b, c, d, e := x0[q], x1[q], x2[q], x3[q], x4[q]
		p1, m1 := b+e, b-e
		p2, m2 := c+d, c-d
		r1 := complex(real(a)+c1*real(p1)+c2*real(p2), imag(a)+c1*imag(p1)+c2*imag(p2))
		r2 := complex(real(a)+c2*real(p1)+c1*real(p2), imag(a)+c2*imag(p1)+c1*imag(p2))
		// −i(s1·m1 + s2·m2) and −i(s2·m1 − s1·m2).
		i1 := complex(s1*imag(m1)+s2*imag(m2), -(s1*real(m1) + s2*real(m2)))
		i2 := complex(s2*imag(m1)-s1*imag(m2), -(s2*real(m1) - s1*real(m2)))
		y0[q] = a + p1 + p2
		y1[q] = (r1 + i1) * w1
		y2[q] = (r2 + i2) * w2
		y3[q] = (r2 - i2) * w3
		y4[q] = (r1 - i1) * w4
	}
}
