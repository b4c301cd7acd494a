package erm_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// remote is a Source of one shard that is here after all.
type remote struct {
	matrix.Elsewhere
	part *erm.Part
}

func (r remote) Pass(q *erm.Query) (*erm.Sums, error) {
	var first, second erm.Sums
	r.part.Add(&first, q, 0, 2)
	r.part.Add(&second, q, 2, 3)
	for j, v := range second.Vector {
		first.Vector[j] += v
	}
	first.Value, first.Slopes, first.Depth = first.Value+second.Value, first.Slopes+second.Slopes, first.Depth+2
	first.MaxNorm, first.Wrong = max(first.MaxNorm, second.MaxNorm), first.Wrong+second.Wrong
	return &first, nil
}

func (r remote) Sample([]int) (matrix.Rows, []float64, error) {
	return matrix.NewDense(3, 1, []float64{1, 2, -1}), []float64{1, -1, 1}, nil
}

// A shard adds up, chunk by chunk, what a solver elsewhere asks for.
func ExampleSource() {
	f := loss.Sum(loss.Logistic{})
	part, err := erm.NewPart(matrix.NewDense(3, 1, []float64{1, 2, -1}), []float64{1, -1, 1}, f)
	if err != nil {
		fmt.Println(err)
		return
	}
	var rows erm.Source = remote{matrix.Elsewhere{N: 3, D: 1}, part}
	s, err := erm.Minimize(&erm.Problem{Rows: rows, Joint: f, Lambda: 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", s.Theta[0])
	// Output: -0.4097
}
