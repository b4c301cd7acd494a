package kernel

import (
	"encoding/binary"
	"math"
)

// Widen writes the len(dst) float32 that lie in raw, little-endian, to dst, without an error.
func Widen(dst []float64, raw []byte) {
	raw = raw[:4*len(dst)]
	k := 0
	if fast {
		if k = len(dst) &^ 7; k > 0 {
			widen8(&dst[0], &raw[0], k/8)
		}
	}
	for ; k < len(dst); k++ {
		dst[k] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*k:])))
	}
}

// MarginsWide is Margins of rows of float32 that lie in raw, little-endian, in groups of four: it takes as many rows as
// make whole groups, none without assembly, and returns their number. The bits are those of Margins of the widened
// rows, without the room for these.
func MarginsWide(dst []float64, raw []byte, theta []float64) (rows int) {
	rows = len(dst) &^ 3
	if !fast || rows == 0 || len(theta) == 0 {
		return 0
	}
	_ = raw[:4*rows*len(theta)]
	dotsWide4(&dst[0], &raw[0], &theta[0], rows/4, len(theta))
	return rows
}

// AddScaledWide is AddScaled likewise.
func AddScaledWide(dst []float64, raw []byte, w []float64) (rows int) {
	rows = len(w) &^ 3
	if !fast || rows == 0 || len(dst) == 0 {
		return 0
	}
	_ = raw[:4*rows*len(dst)]
	axpysWide4(&dst[0], &raw[0], &w[0], rows/4, len(dst))
	return rows
}
