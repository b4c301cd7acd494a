package mechanism_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// call is a run of a whole mechanism, to be tampered with.
type call struct {
	records int
	src     noise.Source
	mechanism.Settings
	run func(src noise.Source) (*mechanism.Release, error)
}

// broken is output perturbation that keeps to the contract but for what is set.
type broken struct {
	objpert.Output
	validate func() error
	check    func(rows matrix.Rows, labels []float64) error
	runs     func(c call) (*mechanism.Release, error)
	event    func(e privacy.Event) (privacy.Event, error)
	describe func(d *mechanism.Description)
}

func (b broken) Validate() error {
	if b.validate != nil {
		return b.validate()
	}
	return b.Output.Validate()
}

func (b broken) Check(rows matrix.Rows, labels []float64) error {
	if b.check != nil {
		return b.check(rows, labels)
	}
	return b.Output.Check(rows, labels)
}

func (b broken) Run(
	rows matrix.Rows, labels []float64, src noise.Source, s *mechanism.Settings,
) (*mechanism.Release, error) {
	run := func(src noise.Source) (*mechanism.Release, error) { return b.Output.Run(rows, labels, src, s) }
	if b.runs != nil {
		n, _ := rows.Dims()
		return b.runs(call{n, src, s.Value(), run})
	}
	r, err := run(src)
	if err == nil && b.describe != nil { // however wrong, the release says what the description does
		d := b.Describe()
		r.Guarantee.Adjacency, r.Guarantee.Bound, r.Guarantee.Assumptions = d.Adjacency, d.Bound, d.Assumptions
	}
	return r, err
}

func (b broken) Event() (privacy.Event, error) {
	e, err := b.Output.Event()
	if err == nil && b.event != nil {
		return b.event(e)
	}
	return e, err
}

func (b broken) Describe() mechanism.Description {
	d := b.Output.Describe()
	if b.describe != nil {
		b.describe(&d)
	}
	return d
}

// costing returns a mechanism whose event has the noise times factor.
func costing(factor float64) broken {
	return broken{event: func(e privacy.Event) (privacy.Event, error) {
		g := e.(privacy.Gaussian)
		g.Sigma *= factor
		return g, nil
	}}
}

func checking(f func(rows matrix.Rows, labels []float64) error) broken { return broken{check: f} }
func running(f func(c call) (*mechanism.Release, error)) broken        { return broken{runs: f} }
func saying(f func(d *mechanism.Description)) broken                   { return broken{describe: f} }

// afterwards tampers with what was released.
func afterwards(f func(r *mechanism.Release, c call)) broken {
	return running(func(c call) (*mechanism.Release, error) {
		r, err := c.run(c.src)
		if err == nil {
			f(r, c)
		}
		return r, err
	})
}

// breaches are ways to break each property of the contract.
var breaches = [...]map[string]broken{
	{
		"it validates nothing": {validate: func() error { return nil }},
	}, {
		"it checks nothing": checking(func(matrix.Rows, []float64) error { return nil }),
		"it draws, then checks": running(func(c call) (*mechanism.Release, error) {
			if c.src != nil {
				c.src.Uint64()
			}
			return c.run(c.src)
		}),
		"it makes a source where it is given none": running(func(c call) (*mechanism.Release, error) {
			if c.src == nil {
				c.src = noise.NewSecure()
			}
			return c.run(c.src)
		}),
		"it charges, then checks": running(func(c call) (*mechanism.Release, error) {
			if c.Charge != nil {
				_ = c.Charge()
			}
			return c.run(c.src)
		}),
	}, {
		"it draws, then charges": running(func(c call) (*mechanism.Release, error) {
			c.src.Uint64()
			return c.run(c.src)
		}),
		"it releases what nobody pays for": running(func(c call) (*mechanism.Release, error) {
			r, err := c.run(c.src)
			if c.Charge != nil && errors.Is(err, c.Charge()) {
				return &mechanism.Release{Coefficients: make([]float64, 2)}, nil
			}
			return r, err
		}),
	}, {
		"it releases what it has": running(func(c call) (*mechanism.Release, error) {
			r, err := c.run(c.src)
			if errors.Is(err, erm.ErrTolerance) {
				r = &mechanism.Release{Coefficients: make([]float64, 2)}
			}
			return r, err
		}),
		"it says how many records were too many": running(func(c call) (*mechanism.Release, error) {
			r, err := c.run(c.src)
			if errors.Is(err, erm.ErrTolerance) {
				err = fmt.Errorf("%d records: %w", c.records, err)
			}
			return r, err
		}),
	}, {
		"it adds by workers": afterwards(func(r *mechanism.Release, c call) {
			r.Coefficients[0] *= 1 + 0x1p-52*float64(c.Workers)
		}),
	}, {
		"it hides its seed": running(func(c call) (*mechanism.Release, error) {
			r, err := c.run(c.src)
			if err == nil {
				secure, _ := c.run(noise.NewSecure())
				secure.Coefficients, r = r.Coefficients, secure
			}
			return r, err
		}),
		"it repeats itself": afterwards(func(r *mechanism.Release, c call) {
			if !noise.Simulated(c.src) {
				clear(r.Coefficients)
			}
		}),
	}, {
		"it needs two classes": checking(func(_ matrix.Rows, labels []float64) error {
			for i := range labels {
				if labels[i] != labels[0] {
					return nil
				}
			}
			return &matrix.DataError{Text: "one class only"}
		}),
		"it fails for few": running(func(c call) (*mechanism.Release, error) {
			if c.records < 2 {
				return nil, errors.New("too few records")
			}
			return c.run(c.src)
		}),
		"it tells how many they were": afterwards(func(r *mechanism.Release, c call) {
			r.Mechanism = fmt.Sprint(r.Mechanism, c.records)
		}),
		"its tolerance is of the records": afterwards(func(r *mechanism.Release, c call) {
			r.Tolerance += float64(
				c.records)
		}),
	}, {
		"it costs more than it says":    costing(0.999),
		"it costs a tenth less":         costing(1.1),
		"it costs a little less":        costing(1.03),
		"the release says another cost": costing(1.0001),
	}, {
		"it has no name":              saying(func(d *mechanism.Description) { d.Name = "" }),
		"it has no paper":             saying(func(d *mechanism.Description) { d.Source = "" }),
		"it has no year":              saying(func(d *mechanism.Description) { d.Source = "somebody" }),
		"it has no theorem":           saying(func(d *mechanism.Description) { d.Bound = " " }),
		"it has no proof":             saying(func(d *mechanism.Description) { d.Bound = "docs/theory/nowhere.md" }),
		"it has no adjacency":         saying(func(d *mechanism.Description) { d.Adjacency = 0 }),
		"it assumes nothing":          saying(func(d *mechanism.Description) { d.Assumptions = nil }),
		"it says nothing of the norm": saying(func(d *mechanism.Description) { d.Assumptions = d.Assumptions[1:] }),
		"it says nothing of parameters": saying(func(d *mechanism.Description) {
			d.Assumptions = slices.Delete(
				d.Assumptions, 1, 2)
		}),
	},
}

// Every property of the contract can fail.
func TestTheContractCanBeBroken(t *testing.T) {
	testscale.Slow(t)
	var whole tenant
	for _, c := range tenants(t) {
		if c.name == "output" {
			whole = c
		}
	}
	with := func(b broken) tenant {
		b.Output = whole.m.(objpert.Output)
		c := whole
		c.m = b
		return c
	}
	for i, p := range contract {
		if err := p.check(with(broken{})); err != nil {
			t.Errorf("nothing is broken, and “%s” says: %v", p.name, err)
		}
		for name, b := range breaches[i] {
			if p.check(with(b)) == nil {
				t.Errorf("%s: “%s” has nothing against it", name, p.name)
			}
		}
	}
}
