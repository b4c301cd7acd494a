package remote_test

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/remote"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
)

// TestQueriesTravel: every kind and loss, to the last bit.
func TestQueriesTravel(t *testing.T) {
	for _, f := range []loss.Joint{loss.Sum(loss.Logistic{}), loss.Sum(loss.ClippedAt(loss.Squared{}, 2, 1)),
		loss.Sum(loss.Huber{Threshold: 0.1}), loss.Softmax{Classes: 3}, loss.Sum(loss.Logistic{}, loss.Logistic{})} {
		q := &erm.Query{Kind: erm.Product, Loss: f, At: []float64{0.1, math.Copysign(0, -1), 5e-324},
			Direction: []float64{math.MaxFloat64, 1.0 / 3, 0}, Norms: true}
		text := must.Get(remote.Encode(q))
		got := must.Get(remote.Decode(text))
		if got.Loss.Name() != f.Name() || got.Loss.Lipschitz() != f.Lipschitz() || !slices.Equal(got.At, q.At) ||
			!math.Signbit(got.At[1]) || !slices.Equal(got.Direction, q.Direction) || got.Kind != q.Kind || !got.Norms {
			t.Errorf("%s became %s, %+v", f.Name(), got.Loss.Name(), got)
		}
		if again, _ := remote.Encode(got); string(again) != string(text) {
			t.Errorf("%s, then %s", text, again)
		}
	}
	if _, err := remote.Decode([]byte("{}x")); err == nil {
		t.Error("a text that is no query")
	}
}

// TestAFitThroughAPipe: the minimiser of records in a file, whose passes another goroutine makes, is that of the passes
// made here; what goes wrong there is an error here.
func TestAFitThroughAPipe(t *testing.T) {
	const n, d = 3000, 3
	rows, labels := matrix.NewDense(n, d, nil), make([]float64, n)
	for i := range labels {
		labels[i] = float64(2*(i%2) - 1)
		for j := range d {
			rows.Data[i*d+j] = math.Sin(float64(i*(j+1))) / 2
		}
	}
	path := filepath.Join(t.TempDir(), "a.rows")
	w, err := stored.Create(path, [32]byte{1}, d, false)
	must.Do(errors.Join(err, w.Append(rows, labels), w.Close()))
	file := must.Get(stored.Open(path, [32]byte{1}))
	part := must.Get(erm.NewPart(rows, labels, loss.Sum(loss.Logistic{})))
	fails := error(nil)
	queries, to := io.Pipe()
	from, answers := io.Pipe()
	go func() {
		_ = remote.Serve(func(q *erm.Query) (*erm.Sums, error) {
			var s erm.Sums
			part.Add(&s, q, 0, n)
			return &s, fails
		}, queries, answers)
		answers.Close()
	}()
	there := remote.New(file, to, from)
	p := erm.Problem{Rows: there, Labels: there.Labels(), Loss: loss.Logistic{}, Lambda: 1}
	got := must.Get(erm.Minimize(&p, nil))
	p.Rows, p.Labels = rows, labels
	want := must.Get(erm.Minimize(&p, nil))
	for j, v := range want.Theta {
		if !(math.Abs(got.Theta[j]-v) <= want.Certificate.Distance+got.Certificate.Distance) {
			t.Errorf("θ%d is %v, here %v", j, got.Theta[j], v)
		}
	}
	p.Rows, p.Labels = there, labels
	if _, err := erm.Minimize(&p, nil); err == nil || !strings.Contains(err.Error(), "cannot take others") {
		t.Errorf("labels of others: %v", err)
	}
	some, _, err := there.Sample([]int{1, 2999})
	if err != nil || !reflect.DeepEqual(some.(*matrix.Dense).Data[3:], rows.Data[2999*d:]) {
		t.Errorf("%v, %v", some, err)
	}
	p.Labels, fails = nil, errors.New("no disk")
	if _, err := erm.Minimize(&p, nil); err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Error(err)
	}
	to.Close()
	if _, err := erm.Minimize(&p, nil); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Error(err)
	}
}

// TestAnswersAreOfTheirQuery: lines that are no answers, whatever they hold, are errors, and no later query is answered
// with the sums of an earlier one.
func TestAnswersAreOfTheirQuery(t *testing.T) {
	for _, stray := range []string{"a library says something\n", "{}\n", "{\"Sums\":{\"Value\":1}}\n", "\n"} {
		queries, to := io.Pipe()
		from, answers, err := os.Pipe() // which has room for an answer that nobody waits for
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = remote.Serve(func(q *erm.Query) (*erm.Sums, error) {
				return &erm.Sums{Vector: slices.Clone(q.At)}, nil
			}, queries, answers)
		}()
		there := remote.New(nil, to, io.MultiReader(strings.NewReader(stray), from))
		for k := range 4 {
			q := &erm.Query{Loss: loss.Sum(loss.Logistic{}), At: []float64{float64(k + 1)}}
			if s, err := there.Pass(q); err == nil && s.Vector[0] != q.At[0] {
				t.Errorf("after %q query %d has the sums %v", stray, k+1, s.Vector)
			}
		}
		must.Do(errors.Join(to.Close(), from.Close(), answers.Close()))
	}
}

// TestZeroSumsTravel: sums that are nothing but zeros have the lengths of their query.
func TestZeroSumsTravel(t *testing.T) {
	queries, to := io.Pipe()
	from, answers := io.Pipe()
	go func() {
		_ = remote.Serve(func(*erm.Query) (*erm.Sums, error) { return &erm.Sums{Value: 3}, nil }, queries, answers)
	}()
	there := remote.New(nil, to, from)
	for kind, lengths := range map[erm.Kind][2]int{erm.Gradient: {3, 0}, erm.Precise: {3, 3}, erm.Product: {3, 0},
		erm.Hessian: {9, 0}} {
		s := must.Get(there.Pass(&erm.Query{Kind: kind, Loss: loss.Sum(loss.Logistic{}), At: []float64{1, 2, 3}}))
		if got := [2]int{len(s.Vector), len(s.Low)}; got != lengths || s.Value != 3 {
			t.Errorf("kind %v: sums of lengths %v, want %v", kind, got, lengths)
		}
	}
	must.Do(errors.Join(to.Close(), answers.Close()))
}
