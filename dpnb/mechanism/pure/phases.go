package pure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Phases is localisation: T phases, each with half of the records that are left, cut into J blocks. A block has an
// output perturbation about the point where the phase before ended, with a ridge that grows from phase to phase, and a
// phase ends at the block's point that has most others near it.
//
// Every record is in one block, so that ε is a block's: under replace-one the blocks are cut by position; under
// add/remove-one a record's block is drawn for it alone, which leaves the law of the others as it is, where a cut by
// position would move all that come after.
//
// Source: Lowy 2026 (heavytail), Algorithms 1, 2 and 4. Proof: docs/theory/localisation.md.
type Phases struct {
	// Problem of the first phase: Radius and Centre are of the set W over which to minimise, Lambda is Λ₁ of one block
	// of the first phase, and Records and Most are of all blocks; Records is not 0.
	Problem
	Epsilon float64
	// Adjacency of the guarantee.
	Adjacency privacy.Adjacency
	// Count is T, Blocks is J.
	Count, Blocks int
	// Ratio is λ_{t+1}/λ_t of the ridge of a mean: 32 in the paper. Λ of the sum over a block then grows by Ratio/2,
	// because the next block has half as many records.
	Ratio float64
	// ClipRatio is C_{t+1}/C_t; the paper's C ∝ m^{1/k} has 2^{−1/k}. Zero means 1.
	ClipRatio float64
	// Double adds the paper's second stage to each block: another fit within the ball that the first has found, with
	// ε/2 each. One stage reaches the same rate (dpnb-one-output).
	Double bool
	// Constants of the noise and of the ball.
	Constants Constants
}

// Constants says which constants the noise of Phases has.
type Constants int

const (
	// Exact constants are those of the sensitivity, 2C/Λ + 2r and no more.
	Exact Constants = iota
	// Printed are the paper's: noise for 6C/Λ in the first stage and in the second, and a ball of the radius
	// 600Cd/(Λε).
	Printed
)

// String implements fmt.Stringer.
func (c Constants) String() string {
	if c == Printed {
		return "constants as printed"
	}
	return "exact constants"
}

// bend returns the law of the extension of a block.
func (m Phases) bend() loss.Bend { return curve(m.Clip, 0, m.Lambda) }

// stages is the number of noisy outputs of a block.
func (m Phases) stages() float64 {
	if m.Double {
		return 2
	}
	return 1
}

// planned is the number of records that a block of phase t = 1 … T is planned to have.
func (m Phases) planned(t int) int {
	n := float64(m.Records) / math.Exp2(float64(t))
	if t == m.Count && m.Constants == Exact {
		n *= 2 // the last phase has all that are left
	}
	return int(n / float64(m.Blocks))
}

// Validate implements mechanism.Mechanism.
func (m Phases) Validate() error {
	if err := cmp.Or(m.Adjacency.Validate(),
		privacy.Within(m.Epsilon >= 1e-9 && m.Epsilon <= 1e6, "Epsilon", m.Epsilon, "a number from 1e-9 to 1e6"),
		privacy.Within(m.Count >= 1 && m.Count <= 40, "Count", m.Count, "from 1 to 40 phases"),
		privacy.Within(m.Blocks >= 1 && m.Blocks <= 1e6, "Blocks", m.Blocks, "from 1 to a million blocks in a phase"),
		privacy.Within(m.Ratio >= 1 && m.Ratio <= 1e6, "Ratio", m.Ratio,
			"a factor from 1 to a million by which the ridge grows from phase to phase"),
		privacy.Within(m.ClipRatio == 0 || m.ClipRatio >= 0.5 && m.ClipRatio <= 2, "ClipRatio", m.ClipRatio,
			"a factor from ½ to 2 by which C changes from phase to phase, or 0 for none"),
		privacy.Within(m.Constants != Printed || !(m.Tolerance > m.Clip), "Tolerance", m.Tolerance,
			"at most Clip: the printed noise is for points as near as C/Λ"),
		privacy.Within(m.Constants == Exact || m.Constants == Printed, "Constants", int(m.Constants),
			"Exact or Printed")); err != nil {
		return err
	}
	if err := cmp.Or(privacy.Within(m.planned(m.Count) >= 1, "Records", m.Records,
		fmt.Sprintf("at least %.0f for a record in each of the %d blocks of phase %d, the last; fewer phases or "+
			"blocks help", math.Exp2(float64(m.Count))*float64(m.Blocks), m.Blocks, m.Count)),
		m.validate(m.bend)); err != nil {
		return err
	}
	for t := 1; t <= m.Count; t++ {
		p := m.within(nil, t)
		if err := (mechanism.Scales{{"Lambda of a phase", p.Lambda},
			{"noise of a phase", m.scale(p)}}).Check(); err != nil {
			return err
		}
	}
	return nil
}

// within is the problem of a block of phase t about a centre: over the ball of twice W's radius, which has W in it
// wherever in W the centre is. The extension is one over ℝᵈ.
func (m Phases) within(centre []float64, t int) Problem {
	clip := 1.0
	if m.ClipRatio != 0 {
		clip = math.Pow(m.ClipRatio, float64(t-1))
	}
	return Problem{Loss: m.Loss, Directions: m.Directions, Clip: m.Clip * clip, Radius: 2 * m.Radius, Centre: centre,
		Lambda: m.Lambda * math.Pow(m.Ratio/2, float64(t-1)), Tolerance: m.Tolerance * clip}
}

// scale returns the scale of the noise of one stage that solves p, rounded up.
func (m Phases) scale(p Problem) float64 {
	epsilon := m.Epsilon / m.stages()
	if m.Constants == Printed {
		return 6 * p.Clip / (p.Lambda * epsilon) * (1 + 0x1p-45)
	}
	return Output{Problem: p, Adjacency: m.Adjacency}.Sensitivity() / epsilon * (1 + 0x1p-45)
}

// Event implements mechanism.Mechanism: a record is in one block of one phase, whatever the others say, and the blocks
// of a phase depend on the others by the centre alone.
func (m Phases) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return privacy.Pure(m.Epsilon, m.Adjacency), nil
}

// Describe implements mechanism.Mechanism.
func (m Phases) Describe() mechanism.Description {
	name := "localised output perturbation, pure ε"
	if m.Double {
		name = "localised double output perturbation, pure ε"
	}
	return mechanism.Description{
		Name: name, Source: "Lowy 2026 (heavytail), Algorithms 1, 2 and 4",
		Adjacency: m.Adjacency, Bound: "isotropic Laplace noise at the sensitivity of a block's minimiser; every " +
			"record is in one block (docs/theory/localisation.md)",
		Assumptions: m.assumptions(m.Adjacency), Lambda: m.Lambda,
	}
}

// String describes the mechanism with its parameters.
func (m Phases) String() string {
	return fmt.Sprintf("%s (%v, T = %d phases of %d blocks, ridge ×%g, %v)", m.Describe().Name, &m.Problem, m.Count,
		m.Blocks, m.Ratio, m.Constants)
}

// Feasible implements mechanism.Mechanism: every block can be solved, however the draws fall; the tolerance can be
// reached with as many records as a block can have.
func (m Phases) Feasible(features, records int) error {
	return m.feasible(records, m.least(features))
}

// most is the largest number of n records that a block of phase t can have: where they are drawn, all of them.
func (m Phases) most(t, n int) int {
	if m.Adjacency == privacy.ReplaceOne {
		return (n>>(t-1)+t)/m.Blocks + 1
	}
	return n
}

// hardest is the problem of a second stage in phase t: it has the larger ball, farther out, and a linear part.
func (m Phases) hardest(t int) Problem {
	p := m.within([]float64{floats.Norm(m.Centre, 2) + 4*m.Radius}, t)
	p.Radius *= 2
	return p
}

// least returns the largest Problem.least of a block. What is linear in a second stage errs by 16uΛ times what the
// hardest has for the norm of its centre.
func (m Phases) least(features int) func(records int) float64 {
	return func(records int) (tolerance float64) {
		for t := 1; t <= m.Count; t++ {
			p := m.hardest(t)
			blur := 16.2 * u * p.Lambda * p.Centre[0]
			least := p.least(curve(p.Clip, 0, p.Lambda), features, m.most(t, records), blur)
			tolerance = max(tolerance, least*m.Clip/p.Clip)
		}
		return tolerance
	}
}

// Check implements mechanism.Mechanism: it looks at parameters and shapes alone.
func (m Phases) Check(rows matrix.Rows, labels []float64) error {
	return m.check(m, rows, labels)
}

// Run implements mechanism.Mechanism. It always releases.
func (m Phases) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	rows, labels = m.first(rows, labels)
	n, d := rows.Dims()
	draw := noise.Exact(src)
	blocks := m.blocks(n, draw)
	start := make([]float64, d)
	copy(start, m.Centre)
	centre := slices.Clone(start)
	for t := range m.Count {
		points := make([][]float64, m.Blocks)
		for j := range points {
			part, y := selected(rows, labels, blocks[t*m.Blocks+j])
			if points[j], err = m.block(part, y, m.within(centre, t+1), draw, settings.Value().Workers); err != nil {
				return nil, err
			}
		}
		centre = central(points)
		project(centre, start, m.Radius)
	}
	r.Coefficients, r.Tolerance = centre, m.Tolerance
	r.NoiseScale = m.scale(m.within(nil, m.Count)) * math.Sqrt(float64(d)+1)
	return r, nil
}

// blocks returns the records of every block, phase by phase. Under replace-one they are cut by position; under
// add/remove-one phase and block of each record are drawn for it: phase t with probability 2⁻ᵗ, the last with what is
// left, or by the printed rule nowhere.
func (m Phases) blocks(n int, draw *exact.Sampler) [][]int {
	blocks := make([][]int, m.Count*m.Blocks)
	if m.Adjacency == privacy.ReplaceOne {
		next := 0
		for t := 1; t <= m.Count; t++ {
			size := n >> t
			if t == m.Count && m.Constants == Exact {
				size = n - next
			}
			for i := range size {
				j := (t-1)*m.Blocks + i%m.Blocks
				blocks[j] = append(blocks[j], next+i)
			}
			next += size
		}
		return blocks
	}
	for i := range n {
		t := 1
		for t < m.Count && draw.Below(2) == 1 {
			t++
		}
		if t == m.Count && m.Constants == Printed && draw.Below(2) == 1 {
			continue
		}
		j := (t-1)*m.Blocks + draw.Below(m.Blocks)
		blocks[j] = append(blocks[j], i)
	}
	return blocks
}

// block returns a noisy minimiser of the problem over a block.
func (m Phases) block(rows matrix.Rows, labels []float64, p Problem, draw *exact.Sampler, workers int) ([]float64,
	error) {
	centre, d := p.Centre, len(p.Centre)
	bend, scale := curve(p.Clip, 0, p.Lambda), m.scale(p)
	xi := draw.IsotropicLaplace(d)
	w, err := p.minimise(bend, rows, labels, nil, 0, workers)
	if err != nil {
		return nil, err
	}
	xi.AddRounded(w, scale, exact.Grid(scale))
	if !m.Double {
		return w, nil
	}
	// The second stage: over a ball about w, with the ridge about the centre as before, (Λ/2)‖v − centre‖² = (Λ/2)‖v −
	// w‖² + Λ⟨w − centre, v⟩ + a constant.
	project(w, centre, p.Radius)
	p.Radius = min(m.localRadius(p, d), 2*p.Radius)
	p.Centre = w
	linear := make([]float64, d)
	floats.SubTo(linear, w, centre)
	floats.Scale(p.Lambda, linear)
	eta := 0x1p-50 * (floats.Norm(w, 2) + floats.Norm(centre, 2)) * p.Lambda // what linear is off by
	xi, scale = draw.IsotropicLaplace(d), m.scale(p)
	v, err := p.minimise(bend, rows, labels, linear, eta, workers)
	if err != nil {
		return nil, err
	}
	xi.AddRounded(v, scale, exact.Grid(scale))
	project(v, w, p.Radius)
	return v, nil
}

// localRadius is the radius of the ball about the first stage's point: as printed, or what noise and solver exceed with
// probability e⁻³.
func (m Phases) localRadius(p Problem, d int) float64 {
	if m.Constants == Printed {
		return 600 * p.Clip * float64(d) / (p.Lambda * m.Epsilon)
	}
	return p.reach() + m.scale(p)*mathext.GammaIncRegInv(float64(d), 1-math.Exp(-3))
}

// selected returns some of the records.
func selected(rows matrix.Rows, labels []float64, index []int) (matrix.Rows, []float64) {
	y := make([]float64, len(index))
	for k, i := range index {
		y[k] = labels[i]
	}
	return matrix.Select(rows, index), y
}

// central returns the point with the smallest distance within which more than half of all points are, the first of
// those that tie: it is near any point that most are near.
func central(points [][]float64) []float64 {
	best, at := math.Inf(1), 0
	distance := make([]float64, len(points))
	for i, p := range points {
		for j, q := range points {
			distance[j] = floats.Distance(p, q, 2)
		}
		slices.Sort(distance)
		if r := distance[len(points)/2]; r < best {
			best, at = r, i
		}
	}
	return slices.Clone(points[at])
}

// project moves w to the nearest point of the ball.
func project(w, centre []float64, radius float64) {
	if distance := floats.Distance(w, centre, 2); distance > radius {
		for j, c := range centre {
			w[j] = c + (w[j]-c)*(radius/distance)
		}
	}
}
