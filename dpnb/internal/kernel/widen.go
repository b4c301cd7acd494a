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
