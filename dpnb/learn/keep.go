package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/atomicfile"
	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/permit"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Of the files that Save writes. A version is raised when an older program could read a file wrongly.
const (
	keptFormat  = "dpnb model"
	keptVersion = 2
)

// Save writes a released model to a file, so that another cell, notebook or machine can Load it: to the last bit of
// every number, with its guarantee, the law of its noise and what it cost. What is in the file was released or is
// public, so it may go wherever the model may. The file is written in full or not at all, and replaces one of the same
// name.
//
// Errors: a fit without privacy, whose coefficients were not released and can give records away; no model; a file that
// cannot be written.
func (m *Model) Save(path string) error {
	content, err := m.encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, content)
}

// Load reads a model that Save has written. Its checksum detects accidental changes of the file, but anybody can
// compute a new one: a model is as trustworthy as whoever gave it to you.
//
// Errors: a file that is not there, is no model, was changed, or is of another version of the format.
func Load(path string) (*Model, error) {
	content, err := runlog.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("dpnb: %s", runlog.NoFile(path))
	}
	if err != nil {
		return nil, fmt.Errorf("dpnb: %w", err)
	}
	m, err := decode(content)
	if err != nil {
		return nil, fmt.Errorf("dpnb: %s: %w", filepath.Base(path), err)
	}
	return m, nil
}

// keptModel is a model in its file.
type keptModel struct {
	Learner, Title       string
	Target               string
	Probabilities, Apart bool
	// Hinge is Model.hinge.
	Hinge        loss.Softplus
	Levels       []float64
	Features     []string
	Coefficients []float64
	// Theta is Model.theta.
	Theta      []float64 `json:",omitempty"`
	Lambda     float64
	Guarantee  keptGuarantee
	Mechanism  string
	Tolerance  float64
	NoiseScale float64
	Noise      keptNoise
	// Ran is Model.ran, Fitted the release's; nil if it is the same.
	Ran, Fitted mechanism.Mechanism
	// Curvature and Scores are what was released of them, row by row from the diagonal on.
	Curvature, Scores []float64
	// Bought is what was bought of the geometry of the records, with the coefficients of the fit.
	Bought *geometry.Bought
	// Quantiles is what was released beside quantiles.
	Quantiles *sgd.Moments
	Warning   string
	Records   frame.Kept
	Source    provenance
	Paid      *payment
	// Edits are what was changed after the fit (Model.With): all else is of the model as it was released.
	Edits []edit `json:",omitempty"`
	// Calibration is Model.calibration.
	Calibration *calibration `json:",omitempty"`
	// HeldOut is Model.HeldOut.
	HeldOut float64 `json:",omitempty"`
	// Group is Model.group.
	Group *ofGroup `json:",omitempty"`
}

type keptGuarantee struct {
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
	// Rows of a person; 0 where each is one, and in older files also where one counts of each person, which is then in
	// the unit of what was paid.
	Rows        int
	Bound       string
	Assumptions []string
}

// keptNoise is where noise came from.
type keptNoise struct {
	Simulated, Seeded bool
	Seed              uint64
}

// provenance is what may be said of the records and of the program. The checksum and the number of rows are there of
// public files only.
type provenance struct {
	Data             string
	Public, Invented bool
	SHA256           string
	Rows             int
	Note             string
	Module           string
	// Person is the column that says whose row it is.
	Person string `json:",omitempty"`
	// Reading is that of the frame.Source; files of before have the texts that mean "missing" alone.
	Reading *keptReading `json:",omitempty"`
	Missing []string     `json:",omitempty"`
}

func provenanceOf(s frame.Source) provenance {
	p := provenance{Data: s.Name, Public: s.Public, Invented: s.Invented, SHA256: s.Checksum(), Note: s.Note,
		Module: moduleVersion(), Reading: (*keptReading)(s.Reading)}
	if s.Public {
		p.Rows = s.Rows
	}
	return p
}

// keptReading is how a file is read, in the file of a model.
type keptReading frame.CSVSettings

// MarshalJSON implements json.Marshaler.
func (r keptReading) MarshalJSON() ([]byte, error) { return json.Marshal(frame.CSVSettings(r)) }

// UnmarshalJSON implements json.Unmarshaler. A setting that this version does not know is refused.
func (r *keptReading) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode((*frame.CSVSettings)(r))
}

// payment is what a release was charged for, and of what.
type payment struct {
	Budget                     string
	BudgetEpsilon, BudgetDelta float64
	Adjacency                  privacy.Adjacency
	Entry                      ledger.Entry
}

// paid says what was charged: nil for a simulation.
func (a Allowance) paid(e ledger.Entry) *payment {
	if a.simulation {
		return nil
	}
	c := a.budget.ledger.Config()
	return &payment{c.Name, c.Epsilon, c.Delta, c.Adjacency, e}
}

// encode returns the file of m.
func (m *Model) encode() ([]byte, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	edits, calibrated := m.edits, m.calibration
	if m.base != nil {
		m = m.base
	}
	r := m.release
	if r == nil || m.ran == nil {
		return nil, errors.New("dpnb: only released models are kept (Fit): this fit is without privacy, and its " +
			"coefficients can give individual records away")
	}
	g := r.Guarantee
	k := keptModel{
		Learner: m.learner, Title: m.title, Target: m.target.Name, Probabilities: m.probabilities, Apart: m.apart,
		Hinge: m.hinge, Levels: m.levels, Features: m.features, Coefficients: m.coefficients, Theta: m.theta,
		Lambda:    m.lambda,
		Guarantee: keptGuarantee{g.Epsilon, g.Delta, g.Adjacency, g.Rows, g.Bound, g.Assumptions},
		Mechanism: r.Mechanism, Tolerance: r.Tolerance, NoiseScale: r.NoiseScale, Ran: m.ran, Warning: m.dataWarning,
		Records: m.encoding.Kept(), Source: m.source, Paid: m.paid, Edits: edits,
		Calibration: calibrated, HeldOut: m.HeldOut, Group: m.group,
	}
	k.Noise.Simulated = r.Simulated()
	k.Noise.Seed, k.Noise.Seeded = r.Seed()
	if c, ok := m.Curvature(); ok {
		k.Curvature, k.Scores = triangle(c.Hessian), triangle(c.Scores)
	}
	k.Quantiles, _ = m.moments()
	if b := m.bought(); b != nil {
		alone := *b
		alone.Also = nil
		k.Bought = &alone
	}
	c := mechanisms()
	ran, err := c.Marshal(m.ran)
	if err != nil {
		return nil, err
	}
	fitted, err := c.Marshal(r.Fitted)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(ran, fitted) || fmt.Sprintf("%T", m.ran) != fmt.Sprintf("%T", r.Fitted) {
		k.Fitted = r.Fitted
	}
	text, err := c.Marshal(k)
	if err != nil {
		return nil, err
	}
	version := keptVersion
	if !m.scaledFromPositive() {
		version = 1
	}
	content, err := checksum.Seal(keptFormat, version, text)
	if err == nil {
		_, err = decode(content) // while there is still a model to be had
	}
	return content, err
}

// decode returns the model of a file.
func decode(content []byte) (*Model, error) {
	text, version, err := checksum.Unseal(keptFormat, keptVersion, content)
	if errors.Is(err, checksum.ErrChanged) {
		err = fmt.Errorf("%w, so that neither its numbers nor its guarantee can be relied on; get it anew from where "+
			"it came from", err)
	}
	if err != nil && bytes.Contains(content, []byte(strconv.Quote(exportFormat))) {
		err = errors.New("it is an exported model, by which other programs predict: name the file that Save, or dpnb " +
			"fit, has written")
	}
	if err != nil {
		return nil, err
	}
	var k keptModel
	if err := mechanisms().Unmarshal(text, &k); err != nil {
		return nil, fmt.Errorf("the file was written by a version of the module that says more than this one "+
			"understands: %w", err)
	}
	m, err := k.model()
	if err == nil && version == 1 && m.scaledFromPositive() {
		return nil, errors.New("the model has a logarithmic scale with a positive lower bound, which another version " +
			"of the module took for another scale: fit it again, or use that version")
	}
	return m, err
}

// scaledFromPositive reports whether m reads a number on a logarithmic scale from a positive bound: before version 2 of
// the file that was ln(1 + x − lower).
func (m *Model) scaledFromPositive() bool {
	k := m.encoding.Kept()
	return slices.ContainsFunc(append(k.Fields, k.Label), func(f frame.Field) bool { return f.Log && f.Lower > 0 })
}

func (k keptModel) model() (*Model, error) {
	e, err := k.Records.Encoding()
	if err != nil {
		return nil, err
	}
	forms := max(1, len(k.Levels))
	if e.Target.Task == frame.ManyClasses {
		forms = len(e.Target.Classes)
	}
	if k.Fitted == nil {
		k.Fitted = k.Ran
	}
	if err := k.valid(); err != nil {
		return nil, err
	}
	var also any
	if b, ok := k.Fitted.(additive.Boosting); ok {
		if b.Validate() != nil || e != e.Plain() || !slices.Equal(b.Columns, columnsOf(e)) {
			return nil, errors.New("the model's columns are not those of its records")
		}
		also = &b.Cells
	}
	features, _ := shown(e, make([]float64, len(e.Features)), also)
	if k.Bought != nil && !(k.Bought.Fits(len(e.Features), forms) && detailOf(e, k.Bought)) ||
		e.Centred() && k.Bought == nil && len(k.Theta) != forms*len(e.Features) ||
		!slices.Equal(k.Features, features) || len(k.Coefficients) != forms*len(k.Features) ||
		e.Target.Name != k.Target {
		return nil, errors.New("the model's coefficients are not for the features of its records")
	}
	m := &Model{
		encoding: e, learner: k.Learner, title: k.Title, target: e.Target, probabilities: k.Probabilities,
		apart: k.Apart, levels: k.Levels, coefficients: k.Coefficients, theta: k.Theta, features: features,
		hinge: k.Hinge, dataWarning: k.Warning,
		lambda: k.Lambda, ran: k.Ran, paid: k.Paid, source: k.Source, HeldOut: k.HeldOut, group: k.Group,
	}
	if texts := k.Source.Missing; texts != nil {
		m.source.Missing, m.source.Reading = nil, &keptReading{Missing: texts}
	}
	if k.Paid != nil {
		m.partition = k.Paid.Entry.Partition
	}
	g := k.Guarantee
	if g.Rows == 0 && k.Paid != nil && k.Paid.Entry.Unit != "" {
		g.Rows = 1
	}
	r := &mechanism.Release{
		Coefficients: k.Coefficients, Mechanism: k.Mechanism, Tolerance: k.Tolerance, NoiseScale: k.NoiseScale,
		Fitted: k.Fitted,
		Guarantee: mechanism.Guarantee{Epsilon: g.Epsilon, Delta: g.Delta, Adjacency: g.Adjacency, Rows: g.Rows,
			Bound: g.Bound, Assumptions: g.Assumptions,
			Profile: privacy.Lazy(g.Adjacency, func() (privacy.Profile, error) {
				return mechanism.Profile(k.Ran)
			})},
	}
	m.unproved = sync.OnceValue(func() string {
		d := privacy.DeltaUpper(r.Guarantee.Profile, g.Epsilon)
		if !(d <= g.Delta*(1+1e-6)) {
			return fmt.Sprintf("THE GUARANTEE IS NOT PROVED: by this version of the module its mechanism has δ = %s "+
				"at this ε.", privacy.FormatUp(d, 3))
		}
		return ""
	})
	src := k.Noise.source()
	r.Stamp(permit.New(), src)
	coefficients := k.Coefficients // of the fit
	if k.Theta != nil {
		coefficients = k.Theta
	}
	if k.Bought != nil {
		coefficients = k.Bought.Raw
	}
	if fit, ok := perturbationOf(k.Fitted); ok {
		if err := fit.Penalty.Check(len(coefficients)); err != nil {
			return nil, fmt.Errorf("no fit can have released the model: %w", err)
		}
	}
	if k.Curvature != nil {
		c, ok := k.Fitted.(interval.Curvature)
		if !ok {
			return nil, errors.New("the model has a curvature that its mechanism did not release")
		}
		hessian, err := symmetric(k.Curvature, len(coefficients))
		if err != nil {
			return nil, err
		}
		scores, err := symmetric(k.Scores, len(coefficients))
		if err != nil {
			return nil, err
		}
		r.Also = c.Released(permit.New(), hessian, scores, src)
	}
	if k.Bought == nil && k.Quantiles == nil && r.Also == nil {
		r.Also = also
	}
	if k.Quantiles != nil {
		c, ok := k.Fitted.(sgd.Curvature)
		d := len(coefficients) / max(1, len(c.Fit.Levels))
		if !ok || c.Within(d) != nil || !k.Quantiles.Fits(len(c.Fit.Levels), d) {
			return nil, errors.New("the model has moments that its mechanism did not release")
		}
		r.Also = k.Quantiles
	}
	if k.Bought != nil {
		k.Bought.Also = r.Also
		r.Also = k.Bought
	}
	m.keep(r)
	if len(k.Edits) > 0 {
		if m, err = m.edited(k.Edits); err != nil {
			return nil, err
		}
	}
	if c := k.Calibration; c != nil {
		if !c.valid() || !m.probabilities || m.target.Task != frame.TwoClasses {
			return nil, errors.New("the model's calibration is not one")
		}
		m.calibration = c
	}
	return m, nil
}

// valid refuses mechanisms that could not have run, and a guarantee that no fit has.
func (k keptModel) valid() error {
	if k.Ran == nil {
		return errors.New("the model says of no mechanism that it was fitted by it")
	}
	if err := errors.Join(k.Ran.Validate(), k.Fitted.Validate()); err != nil {
		return fmt.Errorf("no fit can have released the model: %w", err)
	}
	if k.Group != nil && !k.Group.valid() {
		return errors.New("the model is of a group that its column does not have")
	}
	g, d := k.Guarantee, k.Ran.Describe()
	if !(g.Epsilon > 0 && g.Delta >= 0 && g.Delta < 1 && g.Rows >= 0 && g.Adjacency == d.Adjacency) {
		return errors.New("the model promises what is no guarantee of its mechanism")
	}
	return nil
}

// detailOf reports whether the products and cells of b are of rows that e makes.
func detailOf(e *frame.Encoding, b *geometry.Bought) bool {
	scales := e.Scales()
	for _, n := range b.Cells {
		if !slices.Contains(scales, frame.Scale(n)) {
			return false
		}
	}
	return len(b.Pairs) == 0 || slices.Equal(b.Pairs, e.Blocks())
}

// source returns a source such as the noise came from; nothing is drawn from it.
func (n keptNoise) source() noise.Source {
	switch {
	case !n.Simulated:
		return noise.NewSecure()
	case n.Seeded:
		return noise.NewSeeded(n.Seed)
	}
	return unknownSource{}
}

// unknownSource is a simulation's without a seed.
type unknownSource struct{ noise.Source }

func (unknownSource) Seed() (uint64, bool) { return 0, false }

// triangle returns the upper triangle of a matrix, row by row; nil for nil.
func triangle(m *mat.SymDense) []float64 {
	if m == nil {
		return nil
	}
	var out []float64
	for i := range m.SymmetricDim() {
		for j := i; j < m.SymmetricDim(); j++ {
			out = append(out, m.At(i, j))
		}
	}
	return out
}

// symmetric returns the d×d matrix of an upper triangle; nil for nil.
func symmetric(upper []float64, d int) (*mat.SymDense, error) {
	if upper == nil {
		return nil, nil
	}
	if len(upper) != d*(d+1)/2 {
		return nil, fmt.Errorf("a matrix of %d numbers is not %d×%d", len(upper), d, d)
	}
	m := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			m.SetSym(i, j, upper[0])
			upper = upper[1:]
		}
	}
	return m, nil
}
