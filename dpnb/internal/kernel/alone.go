package kernel

// MarginsAlone is Margins with every margin a function of its row and of theta alone, to the last bit: not of how many
// rows there are, nor of the place among them. Rows that do not fill a group of four are computed as a group with
// zeros; without assembly, whose groups are symmetric, rows are summed one by one.
func MarginsAlone(dst, x, theta []float64) {
	d := len(theta)
	if d == 0 {
		clear(dst)
		return
	}
	_ = x[:len(dst)*d]
	if !fast {
		for i := range dst {
			dst[i] = dot(x[i*d:(i+1)*d], theta)
		}
		return
	}
	whole := len(dst) &^ 3
	if whole > 0 {
		dots4(&dst[0], &x[0], &theta[0], whole/4, d)
	}
	if rest := len(dst) - whole; rest > 0 {
		group := make([]float64, 4*d)
		copy(group, x[whole*d:len(dst)*d])
		var last [4]float64
		dots4(&last[0], &group[0], &theta[0], 1, d)
		copy(dst[whole:], last[:rest])
	}
}

// dot returns xᵀθ in an order that depends on the length alone.
func dot(x, theta []float64) float64 {
	theta = theta[:len(x)]
	var a, b, c, d float64 // four chains hide the latency of the addition
	for ; len(x) >= 4; x, theta = x[4:], theta[4:] {
		a += x[0] * theta[0]
		b += x[1] * theta[1]
		c += x[2] * theta[2]
		d += x[3] * theta[3]
	}
	for j, v := range x {
		a += v * theta[j]
	}
	return (a + b) + (c + d)
}
