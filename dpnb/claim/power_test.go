package claim

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// within is a check whose evidence notices factors outside 1 − less … 1 + more, and whose transcription notices all
// beyond exact, if that is above 0.
func within(less, more, exact float64) func(float64) Check {
	return func(factor float64) Check {
		return func(context.Context, Size) (Outcome, error) {
			o := Decide("", "", factor > 1-less && factor < 1+more, "")
			if exact > 0 {
				o = o.As(math.Abs(factor-1) < exact)
			}
			return o, nil
		}
	}
}

// Each half is measured by itself, and what is written is held against that.
func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		less, more, exact float64
		want              Power
	}{
		{1e-3, 0.1, 0, Power{Evidence: Sizes{1e-3, 0.1}}},
		{0.03, 3e-4, 1e-8, Power{Evidence: Sizes{0.05, 5e-4}, Transcription: Sizes{1e-4, 1e-4}}},
		{0.7, 0.4, 0.02, Power{Evidence: Sizes{0, 0.5}, Transcription: Sizes{0.02, 0.02}}},
		{1, math.Inf(1), 1e-12, Power{Transcription: Sizes{1e-4, 1e-4}}},
	} {
		// A little less than the sizes, which are rounded.
		by := within(c.less*(1-1e-6), c.more*(1-1e-6), c.exact*(1-1e-6))
		claim := Claim{ID: "a/b", Scaled: []Scaled{{"δ", by}}, Wrong: map[string]Check{"double, more by a " +
			"tenth": by(2)}}
		c.want.Claim, c.want.Of = "a/b", "δ"
		wrong := Power{Claim: "a/b", Of: "double, more by a tenth"}
		if c.more < 1 {
			wrong.Evidence.Less = 1
		}
		if c.exact > 0 {
			wrong.Transcription.Less = 1
		}
		var err error
		if claim.Powers, err = claim.Measure(t.Context(), Quick); err != nil ||
			!slices.Equal(claim.Powers, []Power{c.want, wrong}) {
			t.Fatalf("%+v: %+v, %v", c, claim.Powers, err)
		}
		if why, err := claim.Unmeasured(t.Context(), Quick, true); why != nil || err != nil {
			t.Errorf("%+v: %s, %v", c, why, err)
		}
		if v := claim.Verdict(); (v == Untested) != (c.more > 1) {
			t.Errorf("%+v: verdict %s", c, v)
		}
		if back, err := ParsePowers(FormatPowers(claim.Powers)); err != nil || !slices.Equal(back, claim.Powers) {
			t.Errorf("%v, %v", back, err)
		}
		for _, p := range []Power{{Evidence: Sizes{2e-3, c.want.Evidence.More}}, {Transcription: Sizes{5e-3, 5e-3}},
			{}} {
			other := claim
			p.Of = "δ"
			other.Powers = []Power{p, wrong}
			if why, err := other.Unmeasured(t.Context(), Quick, true); why == nil || err != nil {
				t.Errorf("%+v: %+v is taken for measured, %v", c, p, err)
			}
		}
	}
	// Briefly: of two directions the one, of one that.
	for _, c := range []struct {
		by    Sizes
		wrong bool
	}{{Sizes{0.1, 0.2}, false}, {Sizes{0.05, 0.2}, true}, {Sizes{0.1, 0.1}, false}, {Sizes{0, 0.2}, false},
		{Sizes{0, 0.1}, true}} {
		claim := Claim{Scaled: []Scaled{{"δ", within(0.099, 0.199, 0)}}, Powers: []Power{{Of: "δ", Evidence: c.by}}}
		if why, err := claim.Unmeasured(t.Context(), Quick, false); (why != nil) != c.wrong || err != nil {
			t.Errorf("%v: %v, %v", c.by, why, err)
		}
	}
	failing := Claim{Scaled: []Scaled{{"δ", func(float64) Check {
		return func(context.Context, Size) (Outcome, error) { return Outcome{}, errors.New("boom") }
	}}}}
	if _, err := failing.Measure(t.Context(), Quick); err == nil {
		t.Error("an error of the check is lost")
	}
	if _, err := failing.Unmeasured(t.Context(), Quick, true); err == nil {
		t.Error("an error of the check is lost")
	}
	if _, err := ParsePowers("a\tδ\t1\n"); err == nil {
		t.Error("a line of three columns is read")
	}
}

func TestNoticed(t *testing.T) {
	c := Claim{Scaled: []Scaled{{"δ", within(1, 1, 0)}, {"σ", within(1, 1, 0)}}, Wrong: map[string]Check{"sign": nil},
		Powers: []Power{{Of: "δ", Evidence: Sizes{0, 0.5}, Transcription: Sizes{1e-4, 0.1}}, {Of: "σ",
			Transcription: Sizes{Less: 0.02}}, {Of: "sign", Transcription: Sizes{Less: 1}}}}
	if got := c.noticed(Transcription); got != "δ less by 0.01 % or more by 10 %; σ less by 2 %; sign" {
		t.Error(got)
	}
	if got := c.noticed(Evidence); got != "δ more by 50 %" || c.Near(Evidence) != 0.5 || c.Near(Transcription) != 1e-4 {
		t.Error(got, c.Near(Evidence), c.Near(Transcription))
	}
	var names []string
	for name := range c.WrongVersions() {
		names = append(names, name)
	}
	if all := strings.Join(names, "|"); len(names) != 5 || !strings.Contains(all, "σ less by 2 %") {
		t.Error(all)
	}
}

// A wrong version of a size is the check with the quantity that much smaller or larger, and is called so.
func TestWrongVersionsHaveTheirSize(t *testing.T) {
	var got float64
	by := func(factor float64) Check {
		return func(context.Context, Size) (Outcome, error) { got = factor; return Outcome{}, nil }
	}
	c := Claim{Scaled: []Scaled{{"δ", by}}, Powers: []Power{{Of: "δ", Evidence: Sizes{0.2, 0.5},
		Transcription: Sizes{1e-3, 0.02}}, {Of: "σ", Evidence: Sizes{0.1, 0.1}}}}
	versions := c.WrongVersions()
	for name, want := range map[string]float64{"δ less by 20 %": 0.8, "δ more by 50 %": 1.5, "δ less by 0.1 %": 0.999,
		"δ more by 2 %": 1.02} {
		if check := versions[name]; check == nil || len(versions) != 4 {
			t.Errorf("%q is not among %d versions", name, len(versions))
		} else if _, err := check(t.Context(), Quick); err != nil || got != want {
			t.Errorf("%s: times %v (%v)", name, got, err)
		}
	}
}

// What another formula computes fails, whatever the evidence, and what is only transcribed is not tested.
func TestHalves(t *testing.T) {
	for _, c := range []struct {
		o    Outcome
		want string
	}{
		{Decide("", "", true, "").As(true), "consistent, not tested"},
		{Decide("", "", false, "above"), "fails: above"},
		{Decide("", "", true, "").As(true).As(false).As(true), "fails: the code computes " + string(Other)},
	} {
		claim := Claim{Run: func(context.Context, Size) (Outcome, error) { return c.o, nil },
			Powers: []Power{{Of: "δ", Transcription: Sizes{1e-4, 1e-4}}}}
		if r := claim.check(t.Context(), Quick); r.Verdict != c.want {
			t.Errorf("%q, want %q", r.Verdict, c.want)
		}
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]float64{"σ less by a tenth": 0.1, "σ more by a hundredth": 0.01,
		"narrower by 3 %": 0.03, "a bound less by 1e-9": 1e-9, "a bound for a tenth less of ε": 0.1,
		"the other sign": math.Inf(1), "a threshold that is lower by one": math.Inf(1),
		"μ less by 3 of them": math.Inf(1), "σ less by half": 0.5, "σ less by a third": 1. / 3,
		"ε less by a quarter": 0.25, "ε more by a fifth": 0.2, "wider by a twentieth": 0.05,
		"shorter by a fiftieth":  0.02,
		"a thousandth less of μ": 1e-3, "larger by a ten-thousandth": 1e-4} {
		if got := named(name); got != want && !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%s: %g, want %g", name, got, want)
		}
	}
}
