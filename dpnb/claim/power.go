package claim

import (
	"context"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Half of a check.
type Half int

const (
	// Evidence is what could come out otherwise than stated: a measurement, an exact law, a simulation, a derivation
	// that shares nothing with the statement.
	Evidence Half = iota
	// Transcription is whether the code computes the formula that is stated. It says nothing of whether that is true.
	Transcription
)

// Scaled is the check of a claim with a claimed quantity times a factor, by which it is measured how small an error of
// that quantity each half notices.
type Scaled struct {
	// Of is the quantity, "δ".
	Of string
	// By is the check with the quantity times a factor; By(1) is the claim's Run.
	By func(factor float64) Check
}

// Power is what each half of a check notices by itself of one wrong version: a quantity of Scaled, or a name in Wrong.
// It is measured, by dpnb claims --power.
type Power struct {
	Claim, Of               string
	Evidence, Transcription Sizes
}

// Sizes are the smallest relative errors that are noticed where a quantity is claimed smaller and larger than it is:
// one of 1, 2 and 5 times a power of ten, from 1e-4 to 0.5, or 0 if none of them is, as by the measurement of an upper
// bound that is far from attained. Below 1e-4 machines differ, and nobody asks. Of a version of Wrong Less is 1 if it
// is noticed.
type Sizes struct{ Less, More float64 }

// sizes are the relative errors that are tried.
var sizes = func() (all []float64) {
	for _, power := range []float64{1e-4, 1e-3, 1e-2, 0.1} {
		all = append(all, power, 2*power, 5*power)
	}
	return all
}()

// of is the half's part.
func (p *Power) of(h Half) *Sizes {
	if h == Transcription {
		return &p.Transcription
	}
	return &p.Evidence
}

// probe runs a check at factors of a quantity, at each once.
type probe struct {
	by      func(factor float64) Check
	want    Verdict
	size    Size
	seen    map[float64][2]bool
	compare bool // some outcome compares with a formula
}

func (c Claim) probe(size Size, by func(float64) Check) *probe {
	return &probe{by: by, want: c.want(), size: size, seen: map[float64][2]bool{}}
}

// notices reports whether each half notices the factor.
func (p *probe) notices(ctx context.Context, factor float64) ([2]bool, error) {
	if n, ok := p.seen[factor]; ok {
		return n, nil
	}
	o, err := p.by(factor)(ctx, p.size)
	if err != nil {
		return [2]bool{}, fmt.Errorf("claim: a wrong version (times %v): %w", factor, err)
	}
	p.compare = p.compare || o.Formula != ""
	p.seen[factor] = [2]bool{o.Verdict != p.want, o.Formula == Other}
	return p.seen[factor], nil
}

// smallest is the smallest error that the half notices, by bisection: it takes a check that notices an error to notice
// larger ones as well.
func (p *probe) smallest(ctx context.Context, h Half, sign float64) (float64, error) {
	if h == Transcription && !p.compare {
		return 0, nil
	}
	// The half passes sizes[:lo], and notices sizes[hi:].
	lo, hi := 0, len(sizes)
	for lo < hi {
		mid := (lo + hi) / 2
		n, err := p.notices(ctx, 1+sign*sizes[mid])
		if err != nil {
			return 0, err
		}
		if n[h] {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == len(sizes) {
		return 0, nil
	}
	return sizes[lo], nil
}

// Measure returns what each half of the check notices by itself.
//
// Errors: that of the check, wrapped; ctx.Err(), wrapped.
func (c Claim) Measure(ctx context.Context, size Size) (all []Power, err error) {
	for _, s := range c.Scaled {
		p, now := c.probe(size, s.By), Power{Claim: c.ID, Of: s.Of}
		for _, h := range []Half{Evidence, Transcription} {
			if now.of(h).Less, err = p.smallest(ctx, h, -1); err != nil {
				return nil, err
			}
			if now.of(h).More, err = p.smallest(ctx, h, 1); err != nil {
				return nil, err
			}
		}
		all = append(all, now)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Wrong)) {
		now := Power{Claim: c.ID, Of: name}
		n, err := c.probe(size, func(float64) Check { return c.Wrong[name] }).notices(ctx, 1)
		if err != nil {
			return nil, err
		}
		for h, noticed := range n {
			if noticed {
				now.of(Half(h)).Less = 1
			}
		}
		all = append(all, now)
	}
	return all, nil
}

// Unmeasured says where Powers are not what is measured: each size must be noticed and each wrong version by some half,
// of two sizes that of what is claimed smaller than it is; if closely, both, and the next smaller size must not be.
//
// Errors: as Measure's.
func (c Claim) Unmeasured(ctx context.Context, size Size, closely bool) (problems []string, err error) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	powers := map[string]Power{}
	for _, p := range c.Powers {
		powers[p.Of] = p
		if p.Evidence == (Sizes{}) && p.Transcription == (Sizes{}) {
			wrong("%s: not noticed", p.Of)
		}
	}
	if len(powers) != len(c.Scaled)+len(c.Wrong) {
		wrong("%d wrong versions, %d measured", len(c.Scaled)+len(c.Wrong), len(powers))
	}
	for _, s := range c.Scaled {
		p, written := c.probe(size, s.By), powers[s.Of]
		for _, h := range []Half{Evidence, Transcription} {
			for sign, noticed := range map[float64]float64{-1: written.of(h).Less, 1: written.of(h).More} {
				if !closely && sign > 0 && written.of(h).Less > 0 {
					continue
				}
				at := slices.Index(sizes, noticed)
				if noticed == 0 {
					at = len(sizes)
				}
				for i, want := range map[int]bool{at: true, at - 1: false} {
					if i < 0 || i == len(sizes) || !want && !closely {
						continue
					}
					n, err := p.notices(ctx, 1+sign*sizes[i])
					if err != nil {
						return nil, err
					}
					if n[h] != want {
						wrong("%s times %v: noticed by half %d: %t", s.Of, 1+sign*sizes[i], h, n[h])
					}
				}
			}
		}
	}
	for name, check := range c.Wrong {
		n, err := c.probe(size, func(float64) Check { return check }).notices(ctx, 1)
		if p := powers[name]; err != nil || n != [2]bool{p.Evidence.Less > 0, p.Transcription.Less > 0} {
			wrong("%s: noticed by evidence, transcription: %v; %v", name, n, err)
		}
	}
	return problems, nil
}

// percent prints a relative error.
func percent(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }

// noticed says what a half notices.
func (c Claim) noticed(h Half) string {
	var parts []string
	for _, p := range c.Powers {
		switch s := *p.of(h); {
		case s.Less == 1:
			parts = append(parts, p.Of)
		case s.Less > 0 && s.More > 0:
			parts = append(parts, p.Of+" less by "+percent(s.Less)+" or more by "+percent(s.More))
		case s.Less > 0:
			parts = append(parts, p.Of+" less by "+percent(s.Less))
		case s.More > 0:
			parts = append(parts, p.Of+" more by "+percent(s.More))
		}
	}
	return strings.Join(parts, "; ")
}

// wrongBy finds the size of an error in the name of a wrong version, "σ less by a tenth", "a tenth less of μ", "more by
// 3 %".
var wrongBy = regexp.MustCompile(`\b(?:(an? [a-z-]+) (?:less|more) of\b|` +
	`(?:less|more|small|smaller|larger|narrower|wider|shorter|longer|lower) by ` +
	`(?:(half|(?:an?) [a-z-]+)|([0-9.]+(?:e-[0-9]+)?)( %)?)(?:$|[ ,;]))`)

// parts are the sizes that have a word.
var parts = map[string]float64{"half": 0.5, "a third": 1.0 / 3, "a quarter": 0.25, "a fifth": 0.2, "a tenth": 0.1,
	"a twentieth": 0.05, "a fiftieth": 0.02, "a hundredth": 0.01, "a thousandth": 1e-3, "a ten-thousandth": 1e-4}

// named is the size of an error in the name of a wrong version, +Inf if there is none.
func named(name string) float64 {
	m := wrongBy.FindStringSubmatch(name)
	if m == nil {
		return math.Inf(1)
	}
	size, ok := parts[m[1]+m[2]]
	if m[3] != "" {
		var err error
		size, err = strconv.ParseFloat(m[3], 64)
		ok = err == nil
		if m[4] != "" {
			size /= 100
		}
	}
	if !ok || size <= 0 || size >= 1 {
		return math.Inf(1)
	}
	return size
}

// Near is the relative error of the nearest wrong version that the half notices by itself, +Inf if none has a size:
// those of Scaled are measured, those of Wrong have it in their names, "… less by a tenth", "… more by 2 %", "… by
// 1e-9".
func (c Claim) Near(h Half) float64 {
	near := math.Inf(1)
	for _, p := range c.Powers {
		for _, size := range []float64{p.of(h).Less, p.of(h).More} {
			switch {
			case size == 1:
				near = math.Min(near, named(p.Of))
			case size > 0:
				near = math.Min(near, size)
			}
		}
	}
	return near
}

// WrongVersions are all versions that are wrong on purpose, by what is wrong: Wrong, and those of Scaled with the
// smallest errors that either half notices.
func (c Claim) WrongVersions() map[string]Check {
	all := maps.Clone(c.Wrong)
	if all == nil {
		all = map[string]Check{}
	}
	for _, s := range c.Scaled {
		for _, p := range c.Powers {
			for h := range Half(2) {
				if size := p.of(h).Less; p.Of == s.Of && size > 0 {
					all[s.Of+" less by "+percent(size)] = s.By(1 - size)
				}
				if size := p.of(h).More; p.Of == s.Of && size > 0 {
					all[s.Of+" more by "+percent(size)] = s.By(1 + size)
				}
			}
		}
	}
	return all
}

// powersHead is the first line of the file of powers.
const powersHead = "# What each half of a check notices by itself, written by: go run ./dpnb/cmd/dpnb claims " +
	"--power\n" +
	"# Columns: claim, wrong version, evidence less and more, transcription less and more. 0 is nothing, 1 a " +
	"version of " +
	"one size.\n"

// FormatPowers is the file of powers.
func FormatPowers(all []Power) string {
	var b strings.Builder
	b.WriteString(powersHead)
	for _, p := range all {
		fmt.Fprintf(&b, "%s\t%s\t%g\t%g\t%g\t%g\n", p.Claim, p.Of, p.Evidence.Less, p.Evidence.More,
			p.Transcription.Less, p.Transcription.More)
	}
	return b.String()
}

// ParsePowers reads the file of powers.
//
// Errors: a line that has other columns.
func ParsePowers(text string) (all []Power, err error) {
	for line := range strings.Lines(strings.TrimPrefix(text, powersHead)) {
		f, p := strings.Split(strings.TrimSpace(line), "\t"), Power{}
		if len(f) != 6 {
			return nil, fmt.Errorf("claim: a power has six columns: %q", line)
		}
		p.Claim, p.Of = f[0], f[1]
		for i, v := range []*float64{&p.Evidence.Less, &p.Evidence.More, &p.Transcription.Less, &p.Transcription.More} {
			if *v, err = strconv.ParseFloat(f[2+i], 64); err != nil {
				return nil, fmt.Errorf("claim: a power of %s: %w", p.Claim, err)
			}
		}
		all = append(all, p)
	}
	return all, nil
}
