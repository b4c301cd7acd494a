package dtz24

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim/population"
	"github.com/dpnb/notebooks/dpnb/theory/proportional"
)

// plainKappa is the signal of the fits without ridge and privacy: Candès and Sur's.
var plainKappa = math.Sqrt(5)

func plainLogistic(ratio float64) proportional.FixedPoint {
	return measure.Must(proportional.Classification{Loss: loss.Logistic{}, Link: proportional.LogisticLink{},
		AspectRatio: ratio, Kappa: plainKappa}.Solve(nil))
}

// PlainFigure draws the coefficients of one logistic fit to n × d records without ridge and privacy against the true
// ones, with the slope that theory gives them.
func PlainFigure(n, d int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	people := population.Population{Records: n, Features: d, Design: population.Rademacher,
		Signal: population.Normal(0, plainKappa), Prob: population.Logistic}
	s := people.Draw(noise.NewSeeded(seed), nil)
	var solver population.Solver
	beta := measure.Must(solver.Minimize(&erm.Problem{Rows: s.Rows, Labels: s.Labels, Loss: loss.Logistic{},
		Lambda: 1e-6}, 1e-4))
	p := plainLogistic(float64(d) / float64(n))
	f := figure.New(fmt.Sprintf("A plain logistic fit: %d records, %d features", n, d), "true coefficient",
		"estimated coefficient")
	ends := []float64{-8, 8}
	f.Dots("", s.Signal, beta, figure.Gray).Line("truth", ends, ends, figure.Orange)
	f.Line(fmt.Sprintf("theory, slope %.2f", p.Alpha), ends, []float64{-8 * p.Alpha, 8 * p.Alpha}, figure.Blue)
	f.Alt = fmt.Sprintf("A wide cloud of dots about a line of slope %.2f, steeper than the diagonal", p.Alpha)
	return f.XRange(-8, 8).YRange(-14, 14), nil
}

// PlainFigures draw α and σ of plain logistic fits over d/n: theory, simulated fits to 400 records, and the textbook's
// α = 1 and σ² = (d/n)/Eρ″(κZ).
func PlainFigures(repetitions int, seed uint64) (_ []*figure.Figure, err error) {
	defer measure.Catch(&err)
	information := 0.0 // E ρ″(κZ), by a sum
	for _, z := range figure.Span(-10, 10, 2000) {
		q := population.Logistic(plainKappa * z)
		information += 0.01 * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * q * (1 - q)
	}
	ratio := figure.Span(0.005, 0.25, 40)
	var alpha, sigma []float64
	for _, r := range ratio {
		p := plainLogistic(r)
		alpha, sigma = append(alpha, p.Alpha), append(sigma, p.Sigma)
	}
	var at, slope, spread []float64
	for _, d := range []int{8, 20, 40, 60, 80} {
		r := simulated(context.Background(), classified(400, d, plainKappa),
			population.ObjectivePerturbation{Loss: loss.Logistic{}, Lambda: 1e-4}, repetitions, seed)
		at, slope = append(at, r.AspectRatio), append(slope, r.Of(0, population.Overlap).Mean/5)
		spread = append(spread, math.Sqrt(r.Of(0, population.Variance).Mean))
	}
	one := figure.Values(ratio, func(float64) float64 { return 1 })
	fisher := figure.Values(ratio, func(r float64) float64 { return math.Sqrt(r / information) })
	return []*figure.Figure{figure.New("How much too large the coefficients are", "features per record d/n",
		"slope α").Line("theory", ratio, alpha, figure.Blue).Dots("", at, slope, figure.Blue).Dashed("textbook",
		ratio, one, figure.Orange).YRange(0.8, 2), figure.New("How far they scatter around α·truth",
		"features per record d/n", "scatter σ").Line("theory", ratio, sigma, figure.Blue).Dots("", at, spread,
		figure.Blue).Dashed("textbook", ratio, fisher, figure.Orange)}, nil
}

// LawFigure draws the law of a coefficient of a private fit with the Huber loss, 400 records and 200 features, whose
// signal is the paper's mixed example: theory over a histogram of simulated fits.
func LawFigure(repetitions int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	const c, lambda, nu = 0.5, 0.3, 0.5
	edges, x := figure.Span(-7, 7, 56), figure.Span(-7, 7, 280)
	r := measure.Must(population.Simulation{Population: regressed(400, 200, population.Mixed(c), population.Normal(0,
		Noise)), Estimator: population.ObjectivePerturbation{Loss: loss.Huber{Threshold: 1}, Lambda: lambda, Nu: nu},
		Repetitions: repetitions, Seed: seed, Edges: edges}.Run(context.Background()))
	p := measure.Must(proportional.Regression{Loss: loss.Huber{Threshold: 1}, AspectRatio: 0.5, Lambda: lambda, Nu: nu,
		Kappa: c * math.Sqrt(15), Noise: proportional.Normal(0, Noise)}.Solve(nil))
	var bars []float64
	for i, s := range r.Histogram() {
		bars = append(bars, s.Mean/(edges[i+1]-edges[i]))
	}
	prior := mixedLaw(c)
	f := figure.New("Law of a private coefficient: Huber loss, 400 records, 200 features", "coefficient", "density")
	f.Bars(edges, bars, figure.Gray)
	f.Line("", x, figure.Values(x, func(t float64) float64 { return p.Density(prior, t) }), figure.Blue)
	f.Note("theory", 0.8, 0.35, figure.Blue).Note("simulated fits", -6.5, 0.08, figure.Gray)
	f.Alt = "A curve with a bump at zero and low, wide shoulders, which runs along the tops of the bars"
	return f.YRange(0, 0.55), nil
}

// LossFigures draw Figures 1 and 2.
func LossFigures() []*figure.Figure {
	draw := func(title, x string, graphs []Graph, names ...string) *figure.Figure {
		f := figure.New(title, x, "value")
		for k, g := range graphs {
			f.Line(names[k], g.X, g.Y, []figure.Color{figure.Blue, figure.Orange, figure.Green, figure.Purple}[k])
		}
		return f
	}
	return []*figure.Figure{
		draw("Figure 1: the Huber loss, L = 1", "residual", Figure1(), "loss H", "slope H′", "curvature H″"),
		draw("Figure 2: the logistic loss, γ = 3", "t", Figure2(), "loss ρ", "slope ρ′", "curvature ρ″", "prox")}
}

// look is how a pair of panels, without privacy (dashed) and with it, is drawn.
type look struct {
	title, quantity string
	lo, hi          float64
	ticks           []float64 // of a logarithmic axis; nil is a linear one
}

var looks = map[int][2]look{
	3: {{"Figure 3: Huber loss, error. Dashed ν = 0, solid ν = 1/5", "squared error", 0.001, 1500,
		[]float64{0.001, 0.01, 0.1, 1, 10, 100, 1000}},
		{"Figure 3: Huber loss, residuals of the training records. Dashed ν = 0, solid ν = 1/5", "squared residual",
			5e-5,
			1, []float64{1e-4, 0.001, 0.01, 0.1, 1}}},
	4: {{"Figure 4: logistic loss, error. Dashed ν = 0, solid ν = 1/5", "squared error", 0.1, 10,
		[]float64{0.1, 0.3, 1, 3, 10}},
		{"Figure 4: fitted against true probabilities. Dashed ν = 0, solid ν = 1/5", "squared difference", 0, 0.13,
			nil}},
	5: {{"Figure 5: output perturbation, Huber loss. Dashed ν = 0, solid ν = 1/2", "squared error", 0.001, 3,
		[]float64{0.001, 0.01, 0.1, 1}},
		{"Figure 5: output perturbation, logistic loss. Dashed ν = 0, solid ν = 1/2", "squared error", 0, 3, nil}},
	6: {{"Figure 6: noisy descent, Huber loss. Dashed ν = 0, solid ν = 1/10", "squared error", 0.01, 1000,
		[]float64{0.01, 0.1, 1, 10, 100, 1000}},
		{"Figure 6: noisy descent, logistic loss. Dashed ν = 0, solid ν = 1/10", "squared error", 0, 1.2, nil}},
}

// DrawFigure computes Figure 3, 4, 5 or 6 and draws its four panels into two figures: lines are theory, dots simulated.
// The text says which dots are far from their lines.
func DrawFigure(number int, scale Scale) (f []*figure.Figure, off string, err error) {
	p, err := figureOf(context.Background(), number, scale)
	if err != nil {
		return nil, "", err
	}
	for k, l := range looks[number] {
		f = append(f, l.overlay(p[2*k], p[2*k+1]))
	}
	return f, Off(p), nil
}

// overlay draws a panel without privacy (dashed) and one with it; dots are simulated.
func (l look) overlay(without, with Panel) *figure.Figure {
	f := figure.New(l.title, "n / (n + d)", l.quantity).XRange(0, 1).YRange(l.lo, l.hi)
	if l.ticks != nil {
		f.LogY(l.ticks...)
	}
	for k := range with.Curves {
		c := []figure.Color{figure.Blue, figure.Green, figure.Orange, figure.Purple}[k]
		for _, p := range []Panel{without, with} {
			curve := p.Curves[k]
			if p.Nu == 0 {
				f.Dashed("", curve.Theory.X, curve.Theory.Y, c)
			} else {
				f.Line(curve.Name, curve.Theory.X, curve.Theory.Y, c)
			}
			var x, y []float64
			for _, d := range curve.Dots {
				x, y = append(x, d.Share), append(y, d.Simulated.Mean)
			}
			f.Dots("", x, y, c)
		}
		at := func(p Panel) string {
			y := p.Curves[k].Theory.Y
			return fmt.Sprintf("%.2g, %.2g and %.2g", y[0], y[len(y)/2], y[len(y)-1])
		}
		f.Alt += fmt.Sprintf("%s: %s at the left, in the middle and at the right, without privacy %s; ",
			with.Curves[k].Name, at(with), at(without))
	}
	f.Alt += "the dots lie on the lines, but for those that the text lists"
	return f
}

// Off says how many dots are far from their lines: by more than 4 standard errors, which is not chance, or by more than
// 10 %, which matters; and lists those that are both.
func Off(panels []Panel) string {
	var of agreement
	both := ""
	eachDot(panels, func(p Panel, c Curve, d Dot) {
		if of.add(d) {
			both += fmt.Sprintf("\n  %s, %s, %d×%d: simulated %.3g, predicted %.3g", p.Title, c.Name, d.Records,
				d.Features, d.Simulated.Mean, d.Predicted)
		}
	})
	if both == "" {
		both = " none"
	}
	return fmt.Sprintf("%d dots: %d are farther than 4 standard errors from the prediction, %d farther than 10 %%; by "+
		"both:%s", of.dots, of.errors, of.percent, both)
}

// SmallRidge is a family of fits with the Huber loss over n/(n + d), whose ridge is small: κ = 1, noise N(0, (1/5)²).
type SmallRidge struct {
	Threshold, Lambda float64
	Nus               []float64
	// Entries is n·d of the simulated fits.
	Entries int
	// Best adds the best ridge, dashed.
	Best bool
}

// Figure draws theory over means of simulated fits.
func (d SmallRidge) Figure(title string, repetitions int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	f := figure.New(title, "n / (n + d)", "squared error").LogY(0.01, 0.1, 1, 10, 100, 1000, 10_000)
	share := append(figure.Span(0.04, 0.96, 92), 0.49, 0.495, 0.505, 0.51) // a spike is narrow
	slices.Sort(share)
	for k, nu := range d.Nus {
		c := []figure.Color{figure.Gray, figure.Blue, figure.Orange}[k]
		solve := func(ratio, lambda float64) (float64, error) {
			p, err := proportional.Regression{Loss: loss.Huber{Threshold: d.Threshold}, AspectRatio: ratio,
				Lambda: lambda, Nu: nu, Kappa: 1, Noise: proportional.Normal(0, Noise)}.Solve(nil)
			return p.MSE(), err
		}
		var line, best, x, y []float64
		for _, s := range share {
			v := measure.Must(solve((1-s)/s, d.Lambda))
			line = append(line, v)
			least := v
			for _, l := range figure.Geometric(0.003, 30, 48) {
				if !d.Best {
					break
				}
				least = min(least, measure.Must(solve((1-s)/s, l)))
			}
			best = append(best, least)
		}
		for _, s := range figure.Span(0.1, 0.9, 8) {
			n := int(math.Round(math.Sqrt(float64(d.Entries) * s / (1 - s))))
			people := regressed(n, int(math.Round(float64(d.Entries)/float64(n))), population.Normal(0, 1),
				population.Normal(0, Noise))
			r := simulated(context.Background(), people, population.ObjectivePerturbation{
				Loss: loss.Huber{Threshold: d.Threshold}, Lambda: d.Lambda, Nu: nu}, repetitions, seed)
			x, y = append(x, 1/(1+r.AspectRatio)), append(y, r.Of(0, population.MSE).Mean)
		}
		f.Line("", share, line, c).Note(fmt.Sprintf("ν = %g", nu), share[8], 0.4*line[8], c).Dots("", x, y, c)
		if d.Best {
			f.Dashed("", share, best, c)
			f.Alt += fmt.Sprintf("With the best ridge at most %.2g. ", slices.Max(best))
		}
		peak := slices.Max(line)
		f.Alt += fmt.Sprintf("ν = %g: %.2g at the left end, at most %.2g, at %.2f, %.2g at the right end. ", nu,
			line[0], peak, share[slices.Index(line, peak)], line[len(line)-1])
	}
	return f.XRange(0, 1), nil
}

// UniversalityFigure draws the squared error of simulated fits to rows of every design, as intervals of two standard
// errors about their mean, beside what theory says for all of them. Elliptical rows, whose entries are not independent,
// are not covered by it.
func UniversalityFigure(kind Kind, records, features, repetitions int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	var names []string
	var lo, mid, hi []float64
	predicted := 0.0
	for _, design := range append(slices.Clone(population.Designs), population.Elliptical) {
		all := measure.Must(Setting{kind, design, records, features}.Run(context.Background(), repetitions, seed))
		at := slices.IndexFunc(all, func(p Prediction) bool { return p.Measure == population.MSE })
		s := all[at].Simulated
		predicted, names = all[at].Predicted, append(names, design.String())
		lo, mid, hi = append(lo, s.Mean-2*s.StdErr), append(mid, s.Mean), append(hi, s.Mean+2*s.StdErr)
	}
	f := figure.New(fmt.Sprintf("Rows of six designs: %s, %d×%d", kind, records, features), "squared error", "")
	f.Intervals(names, lo, mid, hi, figure.Blue).Vertical("theory", predicted, len(names), figure.Orange)
	f.Alt = fmt.Sprintf("Six intervals beside a line at %.3g. Those of independent entries are about it; that of "+
		"elliptical rows is at %.3g", predicted, mid[len(mid)-1])
	return f, nil
}

// MinimaxFigure draws the distributions of the values of the two games of Theorem 2.8 for n records and d features,
// with where the theorem allows the first to be, and a table of how far the tails are apart.
func MinimaxFigure(n, d, draws int, seed uint64) (_ *figure.Figure, _ display.Item, err error) {
	defer measure.Catch(&err)
	it := display.Item{Header: []string{"tails", "largest P(value)/P(easy value)", "allowed",
		"P(value) − 2P(easy value), in standard errors"}}
	o := measure.Must(NewMinimax(n, d, seed).Draw(context.Background(), draws, seed))
	t := figure.Span(o.Auxiliary[0], o.Auxiliary[len(o.Auxiliary)-1], 200)
	below := func(sorted []float64) []float64 {
		return figure.Values(t, func(v float64) float64 {
			i, _ := slices.BinarySearch(sorted, v)
			return float64(i) / float64(len(sorted))
		})
	}
	easy := below(o.Auxiliary)
	upper := figure.Values(easy, func(p float64) float64 { return min(1, 2*p) })
	lower := figure.Values(easy, func(p float64) float64 { return max(0, 1-2*(1-p)) })
	f := figure.New(fmt.Sprintf("Theorem 2.8 for %d records, %d features", n, d), "t", "P(value < t)")
	f.Band(t, lower, upper, figure.Orange).Line("", t, easy, figure.Orange).Line("", t, below(o.Primary), figure.Blue)
	f.Note("easy game", -2.8, 0.13, figure.Orange).Note("game", 2.5, 0.88, figure.Blue)
	f.Note("where Theorem 2.8 allows the game", -3.6, 0.62, figure.Orange)
	for _, above := range []bool{false, true} {
		c := o.Compare(2, above)
		it.Row(map[bool]string{false: "below t", true: "above t"}[above], fmt.Sprintf("%.2f", c.Ratio), "2",
			fmt.Sprintf("%.1f", c.Excess))
	}
	f.Alt = "Two rising curves close together, well inside the band that the theorem allows"
	return f.XRange(-4, 5), it, nil
}

// MinimaxGrowth draws where nine of ten values of the two games are, per record, about the easy game's median, for
// growing numbers of records n and d = n/2.
func MinimaxGrowth(draws int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	var n, lo, hi, elo, ehi []float64
	for _, k := range []int{4, 8, 16, 32, 64, 128} {
		o := measure.Must(NewMinimax(k, k/2, seed).Draw(context.Background(), draws, seed))
		median := o.Auxiliary[len(o.Auxiliary)/2]
		q := func(s []float64, p float64) float64 { return (s[int(p*float64(len(s)))] - median) / float64(k) }
		n, lo, hi = append(n, float64(k)), append(lo, q(o.Primary, 0.05)), append(hi, q(o.Primary, 0.95))
		elo, ehi = append(elo, q(o.Auxiliary, 0.05)), append(ehi, q(o.Auxiliary, 0.95))
	}
	f := figure.New("Nine of ten draws, around the easy game's median (d = n/2)", "records n",
		"value per record").LogX(n...)
	f.Band(n, elo, ehi, figure.Orange).Band(n, lo, hi, figure.Blue).Level("", 4, 128, 0, figure.Gray)
	f.Note("easy game", 4.1, -0.47, figure.Orange).Note("game", 4.1, -0.2, figure.Blue)
	f.Alt = fmt.Sprintf("Two bands that narrow about 0: the game's is %.2f wide at 4 records and %.2f at 128, the "+
		"easy game's %.2f and %.2f", hi[0]-lo[0], hi[5]-lo[5], ehi[0]-elo[0], ehi[5]-elo[5])
	return f, nil
}
