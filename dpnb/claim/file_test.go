package claim

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const statements = `title: A paper
# Comment.

id: qop/def1
place: Definition 1
statement: a: b
reason: definition

id: qop/thm1
place: Theorem 1
statement: a statement
  of two lines
source: A paper, Theorem 1
kind: theorem
verdict: fails
code: a.B, c.D
proof: page#qop-thm1 01234567
errata: qop-1
check: c
expected: e
seed: 3
scaled: δ
wrong: other
wrong: more
loose: 0.5
slow: yes
`

// read reads statements as the file of one room; the others say nothing.
func read(text string, powers []Power, checks ...Checks) (Paper, error) {
	files := fstest.MapFS{}
	for _, r := range rooms {
		files[r+"/claims.txt"] = &fstest.MapFile{Data: []byte("title: " + r + "\n")}
	}
	files["qop/claims.txt"].Data = []byte(text)
	papers, err := Read(files, powers, checks...)
	if err != nil {
		return Paper{}, err
	}
	return papers[slices.Index(rooms, "qop")], nil
}

// One row and one function are a claim.
func TestRead(t *testing.T) {
	named := func(name string) Check {
		return func(context.Context, Size) (Outcome, error) { return Outcome{Measured: name}, nil }
	}
	checks := Checks{"qop/thm1": Times(func(factor float64) Check {
		return named(map[float64]string{1: "run", 2: "twice"}[factor])
	}).Against(named("other"), named("more"))}
	p, err := read(statements, []Power{{Claim: "qop/thm1", Of: "δ"}}, checks)
	if err != nil || p.Title != "A paper" || len(p.Statements) != 2 || p.Statements[0].Statement != "a: b" {
		t.Fatalf("%+v, %v", p, err)
	}
	if without := WithoutClaim([]Paper{p}); len(without) != 1 || without[0].Verdict != "no claim: definition" {
		t.Errorf("%+v", without)
	}
	c := Register([]Paper{p})[0]
	measured := func(check Check) string {
		o, _ := check(t.Context(), Quick)
		return o.Measured
	}
	if c.Statement != "a statement of two lines" || c.Want != Fails || !slices.Equal(c.Code, []string{"a.B", "c.D"}) ||
		c.Seed != 3 || c.Loose != 0.5 || !c.Slow || len(c.Powers) != 1 || measured(c.Run) != "run" ||
		c.Scaled[0].Of != "δ" || measured(c.Scaled[0].By(2)) != "twice" || len(c.Wrong) != 2 ||
		measured(c.Wrong["other"]) != "other" || measured(c.Wrong["more"]) != "more" {
		t.Errorf("%+v", c)
	}
}

// What is wrong in a file is said with its line.
func TestReadRefuses(t *testing.T) {
	run := func(context.Context, Size) (Outcome, error) { return Outcome{}, nil }
	good := Checks{"qop/thm1": Against(run, run, run).Times(func(float64) Check { return run })}
	for _, c := range []struct{ from, to, want string }{
		{"seed:", "sead:", "claims.txt:21: sead: no such field"}, {"seed: 3", "seed: x", "claims.txt:21: seed"},
		{"errata: qop-1", "kind: theorem", "claims.txt:18: kind: there twice"},
		{"loose: 0.5", "loose", "claims.txt:25: loose: not"}, {"slow: yes", "slow: no", "claims.txt:26: slow"},
		{"kind: theorem", "kind: lemma", "claims.txt:14: kind"}, {"fails", "holds", "claims.txt:15: verdict"},
		{"id: qop/def1", "id: cop/def1", "claims.txt:4: cop/def1: not a new ID"},
		{"id: qop/def1", "id: qop/thm1", "claims.txt:4: qop/thm1: it has a check and a reason"},
		{"reason: definition", "# none", "claims.txt:4: qop/def1: it has a check and a reason"},
		{"place: Theorem 1\n", "", "claims.txt:9: qop/thm1: a place"},
		{"check: c\n", "", "claims.txt:9: qop/thm1: a claim has"},
		{"wrong: more\n", "", "claims.txt:9: qop/thm1: words for 1 quantities and 1 wrong versions"},
		{"id: qop/thm1", "id: qop/thm2", "claims.txt:9: qop/thm2: it has a check"},
	} {
		if _, err := read(strings.Replace(statements, c.from, c.to, 1), nil, good); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %s", c.to, c.from, err, c.want)
		}
	}
	for name, checks := range map[string][]Checks{"a check of no statement": {good, {"qop/thm3": Against(run)}},
		"two checks": {good, good}} {
		if _, err := read(statements, nil, checks...); err == nil {
			t.Errorf("%s is not noticed", name)
		}
	}
	if _, err := read(statements, []Power{{Claim: "qop/thm3"}}, good); err == nil {
		t.Error("a power of no claim is not noticed")
	}
}
