// Package remote has the passes of a solver made by another program, which it talks to through a pipe: queries go out
// as lines of JSON, sums come back. The other program has the records; noise, the ledger and the release stay with the
// solver. It may enter erm, loss and matrix.
package remote

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

var codec = loss.Codec()

// query is an erm.Query as it travels: a loss is the terms of a sum, or another Joint.
type query struct {
	Kind               int
	Terms              []loss.Loss
	Joint              loss.Joint
	At, Low, Direction []float64
	Norms              bool
}

// Encode returns q as a line of JSON, which depends on q alone and has its numbers to the last bit.
//
// Errors: a loss that cannot be written down.
func Encode(q *erm.Query) ([]byte, error) {
	w := query{int(q.Kind), nil, nil, q.At, q.Low, q.Direction, q.Norms}
	if of, ok := loss.Terms(q.Loss); ok {
		w.Terms = of
	} else {
		w.Joint = q.Loss
	}
	b, err := codec.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("the %s loss cannot be sent to another program: %w", q.Loss.Name(), err)
	}
	return b, nil
}

// Decode returns the query that Encode wrote.
//
// Errors: another text.
func Decode(text []byte) (*erm.Query, error) {
	var r query
	if err := codec.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	q := &erm.Query{Kind: erm.Kind(r.Kind), Loss: r.Joint, At: r.At, Low: r.Low, Direction: r.Direction, Norms: r.Norms}
	if q.Loss == nil {
		q.Loss = loss.Sum(r.Terms...)
	}
	return q, nil
}

// answer is what a pass came to. Of is the number of the query, from 1 on: a line that is none, or one too many, must
// not have all later queries answered with the sums of the one before.
type answer struct {
	Of    int
	Sums  *erm.Sums
	Error string
}

// Rows are stored records, added up over by another program: an erm.Source.
type Rows struct {
	stored.Records
	to    io.Writer
	from  *bufio.Reader
	asked int // queries
}

// New returns the records of files whose passes are made by a program that Serves them at the other end. What looks at
// single records reads the files.
func New(rows stored.Records, to io.Writer, from io.Reader) *Rows {
	return &Rows{rows, to, bufio.NewReaderSize(from, 1<<16), 0}
}

// Pass implements erm.Source.
//
// Errors: those of the other program; that it has ended.
func (r *Rows) Pass(q *erm.Query) (*erm.Sums, error) {
	text, err := Encode(q)
	if err != nil {
		return nil, err
	}
	r.asked++
	if _, err := r.to.Write(append(text, '\n')); err != nil {
		return nil, fmt.Errorf("the program that adds up has ended: %w", err)
	}
	line, err := r.from.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the program that adds up has ended: %w", err)
	}
	var a answer
	if err := codec.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("the program that adds up has said something else: %w", err)
	}
	if a.Of != r.asked {
		return nil, fmt.Errorf("the program that adds up has answered query %d instead of %d", a.Of, r.asked)
	}
	if a.Sums == nil {
		return nil, errors.New(a.Error)
	}
	// Fields that are zero do not travel.
	if length := len(q.At); a.Sums.Vector == nil {
		if q.Kind == erm.Hessian {
			length *= length
		}
		a.Sums.Vector = make([]float64, length)
	}
	if q.Kind == erm.Precise && a.Sums.Low == nil {
		a.Sums.Low = make([]float64, len(q.At))
	}
	return a.Sums, nil
}

// Sample implements erm.Source.
func (r *Rows) Sample(places []int) (rows matrix.Rows, labels []float64, err error) {
	defer matrix.Reading(&err)()
	rows, labels = matrix.Copied(r, places), make([]float64, len(places))
	for k, i := range places {
		labels[k] = r.Labels()[i]
	}
	return rows, labels, nil
}

// Serve answers queries by pass until there are no more of them.
func Serve(pass func(*erm.Query) (*erm.Sums, error), from io.Reader, to io.Writer) error {
	lines := bufio.NewReaderSize(from, 1<<16)
	for asked := 1; ; asked++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		a := answer{Of: asked}
		q, err := Decode(line)
		if err == nil {
			a.Sums, err = pass(q)
		}
		if err != nil {
			a.Sums, a.Error = nil, err.Error()
		}
		text, err := codec.Marshal(a)
		if err != nil {
			return err
		}
		if _, err := to.Write(append(text, '\n')); err != nil {
			return err
		}
	}
}
