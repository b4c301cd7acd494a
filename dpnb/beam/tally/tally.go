// Package tally has the records of a table added up by workers, for the questions of package explore. Each reads parts
// of files that all see under one name, and leaves what it has added up, in whole numbers, in a folder that they
// share: one file for a part, however often the part was made.
package tally

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/explore"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/mechanism/statistic"
)

func init() { register.DoFn1x1[int, error](&addPart{}) }

// Table is the files of a table, as the driver has found them, and how they are read.
type Table struct {
	Pieces  []frame.Piece
	Parquet parquet.Settings
	CSV     frame.CSVSettings
}

// mostParts bounds the number of parts, and so what is left in the folder.
const mostParts = 32

// Open returns the records, and in how many parts they are added up: groups of rows of a Parquet file, of which there
// are as many as its writer made, and others as a whole.
func (t Table) Open() (records frame.Scanner, parts int, err error) {
	records, err = frame.Opened(t.Pieces, func(path string) (frame.Scanner, error) {
		return parquet.OpenAny(path, &t.Parquet, &t.CSV)
	})
	if err != nil {
		return nil, 0, err
	}
	if p, ok := records.(frame.Parted); ok {
		return records, min(mostParts, max(1, p.Parts())), nil
	}
	return records, 1, nil
}

// Run has the records added up and returns the files with what was added up of each part, for statistic.MergeTally: all
// there, or an error. Files that are there from a run that was ended are taken as they are.
//
// Errors: as explore.Adding.Tally; what the runner failed of, after its attempts.
func Run(ctx context.Context, on *runner.Session, t Table, a explore.Adding, dir string) ([]string, error) {
	_, parts, err := t.Open()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	request, err := json.Marshal(work{frame.StepsOfCode, t, a, parts})
	if err != nil {
		return nil, err
	}
	add := &addPart{string(request), dir}
	var paths []string
	var missing []int
	for k := range parts {
		paths = append(paths, add.path(k))
		if whole(paths[k]) != nil {
			missing = append(missing, k)
		}
	}
	if len(missing) == 0 {
		return paths, nil
	}
	err = on.Run(ctx, "dpnb tally", func(scope beam.Scope, worker int) {
		var mine []int
		for k := worker; k < len(missing); k += on.Workers() {
			mine = append(mine, missing[k])
		}
		if len(mine) > 0 {
			beam.ParDo0(scope, add, beam.Reshuffle(scope, beam.CreateList(scope, mine)))
		} else {
			beam.Impulse(scope)
		}
	})
	if err != nil {
		return nil, err
	}
	for k, path := range paths {
		if err := whole(path); err != nil {
			return nil, fmt.Errorf("part %d of %d was lost: do all workers see the folder %s? %w", k, parts, dir, err)
		}
	}
	return paths, nil
}

// work is what workers are told. Steps is the code's version, for parts by another may be of other records. Parts is
// how many there are: none is taken for one of a run that cut otherwise.
type work struct {
	Steps  string
	Table  Table
	Adding explore.Adding
	Parts  int
}

// addPart adds up a part of what Request says, and writes that to Dir. It may run twice, and writes the same then.
type addPart struct{ Request, Dir string }

// path returns the file of part k.
func (a *addPart) path(k int) string {
	sum := sha256.Sum256([]byte(a.Request))
	return filepath.Join(a.Dir, fmt.Sprintf("pass-%s.%d.part", hex.EncodeToString(sum[:12]), k))
}

// opened is a request with its records.
type opened struct {
	adding  explore.Adding
	records frame.Scanner
	parts   int
}

// requests has those that this process was told: a file is read for its checksum once.
var requests sync.Map

func (a *addPart) opened() (opened, error) {
	get, _ := requests.LoadOrStore(a.Request, sync.OnceValues(func() (o opened, err error) {
		var w work
		if err := json.Unmarshal([]byte(a.Request), &w); err != nil {
			return o, err
		}
		if err := frame.SameSteps(w.Steps); err != nil {
			return o, err
		}
		o.adding = w.Adding
		o.records, o.parts, err = w.Table.Open()
		return o, err
	}))
	o, err := get.(func() (opened, error))()
	if err != nil {
		requests.Delete(a.Request) // it may be put right
	}
	return o, err
}

// ProcessElement adds up part k.
func (a *addPart) ProcessElement(k int) error {
	if err := sabotage(k); err != nil {
		return err
	}
	o, err := a.opened()
	if err != nil {
		return err
	}
	records := o.records
	if p, ok := records.(frame.Parted); ok {
		n := p.Parts()
		records = p.Part(k*n/o.parts, (k+1)*n/o.parts)
	}
	b, err := o.adding.Tally(records)
	if err != nil {
		return err
	}
	return atomicfile.WritePrivately(a.path(k), b)
}

// whole returns an error if what was added up of a part is not there in full.
func whole(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return statistic.CheckTally(b)
}

// sabotage, for tests, has a worker fail or die.
var sabotage = func(part int) error { return nil }
