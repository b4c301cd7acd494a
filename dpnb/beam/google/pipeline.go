package google

import (
	"context"
	"encoding/json"
	"math"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpnb/notebooks/dpnb/beam/tally"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
)

// work says what is read of which table: the columns of the group, if there are groups, and of the number, if one is
// asked for.
type work struct {
	Table        tally.Table
	Columns      []string
	Fields       []frame.Field
	By           bool
	Groups       int
	Lower, Upper float64
}

// parts returns in how many the table is read.
func (w work) parts() (int, error) {
	_, n, err := w.Table.Open()
	return n, err
}

// record is a record: the place of its group, −1 for none, and its number.
type record struct {
	Group int
	Value float64
}

// answer is what was released of a group in a draw.
type answer struct {
	Draw, Group int
	Numbers     []float64
}

// readPart reads a part of the table of Work.
type readPart struct{ Work string }

// ProcessElement emits the records of part k, each with a number that no other has.
func (r *readPart) ProcessElement(_ context.Context, k int, emit func(int64, record)) error {
	var w work
	if err := json.Unmarshal([]byte(r.Work), &w); err != nil {
		return err
	}
	records, parts, err := w.Table.Open()
	if err != nil {
		return err
	}
	if p, ok := records.(frame.Parted); ok {
		records = p.Part(k*p.Parts()/parts, (k+1)*p.Parts()/parts)
	}
	columns, schema := w.Columns, &frame.Schema{Fields: w.Fields}
	if records, err = schema.Prepared(records); err != nil {
		return err
	}
	values, err := frame.NewValues(schema, records.Names(), columns)
	if err != nil {
		return err
	}
	if len(columns) == 0 { // the records themselves are counted
		columns = records.Names()[:1]
	}
	id := int64(k) << 40
	return records.Scan(columns, func(chunk *frame.Table) error {
		v, err := values.Of(chunk)
		if err != nil {
			return err
		}
		for i := range chunk.Rows() {
			var r record
			if w.By {
				r.Group = int(v[0][i])
			}
			if len(v) > 0 {
				r.Value = v[len(v)-1][i]
			}
			emit(id, r)
			id++
		}
		return nil
	})
}

func groupOf(r record) int { return r.Group }

func groupAndValue(r record) (int, float64) { return r.Group, r.Value }

func answerOfCount(group int, n int64) answer {
	return answer{Group: group, Numbers: []float64{float64(n)}}
}

func answerOfNumber(group int, v float64) answer {
	return answer{Group: group, Numbers: []float64{finite(v)}}
}

func answerOfNumbers(group int, v []float64) answer { return answer{Group: group, Numbers: v} }

// number gives answers the number of their draw.
type number struct{ Draw int }

// ProcessElement returns a with the number.
func (n *number) ProcessElement(a answer) answer {
	a.Draw = n.Draw
	return a
}

// writeAll writes what was released.
type writeAll struct{ Path string }

// ProcessElement writes the answers of all groups and draws.
func (w *writeAll) ProcessElement(_ int, next func(*answer) bool) error {
	var all []answer
	for a := (answer{}); next(&a); a = (answer{}) {
		all = append(all, a)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return atomicfile.WritePrivately(w.Path, text)
}

// finite is what JSON can hold of a number that was released.
func finite(v float64) float64 { return math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, v)) }

func init() {
	register.DoFn3x1[context.Context, int, func(int64, record), error](&readPart{})
	register.Emitter2[int64, record]()
	register.DoFn1x1[answer, answer](&number{})
	register.DoFn2x1[int, func(*answer) bool, error](&writeAll{})
	register.Iter1[answer]()
	register.Function1x1(groupOf)
	register.Function1x2(groupAndValue)
	register.Function2x1(answerOfCount)
	register.Function2x1(answerOfNumber)
	register.Function2x1(answerOfNumbers)
	beam.RegisterType(reflect.TypeFor[record]())
	beam.RegisterType(reflect.TypeFor[answer]())
}
