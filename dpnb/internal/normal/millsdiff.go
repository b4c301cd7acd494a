package normal

import "math"

// millsDiff returns R(m−h) − R(m+h) for Mills' ratio R, m ≥ 0, h ≥ 0 and m − h ≥ −4, with relative error below 2e-14
// however close the two are.
//
// Where the difference is small it is the Taylor series about the midpoint,
//
//	R(m−h) − R(m+h) = 2 Σ_{n odd} s_n hⁿ,  s_n = (−1)ⁿ R⁽ⁿ⁾(m)/n! > 0,
//
// which has no cancellation. The s_n solve (n+1)s_{n+1} = s_{n−1} − m·s_n with s_{−1} = 1, of which they are the
// minimal solution: for m ≥ 2 the recurrence is run backwards, which is Laplace's continued fraction s_n/s_{n−1} =
// 1/(m + (n+1)s_{n+1}/s_n) without its divisions, below that forward, where it has not room to diverge.
func millsDiff(m, h float64) float64 {
	switch {
	case h == 0:
		return 0
	case m < 2 && h > 0.5:
		return Mills(m-h) - Mills(m+h)
	case m < 2:
		return millsDiffForward(m, h)
	case 3*h > m:
		return Mills(m-h) - Mills(m+h)
	}
	return millsDiffFraction(m, h)
}

// LogMillsDiff returns ln millsDiff(m, h), h > 0, also where that is below the range of float64.
func LogMillsDiff(m, h float64) float64 {
	if d := millsDiff(m, h); d > 1e-290 {
		return math.Log(d)
	}
	// The difference is linear in h here: the midpoint is far beyond it, or h tiny.
	up := h
	shift := 0.0
	for up < 0x1p-100 {
		up *= 0x1p200
		shift -= 200 * math.Ln2
	}
	if d := millsDiff(m, up); d > 1e-290 && 3*up < m {
		return math.Log(d) + shift
	}
	return math.Log(2*h) - 2*math.Log(m) // R′ is −1/m² to 2e-16 where m is so large
}

// maxOrder is the highest order of the series: with hρ ≤ 1/3 the terms fall by 1/9 each.
const maxOrder = 37

func millsDiffForward(m, h float64) float64 {
	prev, cur := Mills(m), 0.0 // s_0, s_1
	cur = 1 - m*prev
	sum, hn := 0.0, h
	for n := 1; n < maxOrder; n += 2 {
		term := cur * hn
		sum += term
		if term <= 1e-17*sum {
			break
		}
		next := (prev - m*cur) / float64(n+1)
		prev, cur = next, (cur-m*next)/float64(n+2)
		hn *= h * h
	}
	return 2 * sum
}

// millsDiffFraction runs the recurrence of the s_n backwards, in which the minimal solution is the one that grows, for
// v_n = s_n·mⁿ:
//
//	v_{n−1} = v_n + (n+1)v_{n+1}/m²,  R(m−h) − R(m+h) = 2 Σ_{n odd} v_n (h/m)ⁿ / (m v_{−1}).
//
// All terms are positive. The first ratio is that at which the recurrence would stand still: the steps take its error
// below 1e-17 of the result, as does what is left of the series.
func millsDiffFraction(m, h float64) float64 {
	c, x := 1/(m*m), h/m
	n := 5 + int(math.Max(10+345*c, -39/math.Log(x))) | 1
	after, v := 1.0, 0.5+math.Sqrt(0.25+float64(n+1)*c)
	var sum float64 // of v_n (h/m)^{n−1}
	x2 := x * x
	for k := float64(n); k > 0; k -= 2 {
		sum = sum*x2 + v
		next := v + (k+1)*c*after
		after, v = next, next+k*c*v
	}
	return 2 * x * sum / (m * v)
}
