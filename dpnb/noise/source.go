// Package noise draws the random numbers of mechanisms and of simulations.
//
// There are two sources, of different types. Secure draws from the operating
// system's cryptographic generator and is for releases. Seeded is reproducible
// and is for simulation: whoever knows the seed can subtract the noise, so that
// what is released with it protects nobody.
package noise

import (
	"bufio"
	crand "crypto/rand"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"

	"github.com/dpnb/notebooks/dpnb/internal/runlog"
)

// Source draws random numbers. A Source is not safe for concurrent use: give
// each goroutine its own (Seeded.Stream).
type Source interface {
	// Gaussian fills dst with independent N(0, sigma²) variates.
	// It panics if sigma is negative or not finite.
	Gaussian(dst []float64, sigma float64)
	// Uint64 returns 64 independent fair bits: what samples and choices are made of.
	Uint64() uint64
	// Simulation reports whether the draws can be reproduced by somebody who
	// knows the seed, so that they give no privacy.
	Simulation() bool
	// Seed returns the seed of a simulation; ok is false for a secure source.
	Seed() (seed uint64, ok bool)
}

// Secure is the source for releases. Create it with NewSecure.
type Secure struct{ rng *rand.Rand }

// NewSecure returns a source over the operating system's cryptographic
// generator. It has no seed and cannot be replayed.
func NewSecure() *Secure {
	return &Secure{rand.New(&cryptoSource{bufio.NewReaderSize(crand.Reader, 4096)})}
}

// cryptoSource is a rand.Source over a cryptographic byte stream.
type cryptoSource struct{ r io.Reader }

// Uint64 panics if the system has no randomness left to give: a release must
// never go on with less.
func (s *cryptoSource) Uint64() uint64 {
	var b [8]byte
	if _, err := io.ReadFull(s.r, b[:]); err != nil {
		panic("noise: the system's random generator failed: " + err.Error())
	}
	return binary.LittleEndian.Uint64(b[:])
}

// Gaussian fills dst with independent N(0, sigma²) variates. Each is half the
// sum of four, which leaves the law as it is but makes it infeasible to find
// the state of the sampler from the last bits of its output.
//
// Source: Holohan and Braghin 2021, arXiv:2107.10138, who show the attack on
// single draws and this defence.
func (s *Secure) Gaussian(dst []float64, sigma float64) {
	checkSigma(sigma)
	for i := range dst {
		g := s.rng.NormFloat64() + s.rng.NormFloat64() + s.rng.NormFloat64() + s.rng.NormFloat64()
		dst[i] = sigma * (0.5 * g)
	}
}

// Uint64 returns 64 bits of the operating system's generator.
func (s *Secure) Uint64() uint64 { return s.rng.Uint64() }

// Simulation returns false.
func (*Secure) Simulation() bool { return false }

// Seed returns false: a secure source has no seed.
func (*Secure) Seed() (uint64, bool) { return 0, false }

// Seeded is the reproducible source for simulations. Create it with NewSeeded.
type Seeded struct {
	*rand.Rand
	seed   uint64
	stream []uint64
}

// NewSeeded returns the source of the given seed. The same seed gives the same
// numbers on every machine. In a notebook the seed is told to its report.
func NewSeeded(seed uint64) *Seeded {
	runlog.Seeded(seed)
	return newStream(seed, nil)
}

// Stream returns the i-th stream that is derived from s: a source of its own,
// independent of s and of its other streams, and the same whatever was drawn
// from s before. Give stream i to task i and the result does not depend on the
// number of workers.
func (s *Seeded) Stream(i int) *Seeded {
	path := append(append([]uint64(nil), s.stream...), uint64(i)+1)
	return newStream(s.seed, path)
}

func newStream(seed uint64, path []uint64) *Seeded {
	// The key of ChaCha8 is the seed and a hash of the path, mixed by
	// SplitMix64 so that neighbouring seeds and indices share nothing.
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
	return &Seeded{Rand: rand.New(rand.NewChaCha8(key)), seed: seed, stream: path}
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Gaussian fills dst with independent N(0, sigma²) variates.
func (s *Seeded) Gaussian(dst []float64, sigma float64) {
	checkSigma(sigma)
	for i := range dst {
		dst[i] = sigma * s.NormFloat64()
	}
}

// Simulation returns true.
func (*Seeded) Simulation() bool { return true }

// Seed returns the seed that s was made from.
func (s *Seeded) Seed() (uint64, bool) { return s.seed, true }

func checkSigma(sigma float64) {
	if !(sigma >= 0) || math.IsInf(sigma, 1) {
		panic("noise: sigma must be finite and not negative")
	}
}
