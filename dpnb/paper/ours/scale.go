package ours

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/exactsum"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/matrix/stored"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// inFile stores records in a folder of their own and returns them as they are read; free removes it.
func inFile(rows *matrix.Dense, labels []float64, single bool) (r *stored.Rows, free func(), err error) {
	defer measure.Catch(&err)
	dir := measure.Must(os.MkdirTemp("", "dpnb-claim-"))
	free = func() { _ = os.RemoveAll(dir) }
	path := filepath.Join(dir, "a.rows")
	w, err := stored.Create(path, [32]byte{1}, rows.D, single)
	if err == nil {
		err = errors.Join(w.Append(rows, labels), w.Close())
	}
	if err == nil {
		r, err = stored.Open(path, [32]byte{1})
	}
	return r, free, err
}

func storedClip(run measure.Run, rounded func(float64) float64) claim.Outcome {
	const d = 7
	n := run.Runs(5000)
	rng := noise.NewSeeded(96)
	rows := matrix.NewDense(n, d, nil)
	for i := range rows.Data {
		if rng.Float64() < 0.1 {
			continue // a zero
		}
		rows.Data[i] = 2*rng.Float64() - 1 // as features are
		if rng.Float64() < 0.5 {
			rows.Data[i] *= math.Pow(10, math.Round(80*rng.Float64()-60))
		}
	}
	kept := matrix.NewDense(n, d, nil)
	if rounded != nil {
		for i, v := range rows.Data {
			kept.Data[i] = rounded(v)
		}
	} else {
		r, free, err := inFile(rows, make([]float64, n), true)
		defer free()
		measure.Try(err)
		defer r.Close()
		for i := range n {
			r.Row(kept.Data[i*d:(i+1)*d], i)
		}
	}
	longer, far := 0, 0
	for i := range n {
		before, after := squares(rows.Data[i*d:(i+1)*d]), squares(kept.Data[i*d:(i+1)*d])
		if after.Cmp(before) > 0 {
			longer++
		}
	}
	for i, v := range rows.Data {
		if math.Abs(v-kept.Data[i]) > math.Max(0x1p-23*math.Abs(v), 0x1p-149) {
			far++
		}
	}
	return claim.Decide(fmt.Sprintf("%d of %d records longer, %d of %d entries off by more than a unit in the last "+
		"place", longer, n, far, n*d), "0 and 0", longer+far == 0)
}

// squares returns Σxⱼ², exactly for numbers between 2⁻⁹⁰⁰ and 2¹⁰⁰.
func squares(x []float64) *big.Float {
	sum := new(big.Float).SetPrec(4096)
	for _, v := range x {
		b := new(big.Float).SetPrec(4096).SetFloat64(v)
		sum.Add(sum, b.Mul(b, b))
	}
	return sum
}

// inParts adds up over records in parts of 500, the sums of which are added exactly in an order that changes: an
// erm.Source.
type inParts struct {
	matrix.Elsewhere
	rows   *matrix.Dense
	labels []float64
	part   *erm.Part
	rng    *noise.Seeded
}

// Pass implements erm.Source.
func (s *inParts) Pass(q *erm.Query) (*erm.Sums, error) {
	const step = 500
	var all erm.Sums
	var sum *exactsum.Vector
	for _, lo := range s.rng.Perm((s.rows.N + step - 1) / step) {
		var one erm.Sums
		s.part.Add(&one, q, lo*step, min(s.rows.N, (lo+1)*step))
		if sum == nil {
			sum = exactsum.New(len(one.Vector) + 2)
		}
		sum.Add(append(slices.Clone(one.Vector), one.Value, one.Slopes))
		if q.Kind == erm.Precise {
			sum.Add(append(slices.Clone(one.Low), 0, 0))
		}
		all.Wrong += one.Wrong
		all.MaxNorm, all.Depth = math.Max(all.MaxNorm, one.MaxNorm), math.Max(all.Depth, one.Depth+2)
	}
	total := make([]float64, sum.Len())
	sum.Sum(total)
	k := len(total) - 2
	all.Vector, all.Low, all.Value, all.Slopes = total[:k], make([]float64, k), total[k], total[k+1]
	if q.Kind == erm.Precise {
		all.Depth += 0x1p53 // the sum is rounded to float64 here
	}
	return &all, nil
}

// Sample implements erm.Source.
func (s *inParts) Sample(places []int) (matrix.Rows, []float64, error) {
	var y []float64
	for _, i := range places {
		y = append(y, s.labels[i])
	}
	return s.rows.Select(places), y, nil
}

// streamedFit compares minimisers in memory, from a file and by a Source, which have the records but the last if more
// is −1, and the last twice if it is 1.
func streamedFit(run measure.Run, more int) claim.Outcome {
	const d = 6
	n := measure.Sized(run.Size, 3003, 30_003)
	rng := noise.NewSeeded(97)
	rows, labels := measure.UnitRecords(n, d, rng)
	linear := make([]float64, d)
	rng.Gaussian(linear, 3)
	minimum := func(rows matrix.Rows, labels []float64, workers int) *erm.Solution {
		p := erm.Problem{Rows: rows, Labels: labels, Loss: loss.Logistic{}, Lambda: 1, Linear: linear}
		return measure.Must(erm.Minimize(&p, &erm.Settings{Tolerance: 1e-9, Workers: workers}))
	}
	want := minimum(rows, labels, 2)
	places := make([]int, 0, n+1)
	for i := range n {
		places = append(places, i)
	}
	if more > 0 {
		places = append(places, n-1)
	}
	places = places[:n+more]
	theirs, labelled := rows.Select(places), make([]float64, len(places))
	for k, i := range places {
		labelled[k] = labels[i]
	}
	r, free, err := inFile(theirs, labelled, false)
	defer free()
	measure.Try(err)
	defer r.Close()
	same, farthest := true, 0.0
	for _, workers := range []int{1, 3} {
		same = same && slices.Equal(minimum(r, r.Labels(), workers).Theta, want.Theta)
	}
	part := measure.Must(erm.NewPart(theirs, labelled, loss.Sum(loss.Logistic{})))
	s := minimum(&inParts{matrix.Elsewhere{N: theirs.N, D: d}, theirs, labelled, part, rng}, nil, 1)
	bound := s.Certificate.Distance + want.Certificate.Distance
	farthest = floats.Distance(s.Theta, want.Theta, 2)
	return claim.Decide(fmt.Sprintf("equal bits from the file: %v; by the source %.1g away", same, farthest),
		fmt.Sprintf("%.1g, the two certificates", bound), same && farthest <= bound)
}

// adder returns the sum of the terms that each worker has, the workers' sums being added in their order.
type adder func(terms [][]float64, workers [][]int) []float64

func addExactly(terms [][]float64, workers [][]int) []float64 {
	total, sum := exactsum.New(len(terms[0])), make([]float64, len(terms[0]))
	for _, mine := range workers {
		part := exactsum.New(len(terms[0]))
		for _, i := range mine {
			part.Add(terms[i])
		}
		total.Merge(part)
	}
	total.Sum(sum)
	return sum
}

func addPlainly(terms [][]float64, workers [][]int) []float64 {
	sum := make([]float64, len(terms[0]))
	for _, mine := range workers {
		part := make([]float64, len(sum))
		for _, i := range mine {
			floats.Add(part, terms[i])
		}
		floats.Add(sum, part)
	}
	return sum
}

func addDoubly(terms [][]float64, workers [][]int) []float64 {
	total, sum := make([]dd.Number, len(terms[0])), make([]float64, len(terms[0]))
	for _, mine := range workers {
		part := make([]dd.Number, len(total))
		for _, i := range mine {
			for j, v := range terms[i] {
				part[j] = part[j].AddFloat(v)
			}
		}
		for j := range total {
			total[j] = total[j].Add(part[j])
			sum[j] = total[j].Float()
		}
	}
	return sum
}

func anyOrder(run measure.Run, add adder, factor float64) claim.Outcome {
	const n, d, most = 2000, 3, 9
	rng := noise.NewSeeded(98)
	terms := make([][]float64, n)
	exact := make([]*big.Float, d)
	for j := range exact {
		exact[j] = new(big.Float).SetPrec(2300)
	}
	for i := range terms {
		terms[i] = make([]float64, d)
		for j := range terms[i] {
			v := math.Ldexp(2*rng.Float64()-1, int(600*rng.Float64())-300)
			switch {
			case i >= n-10: // what will be left
				v = rng.Float64()
			case i%2 == 1: // what went before, taken away
				v = -terms[i-1][j]
			}
			terms[i][j] = v
			exact[j].Add(exact[j], new(big.Float).SetFloat64(v))
		}
	}
	want := make([]float64, d)
	for j, v := range exact {
		want[j], _ = v.Float64()
		want[j] *= factor
	}
	orders, wrong := run.Runs(20), 0
	for range orders {
		count := 1 + int(most*rng.Float64())
		workers := make([][]int, count)
		for _, i := range rng.Perm(n) {
			w := int(float64(count) * rng.Float64())
			workers[w] = append(workers[w], i)
		}
		if !slices.Equal(add(terms, workers), want) {
			wrong++
		}
	}
	return claim.Decide(fmt.Sprintf("%d of %d orders give another sum", wrong, orders), "0", wrong == 0)
}

const certificateBits = 300

// huberGradient returns Σf′(xᵢᵀθ; yᵢ)xᵢ + λθ + b for Huber's loss, T = 1, in 300 bits.
func huberGradient(p *erm.Problem, theta []float64) []*big.Float {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(certificateBits).SetFloat64(v) }
	n, d := p.Rows.Dims()
	g, row := make([]*big.Float, d), make([]float64, d)
	for j := range g {
		g[j] = new(big.Float).Mul(exact(p.Lambda), exact(theta[j]))
		if p.Linear != nil {
			g[j].Add(g[j], exact(p.Linear[j]))
		}
	}
	for i := range n {
		p.Rows.Row(row, i)
		slope := exact(-p.Labels[i])
		for j, v := range row {
			slope.Add(slope, new(big.Float).Mul(exact(v), exact(theta[j])))
		}
		if slope.Cmp(exact(1)) > 0 {
			slope = exact(1)
		} else if slope.Cmp(exact(-1)) < 0 {
			slope = exact(-1)
		}
		for j, v := range row {
			g[j].Add(g[j], new(big.Float).Mul(slope, exact(v)))
		}
	}
	return g
}

// bigDistance returns ‖a − b‖.
func bigDistance(a []*big.Float, b []float64) float64 {
	sum := new(big.Float).SetPrec(certificateBits)
	for j, v := range a {
		e := new(big.Float).SetPrec(certificateBits).SetFloat64(b[j])
		e.Sub(v, e)
		sum.Add(sum, e.Mul(e, e))
	}
	r, _ := sum.Sqrt(sum).Float64()
	return r
}

// certificateHolds compares the solver's bound times a factor with errors found in 300 bits, and with its formula where
// θ is so long that the part for margins is all of it but a millionth.
func certificateHolds(run measure.Run, factor float64) claim.Outcome {
	const n, d = 30, 10
	draws := measure.Sized(run.Size, 20, 400)
	var worst, without, tight, stated float64
	for k := range measure.To(run, draws) {
		src := noise.NewSeeded(61 + uint64(k))
		rows, theta := matrix.NewDense(n, d, nil), make([]float64, d)
		src.Gaussian(rows.Data, 1)
		src.Gaussian(theta, 1e8)
		p := &erm.Problem{Rows: rows, Labels: make([]float64, n), Loss: loss.Huber{Threshold: 1}, Lambda: 0.5}
		src.Gaussian(p.Labels, 0.3)
		plain := erm.Problem{Rows: rows, Labels: p.Labels, Loss: p.Loss}
		for i := range n { // margins of the order of the threshold
			r := rows.Data[i*d : (i+1)*d]
			floats.AddScaled(r, -floats.Dot(r, theta)/floats.Dot(theta, theta), theta)
		}
		e := measure.Must(erm.NewEvaluator(&plain, 1))
		g := make([]float64, d)
		_, bound := e.Gradient(g, theta)
		bound *= factor
		off := bigDistance(huberGradient(&plain, theta), g)
		margins := 1.01 * n * e.MaxNorm() * e.MaxNorm() * (d + 1) * 0x1p-53 * floats.Norm(theta, 2)
		worst = math.Max(worst, off/bound)
		without = math.Max(without, off/math.Abs(bound-margins))
		stated = math.Max(stated, math.Abs(bound/margins-1))

		p.Linear = make([]float64, d)
		src.Gaussian(p.Linear, 3)
		sol, err := erm.Minimize(p, &erm.Settings{Tolerance: 2e-14, Workers: 1, Persist: true})
		if err != nil && !errors.Is(err, erm.ErrTolerance) {
			measure.Try(err)
		}
		if err != nil {
			tight = math.Inf(1)
			continue
		}
		// θ is rounded to float64, which moves the gradient by up to M·u‖θ‖.
		moved := (p.Lambda + n*e.MaxNorm()*e.MaxNorm()) * 0x1p-53 * floats.Norm(sol.Theta, 2)
		tight = math.Max(tight, bigDistance(huberGradient(p, sol.Theta), make([]float64,
			d))/(factor*sol.Certificate.Bound()+moved))
	}
	ok := worst <= 1 && tight <= 1 && without > 1
	return claim.Decide(fmt.Sprintf("largest error over the bound: %.2g in float64, %.2g beyond; without the part for "+
		"margins: %.2g; the bound over that part less 1: %s", worst, tight, without, claim.Roughly(stated, 1e-6)),
		"at most 1, above 1 for the control; 1e-6", ok).As(stated < 1e-6).Reaching(math.Max(worst, tight))
}
