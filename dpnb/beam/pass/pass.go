// Package pass has the passes of a solver made on workers: an erm.Source whose sums over the records are a pipeline of
// Apache Beam. The records are in files that every worker reads under the same name; what travels are queries and sums.
package pass

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/remote"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// part is a file of stored records with what the driver found in it. It has its checksums in itself.
type part struct {
	File, Key         string
	Records, Features int
}

// shard is a stretch of all records, of some whole chunks.
type shard struct {
	// Lo and Hi are chunks, each of Per records.
	Lo, Hi, Per int
	// Records is the number of all.
	Records int
	// Parts are the files in which the chunks lie, of which the first begins with record First.
	Parts []part
	First int
}

// Records are those of some files, added up over by the workers of a session: an erm.Source.
type Records struct {
	// Rows are those of the file, for what looks at single records where the driver is. With several files there is
	// none.
	matrix.Rows
	ctx    context.Context
	on     *runner.Session
	dir    string
	id     string
	files  []*stored.Rows
	shards []shard
	chunks int
	labels []float64
	// Made and Found count passes that workers made, and those whose sums were in the folder.
	Made, Found int
	// dealt, for tests, is how shards are dealt to workers otherwise.
	dealt func(s []shard, worker, workers int) []shard
}

// chunkRows is how many of n records are added up in float64 before their sum goes into an exact one. It depends on n
// alone, wherever a file ends, and so do all sums.
func chunkRows(n int) int { return max(2048, (n+1023)/1024) }

// Open returns the records of some files, of which the workers of a session see the same under the same names, and a
// folder likewise: the sums of a pass are exchanged there, and kept as checkpoints. A program that was ended and asks
// the same again finds them there. What is in the folder is as private as the records.
//
// The sums are those of one file of the same records in the order of the files, to the last bit.
//
// Errors: a file that is not there, cut short, damaged, of another key or another width; no folder.
func Open(ctx context.Context, on *runner.Session, dir string, files ...stored.File) (*Records, error) {
	r := &Records{ctx: ctx, on: on, dir: dir}
	if len(files) == 0 {
		return nil, errors.New("there is no file of records")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	hash := sha256.New()
	width, records := 0, 0
	var parts []part
	for _, f := range files {
		if f.Key == [32]byte{} {
			return nil, errors.Join(fmt.Errorf("%s is without a key of its content, by which old sums are known from "+
				"those of these records", f.Path), r.Close())
		}
		rows, err := openFile(f.Path, f.Key)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.files = append(r.files, rows)
		n, d := rows.Dims()
		if len(r.files) > 1 && d != width {
			return nil, errors.Join(fmt.Errorf("the records of %s have %d features, those of %s %d", f.Path, d,
				files[0].Path, width), r.Close())
		}
		width, records = d, records+n
		fmt.Fprintf(hash, "%s %x %d %d\n", f.Path, f.Key, n, d)
		parts = append(parts, part{f.Path, hex.EncodeToString(f.Key[:]), n, d})
	}
	per := chunkRows(records)
	r.chunks = (records + per - 1) / per
	// A shard is what a worker takes at a time: several for each, so that one that is slow takes fewer where the runner
	// deals them out.
	step := max(1, r.chunks/16)
	for lo := 0; lo < r.chunks; lo += step {
		r.shards = append(r.shards, shardOf(parts, records, per, lo, min(lo+step, r.chunks)))
	}
	r.id = hex.EncodeToString(hash.Sum(nil))
	r.Rows = matrix.Elsewhere{N: records, D: width}
	if len(files) == 1 {
		r.Rows, r.labels = r.files[0], r.files[0].Labels()
	}
	return r, nil
}

// shardOf returns the chunks lo to hi − 1 of so many records, with the files in which they lie.
func shardOf(parts []part, records, per, lo, hi int) shard {
	s := shard{Lo: lo, Hi: hi, Per: per, Records: records}
	at := 0
	for _, p := range parts {
		if at+p.Records <= lo*per {
			s.First = at + p.Records
		} else if at < hi*per && p.Records > 0 {
			s.Parts = append(s.Parts, p)
		}
		at += p.Records
	}
	return s
}

func openFile(path string, key [32]byte) (*stored.Rows, error) {
	rows, err := stored.Open(path, key)
	if err != nil {
		return nil, fmt.Errorf("the shard %s is not there, cut short, damaged, or of another table or schema: %w", path,
			err)
	}
	return rows, nil
}

// Labels returns the labels of the records of a single file, which the caller does not change.
func (r *Records) Labels() []float64 { return r.labels }

// Close closes the files.
func (r *Records) Close() error {
	var err error
	for _, f := range r.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// Sample implements erm.Source.
func (r *Records) Sample(places []int) (matrix.Rows, []float64, error) {
	_, d := r.Dims()
	some, labels := matrix.NewDense(len(places), d, nil), make([]float64, len(places))
	var err error
	func() {
		defer matrix.Reading(&err)()
		at, before := 0, 0
		for k, i := range places {
			n, _ := r.files[at].Dims()
			for i-before >= n {
				before += n
				at++
				n, _ = r.files[at].Dims()
			}
			r.files[at].Row(some.Data[k*d:(k+1)*d], i-before)
			labels[k] = r.files[at].Labels()[i-before]
		}
	}()
	return some, labels, err
}

// Pass implements erm.Source: the sums are those of the folder, if they are there, or made by the workers. They do not
// depend on how many these are, nor on what was tried in vain.
//
// Errors: what the runner failed of, after its attempts; a chunk that was lost or counted twice.
func (r *Records) Pass(q *erm.Query) (*erm.Sums, error) {
	text, err := remote.Encode(q)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(append([]byte(r.id), text...))
	name := filepath.Join(r.dir, "pass-"+hex.EncodeToString(hash[:12]))
	precise := q.Kind == erm.Precise
	if all := read(name + ".sums"); all != nil && r.missing(all) == 0 {
		r.Found++
		return all.sums(precise), nil
	}
	if r.chunks == 0 { // no records at all
		length := len(q.At)
		if q.Kind == erm.Hessian {
			length *= length
		}
		return &erm.Sums{Vector: make([]float64, length), Low: make([]float64, length), Depth: 1}, nil
	}
	parts := make([]string, r.on.Workers())
	err = r.on.Run(r.ctx, "dpnb pass", func(scope beam.Scope, worker int) {
		parts[worker] = fmt.Sprintf("%s.%d", name, worker)
		mine := r.deal(worker)
		if len(mine) == 0 {
			beam.Impulse(scope)
			return
		}
		shards := beam.Reshuffle(scope, beam.CreateList(scope, mine))
		sums := beam.Combine(scope, &adder{Query: text, Chunks: r.chunks}, shards)
		beam.ParDo0(scope, &writer{parts[worker]}, sums)
	})
	if err != nil {
		return nil, err
	}
	all := newPartial(r.chunks)
	for k, path := range parts {
		if len(r.deal(k)) == 0 {
			continue
		}
		part := read(path)
		if part == nil {
			return nil, fmt.Errorf("worker %d has left no sums at %s: does it see the same folder?", k, path)
		}
		if err := all.merge(part); err != nil {
			return nil, err
		}
	}
	if n := r.missing(all); n > 0 {
		return nil, fmt.Errorf("%d of %d chunks of records were lost: the runner has dropped a bundle", n, r.chunks)
	}
	b, err := all.MarshalBinary()
	if err == nil {
		err = atomicfile.WritePrivately(name+".sums", b)
	}
	if err != nil {
		return nil, err
	}
	for _, path := range parts {
		_ = os.Remove(path) // what stays is overwritten
	}
	r.Made++
	return all.sums(precise), nil
}

// deal returns the shards of a worker.
func (r *Records) deal(worker int) (mine []shard) {
	if r.dealt != nil {
		return r.dealt(r.shards, worker, r.on.Workers())
	}
	for k := worker; k < len(r.shards); k += r.on.Workers() {
		mine = append(mine, r.shards[k])
	}
	return mine
}

// missing counts the chunks that are not in the sums.
func (r *Records) missing(all *partial) (n int) {
	if len(all.chunks) != (r.chunks+7)/8 {
		return r.chunks
	}
	for k := range r.chunks {
		if !all.has(k) {
			n++
		}
	}
	return n
}

// read returns the sums in a file, nil if there are none.
func read(path string) *partial {
	b, err := os.ReadFile(path)
	p := &partial{}
	if err != nil || p.UnmarshalBinary(b) != nil {
		return nil
	}
	return p
}

// writer writes the sums of a worker. It may run twice, and writes the same then.
type writer struct{ Path string }

// ProcessElement writes p.
func (w *writer) ProcessElement(p *partial) error {
	b, err := p.MarshalBinary()
	if err != nil {
		return err
	}
	if err := atomicfile.WritePrivately(w.Path, b); err != nil {
		return err
	}
	return sabotage("written", w.Path)
}

// sabotage, for tests, has a worker fail, wait or die.
var sabotage = func(at, what string) error { return nil }

// adder is the CombineFn of a pass. Beam commits the output of a bundle once, whatever failed before; the accumulators
// know their chunks, so that a runner that does not is found out.
type adder struct {
	Query  []byte
	Chunks int
}

// CreateAccumulator returns the sum over no records.
func (a *adder) CreateAccumulator() *partial { return newPartial(a.Chunks) }

// AddInput adds the sums over a shard.
func (a *adder) AddInput(p *partial, s shard) (*partial, error) {
	q, err := remote.Decode(a.Query)
	if err != nil {
		return nil, err
	}
	var files []*stored.Rows
	for _, part := range s.Parts {
		if err := sabotage("shard", part.File); err != nil {
			return nil, err
		}
		rows, err := opened(part)
		if err != nil {
			return nil, err
		}
		files = append(files, rows)
	}
	hands := parallel.Workers(s.Hi-s.Lo, 0)
	parts, of, sums := make([]*erm.Part, hands), make([]matrix.Rows, hands), make([]erm.Sums, hands)
	var mu sync.Mutex
	err = parallel.For(context.Background(), s.Hi-s.Lo, hands, func(w, k int) (err error) {
		defer matrix.Reading(&err)()
		k += s.Lo
		lo, hi := k*s.Per-s.First, min((k+1)*s.Per, s.Records)-s.First
		rows, labels, plus := stored.Within(files, lo, hi)
		if of[w] != rows {
			if parts[w], err = erm.NewPart(rows, labels, q.Loss); err != nil {
				return err
			}
			of[w] = rows
		}
		parts[w].Add(&sums[w], q, lo+plus, hi+plus)
		mu.Lock()
		defer mu.Unlock()
		return p.add(k, &sums[w])
	})
	return p, err
}

// MergeAccumulators adds.
func (a *adder) MergeAccumulators(p, q *partial) (*partial, error) { return p, p.merge(q) }

// files has the files that this process has read to the end once, and found whole.
var files sync.Map

// opened returns the records of a file.
func opened(s part) (*stored.Rows, error) {
	info, err := os.Stat(s.File)
	if err != nil {
		return nil, fmt.Errorf("the shard %s is not there: %w", s.File, err)
	}
	same := fmt.Sprint(s.File, s.Key, info.Size(), info.ModTime().UnixNano())
	get, _ := files.LoadOrStore(same, sync.OnceValues(func() (*stored.Rows, error) {
		key, err := hex.DecodeString(s.Key)
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("%q is no key", s.Key)
		}
		return openFile(s.File, [32]byte(key))
	}))
	rows, err := get.(func() (*stored.Rows, error))()
	if err != nil {
		files.Delete(same) // it may be put right
		return nil, err
	}
	if n, d := rows.Dims(); n != s.Records || d != s.Features || len(rows.Labels()) != n {
		return nil, fmt.Errorf("the shard %s has %d×%d records, and the driver has seen %d×%d", s.File, n, d, s.Records,
			s.Features)
	}
	return rows, nil
}

func init() {
	register.DoFn1x1[*partial, error](&writer{})
	register.Combiner2[*partial, shard](&adder{})
	beam.RegisterType(reflect.TypeFor[shard]())
	beam.RegisterType(reflect.TypeFor[part]())
}
