package kernel

// AddRounded adds Σ_r (float64(w_r·x_r[j]) + m) − m of four rows to dst[j], for as many of its entries as make whole
// groups of four, none without assembly, and returns their number. Row r begins at x[r·stride], its w at w[r·by]. With
// m = 1.5·2⁵²h these are the multiples of h that are nearest to the products.
func AddRounded(dst, x []float64, stride int, w []float64, by int, m float64) (entries int) {
	entries = len(dst) &^ 3
	if !fast || entries == 0 {
		return 0
	}
	_, _ = x[3*stride+entries-1], w[3*by]
	addRounded4(&dst[0], &x[0], &w[0], stride, by, entries/4, m)
	return entries
}
