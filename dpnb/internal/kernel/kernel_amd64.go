package kernel

import "golang.org/x/sys/cpu"

var fast = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// dots4 writes the products of 4·groups rows of x (stride d) with theta to dst.
//
//go:noescape
func dots4(dst, x, theta *float64, groups, d int)

// axpys4 adds w-weighted sums of 4·groups rows of x (stride d) to dst.
//
//go:noescape
func axpys4(dst, x, w *float64, groups, d int)

// gram4x8 adds Σ_r a[r·d+p]·b[r·d+q] over k rows to c[p·d+q], p < 4, q < 8.
//
//go:noescape
func gram4x8(c, a, b *float64, k, d int)

// expNegAbs4 writes e^{−|x|} of 4·groups numbers to dst.
//
//go:noescape
func expNegAbs4(dst, x *float64, groups int)

// widen8 writes 8·groups float32 to dst.
//
//go:noescape
func widen8(dst *float64, raw *byte, groups int)

// dotsWide4 is dots4 of rows of float32 as they lie in raw.
//
//go:noescape
func dotsWide4(dst *float64, raw *byte, theta *float64, groups, d int)

// axpysWide4 is axpys4 of rows of float32 as they lie in raw.
//
//go:noescape
func axpysWide4(dst *float64, raw *byte, w *float64, groups, d int)

// addRounded4 is AddRounded of 4·groups entries.
//
//go:noescape
func addRounded4(dst, x, w *float64, stride, by, groups int, m float64)
