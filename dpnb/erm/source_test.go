package erm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// shards is a Source of Parts, added up in an order that changes with every pass.
type shards struct {
	matrix.Elsewhere
	rows   *matrix.Dense
	labels []float64
	parts  []*Part
	ends   []int
	asked  map[Kind]int
	passes int
	fails  int // the pass that does, from 1
}

var errShard = errors.New("shard 2 is gone")

func newShards(t testing.TB, rows *matrix.Dense, labels []float64, f loss.Joint, ends ...int) *shards {
	t.Helper()
	s := &shards{Elsewhere: matrix.Elsewhere{N: rows.N, D: rows.D}, rows: rows, labels: labels, ends: ends,
		asked: map[Kind]int{}}
	for k := range ends {
		from := 0
		if k > 0 {
			from = ends[k-1]
		}
		own := matrix.NewDense(ends[k]-from, rows.D, rows.Data[from*rows.D:ends[k]*rows.D])
		p := must.Get(NewPart(own, labels[from:ends[k]], f))
		s.parts = append(s.parts, p)
	}
	return s
}

func (s *shards) Pass(q *Query) (*Sums, error) {
	s.asked[q.Kind]++
	if s.passes++; s.passes == s.fails {
		return nil, errShard
	}
	length := len(q.At)
	if q.Kind == Hessian {
		length *= length
	}
	all := Sums{Vector: make([]float64, length), Low: make([]float64, length)}
	for _, k := range rand.New(rand.NewPCG(1, uint64(s.passes))).Perm(len(s.parts)) {
		n, _ := s.parts[k].problem.Rows.Dims()
		const chunk = 100
		for lo := 0; lo < n; lo += chunk {
			var one Sums
			s.parts[k].Add(&one, q, lo, min(n, lo+chunk))
			all.Merge(&one)
		}
	}
	return &all, nil
}

func (s *shards) Sample(places []int) (matrix.Rows, []float64, error) {
	var y []float64
	for _, i := range places {
		y = append(y, s.labels[i])
	}
	return s.rows.Select(places), y, nil
}

// A problem over shards has the minimiser of the same records in memory, within both certificates, for one form and for
// several, few records and many. A record that is left out shows: the certificates are far smaller than what a record
// does.
func TestSourceHasTheSameMinimiser(t *testing.T) {
	for _, n := range []int{0, 3, 700, 9000} {
		for _, f := range []loss.Joint{loss.Sum(loss.Logistic{}), loss.Softmax{Classes: 3}} {
			rows, labels := syntheticFor(n, 6, f.Forms())
			here := &Problem{Rows: rows, Labels: labels, Joint: f, Lambda: 2}
			want := must.Get(Minimize(here, nil))
			s := newShards(t, rows, labels, f, n/3, n/3, n)
			there := *here
			there.Rows, there.Labels = s, nil
			for _, method := range []Method{nil, LBFGS{}, NewtonCG{}} {
				got := must.Get(Minimize(&there, &Settings{Method: method}))
				away := floats.Distance(got.Theta, want.Theta, 2)
				if allowed := got.Certificate.Distance + want.Certificate.Distance; away > allowed || allowed > 1e-4 {
					t.Errorf("n = %d, %s, %v: %g away, allowed %g", n, f.Name(), method, away, allowed)
				}
			}
			if n < 700 {
				continue
			}
			fewer := newShards(t, matrix.NewDense(n-1, 6, rows.Data[:6*(n-1)]), labels[:n-1], f, n-1)
			there.Rows = fewer
			less := must.Get(Minimize(&there, nil))
			if d := floats.Distance(less.Theta, want.Theta, 2); d < 10*want.Certificate.Distance {
				t.Errorf("n = %d, %s: a record less moves the minimiser by %g only", n, f.Name(), d)
			}
			norm, err := there.ValidateNorm()
			if all, e := here.ValidateNorm(); err != nil || e != nil || norm > all {
				t.Errorf("norms %v, %v: %v, %v", norm, all, err, e)
			}
		}
	}
}

// The Hessian over shards is that in memory, and each kind of pass is asked for where it is needed; the bound on the
// rounding of a gradient covers what shards make of it.
func TestSourceSums(t *testing.T) {
	const n = 2000
	f := loss.Softmax{Classes: 3}
	rows, labels := syntheticFor(n, 5, 3)
	here := &Problem{Rows: rows, Labels: labels, Joint: f, Lambda: 0.5}
	s := newShards(t, rows, labels, f, 900, n)
	there := &Problem{Rows: s, Joint: f, Lambda: 0.5}
	theta := make([]float64, 15)
	for j := range theta {
		theta[j] = math.Sin(float64(j))
	}
	var hessians, gradients [2][]float64
	var bounds [2]float64
	for k, p := range []*Problem{here, there} {
		e := must.Get(NewEvaluator(p, 1))
		gradients[k], hessians[k] = make([]float64, 15), make([]float64, 15*15)
		_, bounds[k] = e.Gradient(gradients[k], theta)
		fine := make([]float64, 15)
		e.Refine(fine, theta)
		if d := floats.Distance(fine, gradients[k], 2); d > bounds[k] {
			t.Errorf("gradients differ by %g, allowed %g", d, bounds[k])
		}
		e.Hessian(hessians[k], theta)
		v, dst := slices.Clone(theta), make([]float64, 15)
		e.e.hessian(dst, v)
		for i := range dst {
			if want := floats.Dot(hessians[k][15*i:15*i+15], v); !(math.Abs(dst[i]-want) <= 1e-9*n) {
				t.Errorf("the product has %g, the Hessian %g", dst[i], want)
			}
		}
	}
	if d := floats.Distance(hessians[0], hessians[1], math.Inf(1)); d > 1e-12*n {
		t.Errorf("Hessians differ by %g", d)
	}
	if d := floats.Distance(gradients[0], gradients[1], 2); d > bounds[0]+bounds[1] {
		t.Errorf("gradients differ by %g", d)
	}
	for _, k := range []Kind{Gradient, Precise, Product, Hessian} {
		if s.asked[k] != 1 {
			t.Errorf("kind %d was asked for %d times", k, s.asked[k])
		}
	}
}

// Twenty parts that are merged have the sums of all records: of a gradient to what Depth says, in double-double to some
// n·u².
func TestMerge(t *testing.T) {
	const n, u = 2000, 0x1p-53
	f := loss.Sum(loss.Logistic{})
	rows, labels := syntheticFor(n, 3, 1)
	at := []float64{1, -2, 0.5}
	fine := &Query{Kind: Precise, Loss: f, At: at, Low: []float64{1e-20, 0, 0}}
	p := newShards(t, rows, labels, f, n).parts[0]
	var want Sums
	p.Add(&want, fine, 0, n)
	for _, q := range []*Query{{Kind: Gradient, Loss: f, At: at, Norms: true}, fine} {
		var whole, all, one Sums
		p.Add(&whole, q, 0, n)
		p.Add(&all, q, 0, 100)
		h := all.Depth
		for lo := 100; lo < n; lo += 100 {
			p.Add(&one, q, lo, lo+100)
			all.Merge(&one)
		}
		each, within := 1.0, u
		if q.Kind == Precise {
			each, within = 3.1, u*u
		}
		if !(math.Abs(all.Depth-h-19*each) <= 1e-9) || all.MaxNorm != whole.MaxNorm ||
			!(math.Abs(all.Value-whole.Value) <= 1e-12*n) || !(math.Abs(all.Slopes-whole.Slopes) <= 1e-12*n) {
			t.Errorf("kind %d: %+v, want %+v", q.Kind, all, whole)
		}
		for j, v := range all.Vector {
			off := v - want.Vector[j] - want.Low[j]
			if q.Kind == Precise {
				off = v - want.Vector[j] + (all.Low[j] - want.Low[j])
			}
			if !(math.Abs(off) <= all.Depth*within*5*n) { // a record's slope times its entry is below 5
				t.Errorf("kind %d: coordinate %d is off by %g", q.Kind, j, off)
			}
		}
	}
}

// A pass that fails, whichever it is, ends in its error; so do labels that are none, and what looks at single records.
func TestSourceThatFails(t *testing.T) {
	rows, labels := syntheticFor(3000, 4, 1)
	f := loss.Sum(loss.Logistic{})
	for k := 1; k < 6; k++ {
		s := newShards(t, rows, labels, f, 3000)
		s.fails = k
		_, err := Minimize(&Problem{Rows: s, Joint: f, Lambda: 1}, &Settings{Tolerance: 1e-7, Method: NewtonCG{}})
		var read *matrix.ReadError
		if !errors.Is(err, errShard) || !errors.As(err, &read) {
			t.Errorf("pass %d: %v", k, err)
		}
	}
	var data *matrix.DataError
	wrong := slices.Clone(labels)
	wrong[7] = 3
	for name, p := range map[string]*Problem{
		"a wrong label": {Rows: newShards(t, rows, wrong, f, 3000), Joint: f, Lambda: 1},
		"two labels":    {Rows: newShards(t, rows, labels, f, 3000), Labels: labels, Joint: f, Lambda: 1},
	} {
		if _, err := Minimize(p, nil); !errors.As(err, &data) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := &Problem{Rows: newShards(t, rows, labels, f, 3000), Joint: f, Lambda: 1}
	if _, err := Minimize(p, &Settings{Method: SAG{}}); !errors.As(err, &data) {
		t.Errorf("SAG: %v", err)
	}
	if err := func() (err error) {
		defer matrix.Reading(&err)()
		matrix.MaxNorm(p.Rows)
		return nil
	}(); err == nil {
		t.Error("single rows are read")
	}
	if _, err := NewPart(rows, labels[1:], f); !errors.As(err, &data) {
		t.Errorf("a label short: %v", err)
	}
}

// Each part looks at all of its labels, and says how far its sums may be off: here terms of 2⁻⁵³ are added to 1, which
// drops most of them, so that the error is hundreds of times that of one addition.
func TestPartCountsLabelsAndRounding(t *testing.T) {
	const n = 2000
	rows, labels := matrix.NewDense(n, 1, nil), make([]float64, n)
	for i := range labels {
		rows.Data[i], labels[i] = 0x1p-53, 1
	}
	rows.Data[0] = 1
	q := Query{Kind: Gradient, At: []float64{0}, Norms: true}
	sum := func(f loss.Joint) (s Sums) {
		p := must.Get(NewPart(rows, labels, f))
		p.Add(&s, &q, 0, n)
		return s
	}
	s := sum(loss.Sum(loss.Squared{}))
	exact := 1 + (n-1)*0x1p-53 // of which the float64 next to it is half a unit away
	off := math.Abs(math.Abs(s.Vector[0]) - exact)
	if allowed := s.Depth * 0x1p-53 * exact; off > allowed || off < 10*0x1p-53 {
		t.Errorf("off by %.0f units, %.0f are allowed", off*0x1p53, allowed*0x1p53)
	}
	q.Kind = Hessian // the same of squares
	for i := 1; i < n; i++ {
		rows.Data[i] = 0x1p-27
	}
	s = sum(loss.Sum(loss.Squared{}))
	if off := 1 + (n-1)*0x1p-54 - s.Vector[0]; off > s.Depth*0x1p-53 || off < 10*0x1p-53 {
		t.Errorf("the Hessian is off by %.0f units, %.0f are allowed", off*0x1p53, s.Depth)
	}
	for _, wrong := range []int{0, n / 2, n - 1} {
		labels[wrong] = 0.5
		if s := sum(loss.Sum(loss.Logistic{})); s.Wrong != 1 {
			t.Errorf("label %d is wrong, and %d are counted", wrong, s.Wrong)
		}
		labels[wrong] = 1
	}
}

// short is a Source whose sums lack a number.
type short struct {
	*shards
	low bool
}

func (s short) Pass(q *Query) (*Sums, error) {
	all, err := s.shards.Pass(q)
	if err == nil && s.low {
		all.Low = all.Low[1:]
	} else if err == nil {
		all.Vector = all.Vector[1:]
	}
	return all, err
}

func TestSumsThatLackAPartAreRefused(t *testing.T) {
	rows, labels := syntheticFor(50, 3, 1)
	f := loss.Sum(loss.Logistic{})
	for low, kind := range map[bool]Kind{false: Gradient, true: Precise} {
		err := func() (err error) {
			defer matrix.Reading(&err)()
			ask(short{newShards(t, rows, labels, f, 50), low}, f, Query{Kind: kind, At: make([]float64, 3),
				Low: make([]float64, 3)})
			return nil
		}()
		var read *matrix.ReadError
		if !errors.As(err, &read) {
			t.Errorf("kind %v: %v", kind, err)
		}
	}
}

// syntheticFor returns records labelled for a loss of k forms: ±1 for one, else a class.
func syntheticFor(n, d, k int) (*matrix.Dense, []float64) {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range rows.Data {
		rows.Data[i] = r.NormFloat64()
	}
	for i := range labels {
		if labels[i] = float64(r.IntN(max(k, 2))); k == 1 {
			labels[i] = math.Copysign(1, rows.Data[i*d]+r.NormFloat64())
		}
	}
	return rows, labels
}

// held is rows whose labels are in a file, of which some may go.
type held struct {
	*matrix.Dense
	gone [][2]int
}

func (h *held) Done(lo, hi int) { h.gone = append(h.gone, [2]int{lo, hi}) }

// The labels of a sample are let go on the way, however many there are: never more than some labelsHeld are held. So
// are those that are looked at.
func TestSampledLetsGoOfLabels(t *testing.T) {
	const n = 3*labelsHeld + 5
	rows := &held{Dense: matrix.NewDense(n, 1, nil)}
	p := &Problem{Rows: rows, Labels: make([]float64, n), Loss: loss.Squared{}, Lambda: 1}
	must.Do(p.Validate())
	if want := [][2]int{{0, labelsHeld}, {labelsHeld, 2 * labelsHeld}, {2 * labelsHeld, 3 * labelsHeld}}; !slices.Equal(
		rows.gone, want) {
		t.Errorf("after a look at all labels %v are let go, want %v", rows.gone, want)
	}
	rows.gone = nil
	p.sampled(3000)
	at := 0
	for _, g := range rows.gone {
		if g[0] != at || g[1]-g[0] > labelsHeld+n/3000+1 {
			t.Errorf("labels %v are let go, after %d were", g, at)
		}
		at = g[1]
	}
	if n-at > labelsHeld+n/3000+1 {
		t.Errorf("%d labels are held at the end", n-at)
	}
	p.Labels[n-1] = math.NaN()
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("of record %d ", n-1)) {
		t.Errorf("the last label is NaN: %v", err)
	}
}

// labelled is rows that come with labels.
type labelled struct {
	matrix.Rows
	labels []float64
}

func (l labelled) Labels() []float64 { return l.labels }

// The labels of a source are its own only if they are the very ones, and all of them.
func TestOwnLabels(t *testing.T) {
	own := []float64{1, -1, 1}
	for i, c := range []struct {
		own, labels []float64
		want        bool
	}{{own, own, true}, {own, slices.Clone(own), false}, {own, own[:2], false}, {own[:2], own, false},
		{own[:2], own[1:], false}, {own[1:], own[:2], false}, {own[:1], own[:1], true}, {own[:1], own[1:2], false},
		{nil, nil, true}, {nil, own[:0], true}, {nil, own, false}} {
		if got := ownLabels(labelled{nil, c.own}, c.labels); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
	if ownLabels(matrix.NewDense(3, 1, nil), own) {
		t.Error("rows without labels have some")
	}
}
