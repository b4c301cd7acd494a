//go:build !amd64

package kernel

var fast = false

func dots4(dst, x, theta *float64, groups, d int)                      { panic("kernel: not reached") }
func axpys4(dst, x, w *float64, groups, d int)                         { panic("kernel: not reached") }
func gram4x8(c, a, b *float64, k, d int)                               { panic("kernel: not reached") }
func widen8(dst *float64, raw *byte, groups int)                       { panic("kernel: not reached") }
func expNegAbs4(dst, x *float64, groups int)                           { panic("kernel: not reached") }
func dotsWide4(dst *float64, raw *byte, theta *float64, groups, d int) { panic("kernel: not reached") }
func axpysWide4(dst *float64, raw *byte, w *float64, groups, d int)    { panic("kernel: not reached") }

func addRounded4(dst, x, w *float64, stride, by, groups int, m float64) { panic("kernel: not reached") }
