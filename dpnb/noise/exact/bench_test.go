package exact

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// system draws words from the system's generator, 4 KiB at a time.
type system struct {
	buffer [4096]byte
	at     int
}

func (s *system) Uint64() uint64 {
	if s.at == 0 || s.at == len(s.buffer) {
		_, _ = crand.Read(s.buffer[:])
		s.at = 0
	}
	s.at += 8
	return binary.LittleEndian.Uint64(s.buffer[s.at-8:])
}

func BenchmarkDraws(b *testing.B) {
	for name, src := range map[string]Bits{"seeded": rand.NewChaCha8([32]byte{1}), "system": &system{}} {
		x := make([]float64, 109)
		b.Run(name+"/near", func(b *testing.B) {
			for b.Loop() {
				New(src).FillNormal(x, 1)
			}
		})
		b.Run(name+"/rounded", func(b *testing.B) {
			for b.Loop() {
				New(src).AddRounded(x, 1, 0x1p-20)
			}
		})
		b.Run(name+"/isotropic", func(b *testing.B) {
			for b.Loop() {
				New(src).IsotropicLaplace(len(x)).AddRounded(x, 1, 0x1p-20)
			}
		})
		index := make([]int, 0, 1000)
		b.Run(name+"/subset", func(b *testing.B) {
			s := New(src)
			for b.Loop() {
				index = s.Subset(index[:0], 256.0/48_842, 48_842)
			}
		})
	}
}
