package matrix

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/mapped"
)

// The matrix of ½w·Σ(θⱼ − 2θⱼ₊₁ + θⱼ₊₂)² over a span is that of its quadratic form, times two.
func TestRoughen(t *testing.T) {
	theta := []float64{5, 1, -2, 4, 0.5, 7}
	for _, s := range []Span{{1, 4}, {0, 3}, {0, 6}, {2, 2}} {
		q := mat.NewSymDense(6, nil)
		q.SetSym(0, 0, 10)
		s.Roughen(q, 0.25)
		want := 10 * theta[0] * theta[0]
		for j := s.First; j+2 < s.First+s.Len; j++ {
			bend := theta[j] - 2*theta[j+1] + theta[j+2]
			want += 0.25 * bend * bend
		}
		x := mat.NewVecDense(6, theta)
		if got := mat.Inner(x, q, x); got != want {
			t.Errorf("%v: %v, want %v", s, got, want)
		}
	}
}

// What is in no span, and the way along a direction and back.
func TestOutsideAndAlong(t *testing.T) {
	for _, c := range []struct {
		spans []Span
		want  []int
	}{
		{nil, []int{0, 1, 2, 3, 4, 5, 6}}, {[]Span{{0, 2}, {3, 1}}, []int{2, 4, 5, 6}},
		{[]Span{{2, 2}, {4, 3}}, []int{0, 1}},
		{[]Span{{0, 7}}, []int{}},
	} {
		if got := Outside(c.spans, 7); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.spans, got, c.want)
		}
	}
	v, x := Direction{First: 1, Weights: []float64{0.6, 0.8}}, []float64{9, 5, 10, 9}
	along := v.Along(x)
	if v.Add(x, 5); along != 11 || !slices.Equal(x, []float64{9, 8, 14, 9}) {
		t.Errorf("%v along, then %v", along, x)
	}
}

// What is orthogonal to some directions has the other dimensions, all of length one and none along the directions.
func TestComplement(t *testing.T) {
	if Complement(nil, 3) != nil {
		t.Error("nothing has a complement")
	}
	directions := []Direction{{First: 1, Weights: []float64{0.6, 0.8}}, {First: 3, Weights: []float64{1}}}
	q := Complement(directions, 5)
	if n, k := q.Dims(); n != 5 || k != 3 {
		t.Fatalf("%d × %d", n, k)
	}
	for i := range 3 {
		x := mat.Col(nil, i, q)
		for _, v := range directions {
			if !(math.Abs(v.Along(x)) <= 1e-15) {
				t.Errorf("column %d has %v along %v", i, v.Along(x), v)
			}
		}
		for j := range 3 {
			want := 0.0
			if i == j {
				want = 1
			}
			if got := mat.Dot(q.ColView(i), q.ColView(j)); !(math.Abs(got-want) <= 1e-15) {
				t.Errorf("columns %d and %d: %v", i, j, got)
			}
		}
	}
}

// What a pass reads, by kind of rows; the longest row of parts that know theirs and of others; labels in memory.
func TestWhatRowsSayOfThemselves(t *testing.T) {
	sparse := NewDense(2, 3, []float64{0, 2, 0, 3, 0, 4}).Sparse()
	dense := NewDense(2, 2, []float64{0, 1, 0, 1})
	if a, b := Nonzeros(sparse), Nonzeros(other{dense}); a != 3 || b != 4 {
		t.Errorf("%d and %d entries", a, b)
	}
	both, one := Terms(HStack{Parts: []Rows{dense, dense}}), Terms(dense)
	if alone := Terms(HStack{Parts: []Rows{dense}}); alone < one || both < math.Hypot(one, one) || both > 1.5*one {
		t.Errorf("the terms of a part are %v, of it beside nothing %v, beside itself %v", one, alone, both)
	}
	if all := Nonzeros(HStack{Parts: []Rows{sparse, dense}}); all != 7 {
		t.Errorf("%d entries beside each other", all)
	}
	for _, c := range []struct {
		known, want float64
	}{{1, 5}, {12, 12}} {
		s := Stack(3, Part{Rows: knowing{other{sparse}, c.known}, Hi: 2}, Part{Rows: sparse, Hi: 2})
		if got := s.MaxNorm(); !(got >= c.want && got <= c.want*(1+1e-12)) {
			t.Errorf("the longest of %v and 5 is %v", c.known, got)
		}
	}
	labels, free, err := NewLabels(dense, 2)
	if free(); err != nil || !slices.Equal(labels, []float64{0, 0}) {
		t.Errorf("labels %v, %v", labels, err)
	}
}

type knowing struct {
	Rows
	most float64
}

func (k knowing) MaxNorm() float64 { return k.most }

// What a function that reads rows panics with is its error if it is of reading, and goes on if it is anything else.
func TestReading(t *testing.T) {
	oh := errors.New("oh")
	read := func(p any) (err error) {
		defer Reading(&err)()
		if p != nil {
			panic(p)
		}
		return nil
	}
	for _, c := range []struct {
		panics any
		want   error
	}{
		{nil, nil}, {&ReadError{oh}, oh}, {&DataError{"short"}, &DataError{"short"}},
		{mapped.ErrFault, mapped.ErrFault},
	} {
		err := read(c.panics)
		var data *DataError
		if !errors.Is(err, c.want) && !(errors.As(err, &data) && data.Text == "short") {
			t.Errorf("%v is %v", c.panics, err)
		}
		var reading *ReadError
		if c.want == mapped.ErrFault && !errors.As(err, &reading) {
			t.Errorf("%v is %v", c.panics, err)
		}
	}
	for _, p := range []any{oh, "oh"} {
		func() {
			defer func() {
				if got := recover(); got != p {
					t.Errorf("%v became %v", p, got)
				}
			}()
			_ = read(p)
		}()
	}
}
