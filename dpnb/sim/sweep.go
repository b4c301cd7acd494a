package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
)

// Sweep is an experiment in numbered trials, each of which gives a row of a table. A trial is a function of its number
// alone, so that it is the same on whatever machine it runs, and whatever runs beside it. A Grid is one.
type Sweep interface {
	// Columns names what a row has: texts, then numbers.
	Columns() (texts, numbers []string)
	// Len is the number of trials.
	Len() int
	// Trial runs trial k, 0 ≤ k < Len. It is called from several goroutines at once.
	Trial(ctx context.Context, k int) (Row, error)
}

// Row is what a trial gave, in the order of the columns.
type Row struct {
	Texts   []string
	Numbers []float64
}

// row is a Row as it is written: numbers with all their digits, NaN and ±Inf among them.
type row struct {
	Texts   []string `json:"texts"`
	Numbers []string `json:"numbers"`
}

// MarshalJSON implements json.Marshaler.
func (r Row) MarshalJSON() ([]byte, error) {
	w := row{Texts: r.Texts}
	for _, v := range r.Numbers {
		w.Numbers = append(w.Numbers, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return json.Marshal(w)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Row) UnmarshalJSON(b []byte) error {
	var w row
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*r = Row{Texts: w.Texts}
	for _, text := range w.Numbers {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err
		}
		r.Numbers = append(r.Numbers, v)
	}
	return nil
}

// Parts keeps the rows of a sweep in a folder, a file for each stretch of trials: whole or not there. Several processes
// and machines may fill it at once, the same part twice if it comes to that: the files would be the same. A run that
// was cut short goes on with what is missing.
type Parts struct {
	dir   string
	sweep Sweep
	id    string
}

// parts is how many stretches the trials are cut into at most.
const parts = 256

var errOther = errors.New("sim: the folder has the rows of another sweep: take a new one, or remove it")

// OpenParts returns the parts of a sweep in a folder, which is made if need be. name says which sweep it is, its
// parameters included.
//
// Errors: the folder has another sweep's; those of the file system.
func OpenParts(dir, name string, s Sweep) (*Parts, error) {
	texts, numbers := s.Columns()
	about, err := json.Marshal(struct {
		Sweep          string
		Trials         int
		Texts, Numbers []string
	}{name, s.Len(), texts, numbers})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "sweep.json")
	switch there, err := os.ReadFile(path); {
	case errors.Is(err, os.ErrNotExist):
		if err := atomicfile.Write(path, about); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case string(there) != string(about):
		return nil, fmt.Errorf("%w (%s)", errOther, dir)
	}
	id := sha256.Sum256(about)
	return &Parts{dir, s, hex.EncodeToString(id[:8])}, nil
}

// Len is the number of parts, by the number of trials alone.
func (p *Parts) Len() int { return min(parts, p.sweep.Len()) }

func (p *Parts) bounds(part int) (lo, hi int) {
	n := p.sweep.Len()
	return part * n / p.Len(), (part + 1) * n / p.Len()
}

func (p *Parts) path(part int) string {
	return filepath.Join(p.dir, fmt.Sprintf("part-%s-%04d.json", p.id, part))
}

// part is the content of a file.
type part struct {
	SHA256 string          `json:"sha256"` // of Rows
	Rows   json.RawMessage `json:"rows"`
}

func checksum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// read returns the rows of a part, nil if it is not there or damaged.
func (p *Parts) read(k int) []Row {
	var (
		file part
		rows []Row
	)
	b, err := os.ReadFile(p.path(k))
	if err != nil || json.Unmarshal(b, &file) != nil || checksum(file.Rows) != file.SHA256 ||
		json.Unmarshal(file.Rows, &rows) != nil {
		return nil
	}
	if lo, hi := p.bounds(k); len(rows) != hi-lo {
		return nil
	}
	return rows
}

// Missing returns the parts that are still to be made.
func (p *Parts) Missing() (missing []int) {
	for k := range p.Len() {
		if p.read(k) == nil {
			missing = append(missing, k)
		}
	}
	return missing
}

// Done is the number of parts that are there by name: for progress.
func (p *Parts) Done() int {
	names, err := filepath.Glob(filepath.Join(p.dir, "part-"+p.id+"-*.json"))
	if err != nil {
		return 0
	}
	return len(names)
}

// Make runs the trials of a part and writes their rows, unless they are there.
//
// Errors: that of the first trial that failed; those of the file system.
func (p *Parts) Make(ctx context.Context, k int) error {
	if p.read(k) != nil {
		return nil
	}
	lo, hi := p.bounds(k)
	rows := make([]Row, 0, hi-lo)
	for i := lo; i < hi; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := p.sweep.Trial(ctx, i)
		if err != nil {
			return fmt.Errorf("trial %d: %w", i, err)
		}
		rows = append(rows, r)
	}
	b, err := json.Marshal(rows)
	if err == nil {
		b, err = json.Marshal(part{checksum(b), b})
	}
	if err != nil {
		return err
	}
	return atomicfile.Write(p.path(k), b)
}

// Run makes what is missing on so many goroutines, zero meaning one for each processor. progress, if not nil, is told
// how many parts there are of how many; never twice at once.
//
// Errors: as Make's; what was made stays.
func (p *Parts) Run(ctx context.Context, workers int, progress func(done, total int)) error {
	missing := p.Missing()
	done := p.Len() - len(missing)
	var mu sync.Mutex
	return parallel.For(ctx, len(missing), workers, func(_, i int) error {
		err := p.Make(ctx, missing[i])
		if err == nil && progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done, p.Len())
		}
		return err
	})
}

// Remove removes the parts, and the folder if nothing else is there.
func (p *Parts) Remove() error {
	files, err := os.ReadDir(p.dir)
	for _, f := range files {
		name, part := strings.CutPrefix(f.Name(), ".dpnb-part-") // left by a program that was killed
		if name == "sweep.json" || part && strings.HasPrefix(name, "sweep.json-") ||
			strings.HasPrefix(name, "part-"+p.id+"-") {
			err = errors.Join(err, os.Remove(filepath.Join(p.dir, f.Name())))
		}
	}
	_ = os.Remove(p.dir) // an error if it is not empty
	return err
}

// Rows returns the rows of all trials in their order.
//
// Errors: parts that are not there.
func (p *Parts) Rows() ([]Row, error) {
	all := make([]Row, 0, p.sweep.Len())
	for k := range p.Len() {
		rows := p.read(k)
		if rows == nil {
			lo, hi := p.bounds(k)
			return nil, fmt.Errorf("sim: trials %d to %d are not in %s: run the sweep again, it goes on with what is "+
				"missing", lo, hi-1, p.dir)
		}
		all = append(all, rows...)
	}
	return all, nil
}
