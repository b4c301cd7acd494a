// Package noise draws the random numbers of mechanisms and of simulations.
//
// There are two sources, of different types. Secure draws from the operating system's cryptographic generator and is
// for releases. Seeded is reproducible and is for simulation: whoever knows the seed can subtract the noise, so that
// what is released with it protects nobody.
package noise

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpnb/notebooks/dpnb/internal/entropy"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
)

// Source is where random bits come from. *Secure is the one for releases; every other type, of whatever package and
// whatever it embeds, is a simulation (Simulated).
type Source interface {
	// Uint64 returns 64 independent fair bits.
	Uint64() uint64
	// Seed returns the seed of a simulation; ok is false for a secure source.
	Seed() (seed uint64, ok bool)
}

// Simulated reports whether draws from src give no privacy, because somebody could know them: true for whatever is not
// a *Secure. It goes by the concrete type, so that no other type can claim to be secure.
func Simulated(src Source) bool {
	s, ok := src.(*Secure)
	return !ok || s == nil
}

// Exact returns a sampler of exact laws over src, for one run of a mechanism. Over a *Secure it has a buffer of its
// own, filled when it is first needed: what one run has not used, no other run can repeat, not even in a copy of the
// process. Over one of a key (OfKey) it has a stream of its own, by the number of those before.
func Exact(src Source) *exact.Sampler {
	switch s := src.(type) {
	case *Seeded:
		return exact.New(s.bits)
	case *Secure:
		if s != nil {
			return exact.New(s.bits())
		}
	}
	return exact.New(src)
}

// Secure is the source for releases: the operating system's cryptographic generator. It has no seed and cannot be
// replayed, unless its key is kept (OfKey). It is safe for concurrent use. The zero value is ready, has no state, and
// copies of it share nothing.
type Secure struct {
	// keyed is nil for the system's generator.
	keyed *keyed
}

// OrSecure returns src, or the secure source if there is none.
func OrSecure(src Source) Source {
	if s, ok := src.(*Secure); src == nil || ok && s == nil {
		return NewSecure()
	}
	return src
}

// NewSecure returns a source over the operating system's cryptographic generator.
func NewSecure() *Secure { return &Secure{} }

// Uint64 returns 64 bits of the operating system's generator. That ends the program rather than return with less than
// it was asked for.
func (s *Secure) Uint64() uint64 {
	if s.keyed != nil {
		return s.keyed.Uint64()
	}
	var b [8]byte
	entropy.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Seed returns false: a secure source has no seed.
func (*Secure) Seed() (uint64, bool) { return 0, false }

// bits returns what one run draws from.
func (s *Secure) bits() exact.Bits {
	if s.keyed != nil {
		return s.keyed.next()
	}
	return &buffer{}
}

// buffer reads the operating system's generator 4 KiB at a time. It is not safe for concurrent use.
type buffer struct {
	bytes [4096]byte
	left  int
}

// Uint64 returns 64 bits, which it forgets.
func (b *buffer) Uint64() uint64 {
	if b.left == 0 {
		entropy.Read(b.bytes[:])
		b.left = len(b.bytes)
	}
	word := b.bytes[b.left-8 : b.left]
	b.left -= 8
	v := binary.LittleEndian.Uint64(word)
	clear(word)
	return v
}

// Origin says where the noise of a result came from. The zero value is of unknown origin, and counts as a simulation.
type Origin struct {
	known, simulated, seeded bool
	seed                     uint64
}

// OriginOf returns the origin of a result whose noise was drawn from src.
func OriginOf(src Source) Origin {
	seed, ok := src.Seed()
	return Origin{known: true, simulated: Simulated(src), seeded: ok, seed: seed}
}

// Simulated reports whether the noise could be known to somebody, so that the result protects nobody.
func (o Origin) Simulated() bool { return !o.known || o.simulated }

// Seed returns the seed that the noise came from; ok is false if there was none.
func (o Origin) Seed() (seed uint64, ok bool) { return o.seed, o.seeded }

// Warning returns what must be printed wherever the result is, or "".
func (o Origin) Warning() string {
	switch {
	case !o.known:
		return "NOISE OF UNKNOWN ORIGIN: this result was not made by a run of a mechanism, and protects nobody."
	case !o.simulated:
		return ""
	case !o.seeded:
		return "SIMULATION: the noise did not come from a secure source, so this release protects nobody."
	}
	return fmt.Sprintf("SIMULATION with seed %d: the noise can be reproduced and subtracted, so this release protects "+
		"nobody.", o.seed)
}

// Seeded is the reproducible source for simulations. Create it with NewSeeded.
type Seeded struct {
	*rand.Rand
	bits   rand.Source // of Rand
	seed   uint64
	stream []uint64
}

// NewSeeded returns the source of the given seed. The same seed gives the same numbers on every machine. In a notebook
// the seed is told to its report.
func NewSeeded(seed uint64) *Seeded {
	runlog.Seeded(seed)
	return newStream(seed, nil)
}

// Stream returns the i-th stream that is derived from s: a source of its own, independent of s and of its other
// streams, and the same whatever was drawn from s before. Give stream i to task i and the result does not depend on the
// number of workers.
func (s *Seeded) Stream(i int) *Seeded {
	path := append(append([]uint64(nil), s.stream...), uint64(i)+1)
	return newStream(s.seed, path)
}

func newStream(seed uint64, path []uint64) *Seeded {
	// The key of ChaCha8 is the seed and a hash of the path, mixed by SplitMix64 so that neighbouring seeds and indices
	// share nothing.
	h := [4]uint64{mix(seed), mix(seed ^ 0x6a09e667f3bcc908), mix(^seed), mix(seed + uint64(len(path)))}
	for depth, p := range path {
		for j := range h {
			h[j] = mix(h[j] ^ mix(p+uint64(4*depth+j)*0x9e3779b97f4a7c15))
		}
	}
	var key [32]byte
	for j, v := range h {
		binary.LittleEndian.PutUint64(key[8*j:], v)
	}
	bits := rand.NewChaCha8(key)
	return &Seeded{Rand: rand.New(bits), bits: bits, seed: seed, stream: path}
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Gaussian fills dst with independent N(0, sigma²) variates, as near as float64 arithmetic comes to that: for simulated
// data. What is released is drawn by Exact. It panics if sigma is negative or not finite.
func (s *Seeded) Gaussian(dst []float64, sigma float64) {
	checkSigma(sigma)
	for i := range dst {
		dst[i] = sigma * s.NormFloat64()
	}
}

// Seed returns the seed that s was made from.
func (s *Seeded) Seed() (uint64, bool) { return s.seed, true }

func checkSigma(sigma float64) {
	if !(sigma >= 0) || math.IsInf(sigma, 1) {
		panic("noise: sigma must be finite and not negative")
	}
}
