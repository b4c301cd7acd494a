package erm

// Method is a way to minimise a Problem. All methods stop at the same certificate and take the same Settings; they
// differ in what it costs. The methods are Auto, LBFGS, NewtonCG, SAG and SVRG.
type Method interface {
	// Name is how the method is called in tables and reports.
	Name() string
	// run searches until the certificate is good enough, the passes are spent or nothing is to be gained any more. It
	// returns a *DataError or nil.
	run(r *search) error
}

// Auto is the default. It chooses by n, d and sparsity: where the Hessian over a sample is worth factoring (d ≤ 200, or
// d³ not far above the number of entries), LBFGS with that metric; elsewhere LBFGS with a diagonal metric for at most
// 40 passes, which well-conditioned problems do not need, and then NewtonCG.
type Auto struct{}

// Name returns "auto".
func (Auto) Name() string { return "auto" }

func (Auto) run(r *search) error {
	if r.e.factorable() {
		return LBFGS{}.run(r)
	}
	m, done, err := r.steer()
	if done || err != nil || r.lbfgs(m, false) {
		return err
	}
	r.e.keepCurvature()
	if done, err := r.begin(); done || err != nil {
		return err
	}
	r.switched = true
	m.refresh(r.x)
	r.newton(m)
	return nil
}

// factorable says whether the metric can be the Hessian over a sample of some 20·d records for the price of about three
// passes, or is cheap at any rate, or has to be factored because of Q.
func (e *evaluator) factorable() bool {
	if e.q != nil {
		return e.size <= maxFactor
	}
	return e.d <= 200 || e.d <= maxFactor && 2*e.d*e.d*e.d <= 3*nonzeros(e.forms)
}

// wholePays says whether the Hessian over all records, with which each pass gains a hundredfold, takes less than the
// passes that it saves: of sparse rows, in multiplications by the kernels, an entry that is looked up in a pass costs
// some 32 and a loss some 40; a Hessian d²/2, and 12d for its rows. Of dense rows it is the same where they are stored.
func (r *search) wholePays() bool {
	n, d, entries := float64(r.e.n), float64(r.e.d), float64(nonzeros(r.e.forms))
	return r.e.k == 1 && entries < n*d && n*d*(d/2+12) <= 3*(40*n+32*entries)
}

// steer finds a start on a sample of the records, unless there is one, evaluates J there and returns a metric for what
// is left to do.
//
// The sample is solved by the same means, on a smaller sample first: the start is within the sampling error √(d/m) of
// the minimiser for the price of less than a pass, and the metric is taken where it will be used.
func (r *search) steer() (m metric, done bool, err error) {
	n := r.e.n
	size := sampleSize(n, r.e.d, nonzeros(r.e.forms))
	if r.e.k > 1 { // the forms together say more of a record, and a pass takes longer
		size = min(n, max(n/40, 40*r.e.d, minSample))
	}
	dense := r.e.factorable()
	if !dense {
		size = min(n, 2000)
	}
	sample, scale := r.sample(size)
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
		m = newPrimalMetric(sample, scale, r.e.penalty, r.e.workers, r.e.size <= maxWhole || r.e.q != nil)
		r.exact = scale == 1 && m.(*primalMetric).whole
	} else {
		m = newColumnMetric(sample, scale, r.e.penalty)
	}
	m.refresh(r.x)
	r.m = m
	return m, false, nil
}

// sample returns the problem over about so many records, and by how much its sums are to be scaled: all of them where
// they are few or in memory and hardly more. Of others, which may be more than memory holds, no more are taken than fit
// into a small part of it.
func (r *search) sample(size int) (p *Problem, scale float64) {
	n := r.e.n
	if !inMemory(r.e.forms) {
		size = min(size, max(minSample, sampleBytes/(8*r.e.d)))
		if size == n && r.e.source != nil {
			return r.p.sampled(n), 1
		}
	}
	if 3*size < n || size < n && r.e.source != nil {
		return r.p.sampled(size), float64(n) / float64(size)
	}
	return r.p, 1
}

// exactMetric returns the Hessian itself as a metric, nil if it cannot be had.
func (r *search) exactMetric() metric {
	switch n, size := r.e.n, r.e.size; {
	case n == 0:
	case size <= maxFactor && (size <= n || r.e.k > 1 || r.e.q != nil):
		return newPrimalMetric(r.p, 1, r.e.penalty, r.e.workers, true)
	case n <= min(size, maxFactor) && r.e.k == 1 && r.e.q == nil:
		sample, _ := r.sample(n)
		return newDualMetric(sample, r.e.ridge)
	}
	return nil
}
