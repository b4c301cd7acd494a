package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// byteSize is a pflag.Value: 1GiB, 500MB.
type byteSize int64

var _ pflag.Value = (*byteSize)(nil)

var sizes = []struct {
	unit  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"TB", 1e12}, {"B", 1}}

func (b *byteSize) add(f *pflag.FlagSet) {
	f.Var(b, "memory", "`size` that the program may take, as 1GiB (default GOMEMLIMIT)")
}

func (b *byteSize) Type() string { return "size" }

func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	return fmt.Sprintf("%dB", int64(*b))
}

// leastMemory is what the program takes at any rate.
const leastMemory = 64 << 20

func (b *byteSize) Set(text string) error {
	for _, s := range sizes {
		number, ok := strings.CutSuffix(text, s.unit)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if bytes := v * float64(s.bytes); err == nil && bytes >= leastMemory && bytes < 1<<62 {
			*b = byteSize(bytes)
			return nil
		}
		break
	}
	return errors.New("give it a size of 64MiB or more, as 500MB or 1GiB")
}

// rowsOfChunk returns how many rows of so many columns are read at a time: a chunk and what is made of it take a small
// part of the memory. 0 leaves it to the reader.
func (b byteSize) rowsOfChunk(columns int) int {
	if b == 0 {
		return 0
	}
	const perCell = 64 // a text, its bytes, and the same once more while the next is read
	return int(min(1<<16, max(256, int64(b)/8/perCell/int64(max(1, columns)))))
}
