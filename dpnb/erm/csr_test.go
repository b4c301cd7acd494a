package erm

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// sparseProblem has n records of norm 1 with about k of d features each.
func sparseProblem(n, d, k int, ridge float64) *Problem {
	rng := noise.NewSeeded(uint64(n + d))
	m := &matrix.CSR{N: n, D: d, Starts: make([]int, 1, n+1)}
	theta := make([]float64, d)
	rng.Gaussian(theta, 5)
	labels := make([]float64, n)
	for i := range n {
		from := len(m.Values)
		for j := rng.IntN(2*d/k) - 1; j < d; j += 1 + rng.IntN(2*d/k) {
			if j >= 0 {
				m.Columns = append(m.Columns, int32(j))
				m.Values = append(m.Values, rng.Float64()-0.5)
			}
		}
		var t float64
		if row := m.Values[from:]; len(row) > 0 {
			floats.Scale(1/floats.Norm(row, 2), row)
			for k, v := range row {
				t += v * theta[m.Columns[from+k]]
			}
		}
		m.Starts = append(m.Starts, len(m.Values))
		labels[i] = -1
		if rng.Float64() < 1/(1+math.Exp(-t)) {
			labels[i] = 1
		}
	}
	return &Problem{Rows: m, Labels: labels, Loss: loss.Logistic{}, Lambda: ridge}
}

// denseCopy returns p with its records written out.
func denseCopy(p *Problem) *Problem {
	n, d := p.Rows.Dims()
	rows := matrix.NewDense(n, d, nil)
	for i := range n {
		p.Rows.Row(rows.Data[i*d:(i+1)*d], i)
	}
	q := *p
	q.Rows = rows
	return &q
}

func TestSparseAgreesWithDense(t *testing.T) {
	p := sparseProblem(700, 130, 9, 0.5)
	q := denseCopy(p)
	n, d := p.Rows.Dims()
	if back := q.Rows.(*matrix.Dense).Sparse(); !floats.Equal(back.Values, p.Rows.(*matrix.CSR).Values) {
		t.Error("Sparse loses entries")
	}
	theta, g, h := make([]float64, d), make([]float64, d), make([]float64, d)
	for j := range theta {
		theta[j] = math.Sin(float64(j))
	}
	a, b := Evaluate(p, g, theta), Evaluate(q, h, theta)
	if math.Abs(a-b) > 1e-12*b || !floats.EqualApprox(g, h, 1e-11) {
		t.Errorf("J = %v sparse, %v dense; gradients %v apart", a, b, floats.Distance(g, h, 2))
	}
	s, w := make([]float64, n), make([]float64, n)
	p.Rows.Norms(s, 0, n)
	q.Rows.Norms(w, 0, n)
	row := make([]float64, d)
	for i := range s {
		p.Rows.Row(row, i)
		want := floats.Norm(row, 2)
		if math.Abs(s[i]-want) > 4*0x1p-53*want || math.Abs(w[i]-want) > 4*0x1p-53*want {
			t.Fatalf("‖x_%d‖ = %v sparse, %v dense, want %v", i, s[i], w[i], want)
		}
	}
	for _, m := range methods {
		settings := Settings{Method: m, Tolerance: 1e-9}
		x, errX := Minimize(p, &settings)
		y, errY := Minimize(q, &settings)
		if errX != nil || errY != nil {
			t.Errorf("%s: sparse %v, dense %v", m.Name(), errX, errY)
			continue
		}
		if dist := floats.Distance(x.Theta, y.Theta, 2); dist > x.Certificate.Distance+y.Certificate.Distance {
			t.Errorf("%s: minimisers %v apart", m.Name(), dist)
		}
	}
}

func TestNewCSR(t *testing.T) {
	good := func() (int, int, []int, []int32, []float64) {
		return 3, 4, []int{0, 2, 2, 3}, []int32{0, 3, 2}, []float64{1, 2, 3}
	}
	n, d, starts, cols, values := good()
	m, err := matrix.NewCSR(n, d, starts, cols, values)
	if err != nil {
		t.Fatal(err)
	}
	row := []float64{9, 9, 9, 9}
	if m.Row(row, 0); !floats.Equal(row, []float64{1, 0, 0, 2}) {
		t.Errorf("row 0 is %v", row)
	}
	if m.Row(row, 1); floats.Norm(row, 1) != 0 {
		t.Errorf("the empty row is %v", row)
	}
	for name, spoil := range map[string]func(){
		"starts too short": func() { starts = starts[:3] },
		"starts fall":      func() { starts[1] = 3; starts[2] = 1 },
		"start beyond":     func() { starts[1] = 7 },
		"first start":      func() { starts[0] = 1 },
		"column beyond":    func() { cols[1] = 4 },
		"column negative":  func() { cols[0] = -1 },
		"columns fall":     func() { cols[0] = 3 },
		"columns short":    func() { cols = cols[:2] },
		"negative size":    func() { n = -1 },
	} {
		n, d, starts, cols, values = good()
		spoil()
		var de *matrix.DataError
		if _, err := matrix.NewCSR(n, d, starts, cols, values); !errors.As(err, &de) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}
