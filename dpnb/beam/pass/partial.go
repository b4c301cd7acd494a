package pass

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/exactsum"
)

// partial is the sum over some chunks of records: exact, so that it is a function of the chunks and of the query alone,
// and with the names of the chunks, so that none is lost or counted twice without being noticed. It is not private, and
// stays where the records are.
type partial struct {
	// chunks has a bit for each chunk of all records.
	chunks []byte
	// sum is of Vector + Low, Value and Slopes.
	sum *exactsum.Vector
	// maxNorm, depth are the largest, wrong is the sum, of the parts'.
	maxNorm, depth float64
	wrong          uint64
}

// errTwice says that a runner has handed on the result of a bundle twice.
var errTwice = errors.New("a chunk of records was counted twice: the runner has handed on a bundle's result a second " +
	"time, and nothing can be computed of it")

func newPartial(chunks int) *partial { return &partial{chunks: make([]byte, (chunks+7)/8)} }

func (p *partial) has(chunk int) bool { return p.chunks[chunk/8]>>(chunk%8)&1 == 1 }

// add adds the sums of a chunk.
func (p *partial) add(chunk int, s *erm.Sums) error {
	if p.has(chunk) {
		return errTwice
	}
	p.chunks[chunk/8] |= 1 << (chunk % 8)
	if p.sum == nil {
		p.sum = exactsum.New(len(s.Vector) + 2)
	}
	row := make([]float64, 0, len(s.Vector)+2)
	row = append(append(row, s.Vector...), s.Value, s.Slopes)
	p.sum.Add(row)
	if len(s.Low) > 0 {
		p.sum.Add(append(append(row[:0], s.Low...), 0, 0))
	}
	p.maxNorm, p.depth = math.Max(p.maxNorm, s.MaxNorm), math.Max(p.depth, s.Depth)
	p.wrong += uint64(s.Wrong)
	return nil
}

// merge adds q.
func (p *partial) merge(q *partial) error {
	if len(p.chunks) != len(q.chunks) || p.sum != nil && q.sum != nil && p.sum.Len() != q.sum.Len() {
		return errors.New("the sums of another query")
	}
	for k, b := range q.chunks {
		if p.chunks[k]&b != 0 {
			return errTwice
		}
		p.chunks[k] |= b
	}
	switch {
	case q.sum == nil:
	case p.sum == nil:
		p.sum = q.sum.Clone()
	default:
		p.sum.Merge(q.sum)
	}
	p.maxNorm, p.depth = math.Max(p.maxNorm, q.maxNorm), math.Max(p.depth, q.depth)
	p.wrong += q.wrong
	return nil
}

// sums rounds the sums, once. precise asks for what the rounding left.
func (p *partial) sums(precise bool) *erm.Sums {
	all := make([]float64, p.sum.Len())
	p.sum.Sum(all)
	d := len(all) - 2
	s := &erm.Sums{Vector: all[:d], Value: all[d], Slopes: all[d+1], MaxNorm: p.maxNorm, Wrong: int(p.wrong),
		Depth: p.depth + 2}
	if precise {
		rest, minus := p.sum.Clone(), make([]float64, d+2)
		for j, v := range s.Vector {
			minus[j] = -v
		}
		rest.Add(minus)
		s.Low = make([]float64, d+2)
		rest.Sum(s.Low)
		s.Low = s.Low[:d]
	}
	return s
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalBinary implements encoding.BinaryMarshaler: the same bytes for equal sums of the same chunks, with a checksum.
func (p *partial) MarshalBinary() ([]byte, error) {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(p.chunks)))
	b = append(b, p.chunks...)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.maxNorm))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.depth))
	b = binary.LittleEndian.AppendUint64(b, p.wrong)
	var err error
	if p.sum != nil {
		if b, err = p.sum.AppendBinary(b); err != nil {
			return nil, err
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

var errDamaged = errors.New("not the sums of a pass, or damaged")

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (p *partial) UnmarshalBinary(b []byte) error {
	if len(b) < 8 || crc32.Checksum(b[:len(b)-4], castagnoli) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return errDamaged
	}
	n := int(binary.LittleEndian.Uint32(b))
	if b = b[4 : len(b)-4]; n > len(b)-24 {
		return errDamaged
	}
	q := partial{chunks: append([]byte(nil), b[:n]...)}
	number := func(k int) uint64 { return binary.LittleEndian.Uint64(b[n+8*k:]) }
	q.maxNorm, q.depth, q.wrong = math.Float64frombits(number(0)), math.Float64frombits(number(1)), number(2)
	if b = b[n+24:]; len(b) > 0 {
		q.sum = &exactsum.Vector{}
		if err := q.sum.UnmarshalBinary(b); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	*p = q
	return nil
}

func init() {
	beam.RegisterCoder(reflect.TypeFor[*partial](), (*partial).MarshalBinary,
		func(b []byte) (*partial, error) {
			p := &partial{}
			return p, p.UnmarshalBinary(b)
		})
}
