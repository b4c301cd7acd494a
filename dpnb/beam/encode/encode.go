// Package encode has the records of a table encoded and stored by workers, where its files are: each stores shards of
// it in a folder that all see, by the public schema and encoding, every record by itself. Passes run over the shards as
// over one file.
package encode

import (
	"context"
	"encoding/json"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpnb/notebooks/dpnb/beam/runner"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/frame/parquet"
)

func init() { register.DoFn1x1[int, error](&store{}) }

// Table says which shards are stored, and how their files are read.
type Table struct {
	frame.Sharding
	Parquet parquet.Settings
	CSV     frame.CSVSettings
}

// Run has every shard stored, and returns when all are. Those that are there in full are looked at and left.
//
// Errors: as frame.Sharding.Store; what the runner failed of, after its attempts.
func Run(ctx context.Context, on *runner.Session, t Table) error {
	request, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return on.Run(ctx, "dpnb encode", func(scope beam.Scope, worker int) {
		var mine []int
		for k := worker; k < len(t.Shards); k += on.Workers() {
			mine = append(mine, k)
		}
		if len(mine) == 0 {
			beam.Impulse(scope)
			return
		}
		beam.ParDo0(scope, &store{string(request)}, beam.Reshuffle(scope, beam.CreateList(scope, mine)))
	})
}

// store stores a shard of what Request says. It may run twice, and finds what it stored then.
type store struct{ Request string }

// ProcessElement stores shard k.
func (s *store) ProcessElement(k int) error {
	if err := sabotage(k); err != nil {
		return err
	}
	var t Table
	if err := json.Unmarshal([]byte(s.Request), &t); err != nil {
		return err
	}
	return t.Store(k, func(path string) (frame.Scanner, error) { return parquet.OpenAny(path, &t.Parquet, &t.CSV) })
}

// sabotage, for tests, has a worker fail or die.
var sabotage = func(shard int) error { return nil }
