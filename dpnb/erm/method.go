package erm

// Method is a way to minimise a Problem. All methods stop at the same
// certificate and take the same Settings; they differ in what it costs.
// The methods are LBFGS, NewtonCG, SAG and SVRG.
type Method interface {
	// Name is how the method is called in tables and reports.
	Name() string
	// run searches until the certificate is good enough, the passes are spent or
	// nothing is to be gained any more. It returns a *DataError or nil.
	run(r *search) error
}

// Choose returns the method that Minimize takes if Settings name none: LBFGS,
// except for wide sparse problems, whose curvature cannot be factored, where
// products with it are cheap and NewtonCG needs less memory for directions.
func Choose(p *Problem) Method {
	n, d := p.Rows.Dims()
	if d > maxFactor && n > maxFactor && 2*nonzeros(p.Rows) < n*d {
		return NewtonCG{}
	}
	return LBFGS{}
}

// factorable says whether the Hessian over a sample is worth factoring: d³/3
// multiplications against those of some thirty passes.
func factorable(p *Problem) bool {
	_, d := p.Rows.Dims()
	return d <= maxFactor && d*d <= 300*nonzeros(p.Rows)/d
}

// steer finds a start on a sample of the records, unless there is one, evaluates
// J there and returns a metric for what is left to do.
//
// The sample is solved by the same means, on a smaller sample first: the start
// is within the sampling error √(d/m) of the minimiser for the price of less
// than a pass, and the metric is taken where it will be used.
func (r *search) steer() (m metric, done bool, err error) {
	n, d := r.e.n, r.e.d
	size := sampleSize(n, d)
	dense := factorable(r.p)
	if !dense {
		size = min(n, 2000)
	}
	sample, scale := r.p, 1.0
	if 3*size < n {
		sample, scale = r.p.sampled(size), float64(n)/float64(size)
	}
	if sample != r.p && dense && r.s.Start == nil {
		s := newSearch(sample, Settings{MaxPasses: 100, Workers: r.s.Workers})
		s.rough = true
		if err := (LBFGS{}).run(s); err != nil {
			return nil, false, err
		}
		r.sampled = true
		r.extra += s.e.gradients + s.extra
		copy(r.x, s.best.Theta)
	}
	done, err = r.begin()
	if done || err != nil {
		return nil, done, err
	}
	if dense {
		m = newPrimalMetric(sample, scale, r.p.Ridge, r.e.workers)
		r.exact = sample == r.p
	} else {
		m = newDiagonalMetric(sample, scale, r.p.Ridge)
	}
	m.refresh(r.x)
	return m, false, nil
}

// exactMetric returns the Hessian itself as a metric, nil if it cannot be had.
func (r *search) exactMetric() metric {
	switch n, d := r.e.n, r.e.d; {
	case min(n, d) > maxFactor:
		return nil
	case d <= n:
		return newPrimalMetric(r.p, 1, r.p.Ridge, r.e.workers)
	default:
		return newDualMetric(r.p)
	}
}
