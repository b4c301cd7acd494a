// Package exactsum adds float64 vectors without rounding: a sum is a function of what was added and of nothing else, to
// the last bit, whatever the order, the grouping and the merging of parts.
package exactsum

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// A coordinate is a fixed-point number, Σₖ limbₖ·2^(32k−1074), of which a float64 is a multiple of 2⁻¹⁰⁷⁴ below 2¹⁰²⁴:
// 66 limbs of 32 bits, and two more for what sums grow by.
const (
	limbs    = 68
	lowest   = -1074
	maxTerms = 1 << 30 // a limb takes at most 2³² of each term, so that 2³⁰ of them stay below 2⁶³
)

// Vector is a sum of vectors of float64. The zero value has no coordinates.
type Vector struct {
	limb []int64 // coordinate after coordinate
	// special has, for each coordinate, what of NaN, +Inf and −Inf was added.
	special []uint8
	// terms were added since the limbs were last normalised.
	terms int
}

const (
	nan uint8 = 1 << iota
	plus
	minus
)

// New returns the sum of no vectors of n coordinates.
func New(n int) *Vector { return &Vector{limb: make([]int64, limbs*n), special: make([]uint8, n)} }

// Len returns the number of coordinates.
func (v *Vector) Len() int { return len(v.special) }

// Add adds x, of Len coordinates: at most 2⁶³ vectors in all.
func (v *Vector) Add(x []float64) {
	if len(x) != v.Len() {
		panic("exactsum: a vector of another length")
	}
	v.room(1)
	for j, f := range x {
		v.add(j, f)
	}
}

// room makes sure that terms more fit into the limbs.
func (v *Vector) room(terms int) {
	if v.terms+terms > maxTerms {
		v.normalise()
	}
	v.terms += terms
}

func (v *Vector) add(j int, f float64) {
	b := math.Float64bits(f)
	mantissa, exponent := b&(1<<52-1), int(b>>52&0x7ff)
	switch {
	case exponent == 0x7ff && mantissa != 0:
		v.special[j] |= nan
		return
	case exponent == 0x7ff && f > 0:
		v.special[j] |= plus
		return
	case exponent == 0x7ff:
		v.special[j] |= minus
		return
	case exponent > 0:
		mantissa |= 1 << 52
		exponent--
	}
	at := v.limb[limbs*j+exponent/32:]
	high, low := bits.Mul64(mantissa, 1<<(exponent%32))
	if b>>63 == 0 {
		at[0] += int64(low & (1<<32 - 1))
		at[1] += int64(low >> 32)
		at[2] += int64(high)
	} else {
		at[0] -= int64(low & (1<<32 - 1))
		at[1] -= int64(low >> 32)
		at[2] -= int64(high)
	}
}

// normalise brings every limb but the last of a coordinate into [0, 2³²): a form that a number has only one of. The
// last has the sign.
func (v *Vector) normalise() {
	for j := range v.special {
		var carry int64
		number := v.limb[limbs*j : limbs*(j+1)]
		for k := range number[:limbs-1] {
			s := number[k] + carry
			carry = s >> 32
			number[k] = s & (1<<32 - 1)
		}
		number[limbs-1] += carry
	}
	v.terms = 1
}

// Merge adds w, which has as many coordinates and is the same afterwards.
func (v *Vector) Merge(w *Vector) {
	if w.Len() != v.Len() {
		panic("exactsum: a sum of another length")
	}
	w.normalise()
	v.room(2)
	for i, l := range w.limb {
		v.limb[i] += l
	}
	for j, s := range w.special {
		v.special[j] |= s
	}
}

// Sum writes the float64 next to each coordinate to dst, ties to even: ±Inf where that is beyond the range, NaN and
// ±Inf as float64 adds them.
func (v *Vector) Sum(dst []float64) {
	v.normalise()
	var sum, part big.Int
	for j, s := range v.special {
		switch {
		case s&nan != 0 || s == plus|minus:
			dst[j] = math.NaN()
			continue
		case s != 0:
			dst[j] = math.Inf(int(s&plus) - int(s&minus))
			continue
		}
		sum.SetInt64(0)
		for k := limbs - 1; k >= 0; k-- {
			sum.Lsh(&sum, 32).Add(&sum, part.SetInt64(v.limb[limbs*j+k]))
		}
		if sum.Sign() == 0 {
			dst[j] = 0
			continue
		}
		exact := new(big.Float).SetInt(&sum) // takes as many bits as the number has
		dst[j], _ = exact.SetMantExp(exact, lowest).Float64()
	}
}

// AppendBinary appends a form of v that is the same for equal sums: for each coordinate what is special, the first limb
// that is not 0, the number of limbs up to the last, and these.
func (v *Vector) AppendBinary(b []byte) ([]byte, error) {
	v.normalise()
	b = binary.LittleEndian.AppendUint32(b, uint32(v.Len()))
	for j, s := range v.special {
		number := v.limb[limbs*j : limbs*(j+1)]
		lo, hi := 0, limbs
		for lo < hi && number[lo] == 0 {
			lo++
		}
		for hi > lo && number[hi-1] == 0 {
			hi--
		}
		if lo == hi {
			lo, hi = 0, 0
		}
		b = append(b, s, byte(lo), byte(hi-lo))
		for k := lo; k < hi; k++ {
			if k == limbs-1 {
				b = binary.LittleEndian.AppendUint64(b, uint64(number[k]))
			} else {
				b = binary.LittleEndian.AppendUint32(b, uint32(number[k]))
			}
		}
	}
	return b, nil
}

// MarshalBinary implements encoding.BinaryMarshaler.
func (v *Vector) MarshalBinary() ([]byte, error) { return v.AppendBinary(nil) }

var errDamaged = errors.New("exactsum: not the bytes of a sum")

// UnmarshalBinary implements encoding.BinaryUnmarshaler: it takes what AppendBinary gives and refuses other bytes.
func (v *Vector) UnmarshalBinary(b []byte) error {
	if len(b) < 4 {
		return errDamaged
	}
	n := int(binary.LittleEndian.Uint32(b))
	b = b[4:]
	if n > len(b)/3 {
		return fmt.Errorf("%w: %d coordinates in %d bytes", errDamaged, n, len(b))
	}
	w := New(n)
	w.terms = 1
	for j := range n {
		if len(b) < 3 || b[0] > nan|plus|minus || int(b[1])+int(b[2]) > limbs {
			return errDamaged
		}
		lo, hi := int(b[1]), int(b[1])+int(b[2])
		w.special[j], b = b[0], b[3:]
		for k := lo; k < hi; k++ {
			size := 4
			if k == limbs-1 {
				size = 8
			}
			if len(b) < size {
				return errDamaged
			}
			if size == 8 {
				w.limb[limbs*j+k] = int64(binary.LittleEndian.Uint64(b))
			} else {
				w.limb[limbs*j+k] = int64(binary.LittleEndian.Uint32(b))
			}
			b = b[size:]
		}
	}
	if len(b) > 0 {
		return errDamaged
	}
	*v = *w
	return nil
}

// Clone returns a sum equal to v.
func (v *Vector) Clone() *Vector {
	return &Vector{slices.Clone(v.limb), slices.Clone(v.special), v.terms}
}
