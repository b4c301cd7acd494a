package claim

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Paper is what a paper states, in its order.
type Paper struct {
	// Name is short, "rkw23", what the IDs of its statements begin with; Title says authors and year.
	Name, Title string
	Statements  []Claim
}

// ours is the Name of what no paper states.
const ours = "dpnb"

// rooms are the rooms with a file of statements, in the order of the document.
var rooms = []string{"rkw23", "qop", "cop", "heavytail", "dtz24", "ours"}

// Checks are checks by the ID of the claim.
type Checks map[string]Versions

// Versions are a check and the same of claims that are wrong on purpose, in the order in which the file of statements
// has words for them.
type Versions struct {
	run   Check
	times []func(factor float64) Check
	wrong []Check
}

// Against is a check against those of wrong versions.
func Against(run Check, wrong ...Check) Versions { return Versions{run: run, wrong: wrong} }

// Times is a check of claimed quantities times factors, one of them at a time. At 1 each is the claim's check.
func Times(by ...func(factor float64) Check) Versions { return Versions{run: by[0](1), times: by} }

// Against adds wrong versions.
func (v Versions) Against(wrong ...Check) Versions {
	v.wrong = wrong
	return v
}

// Times adds claimed quantities that are scaled.
func (v Versions) Times(by ...func(factor float64) Check) Versions {
	v.times = by
	return v
}

// Read reads the files of statements, ROOM/claims.txt in rooms, and joins each claim with its check and its powers.
//
// A file is lines "field: value". A line that is indented goes on with the one above, a blank line ends a statement,
// and one with # at its beginning is a comment. Before the first statement stands the field title. A statement has an
// id, with a place in the paper if it is one's, and a statement in a line; then a reason why nothing checks it, or a
// claim's fields (those of Claim): source, kind, check, expected, code and proof always, verdict, tests, errata,
// figure, seed, weak, loose and slow where they say something, and for each version that is wrong on purpose one
// scaled or one wrong, in the order of the check's.
//
// Errors, with file and line: what is not of that form; an ID that is there twice, has another room's name, or has
// neither reason nor check, or both; a check or a power that no statement has.
func Read(files fs.FS, powers []Power, checks ...Checks) ([]Paper, error) {
	all := Checks{}
	for _, some := range checks {
		for id, v := range some {
			if _, twice := all[id]; twice {
				return nil, fmt.Errorf("claim: two checks of %s", id)
			}
			all[id] = v
		}
	}
	measured := map[string][]Power{}
	for _, p := range powers {
		measured[p.Claim] = append(measured[p.Claim], p)
	}
	var papers []Paper
	for _, room := range rooms {
		file := path.Join(room, "claims.txt")
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		p, err := parse(string(text), strings.Replace(room, "ours", ours, 1), all, measured)
		if err != nil {
			return nil, fmt.Errorf("%s:%w", file, err)
		}
		papers = append(papers, p)
	}
	if len(all) > 0 {
		return nil, fmt.Errorf("claim: no statement for the checks of %q", slices.Sorted(maps.Keys(all)))
	}
	if len(measured) > 0 {
		return nil, fmt.Errorf("claim: no claim for the powers of %q", slices.Sorted(maps.Keys(measured)))
	}
	return papers, nil
}

// parse reads a file, and takes from checks and powers what it finds there.
func parse(text, name string, checks Checks, powers map[string][]Power) (Paper, error) {
	p, seen := Paper{Name: name}, map[string]bool{}
	lines := strings.Split(text, "\n")
	for at := 0; at < len(lines); {
		var c Claim
		first, versions, fields := at+1, [2][]string{}, map[string]bool{}
		for at < len(lines) && lines[at] != "" {
			if strings.HasPrefix(lines[at], "#") {
				at++
				continue
			}
			line := at + 1
			key, value, ok := strings.Cut(lines[at], ": ")
			for at++; at < len(lines) && strings.HasPrefix(lines[at], " "); at++ {
				value += " " + strings.TrimSpace(lines[at])
			}
			err := errors.New("there twice")
			switch {
			case !ok || value == "":
				err = errors.New("not \"field: value\"")
			case key == "title" && len(p.Statements) == 0:
				p.Title, err = value, nil
			case key == "scaled":
				versions[0], err = append(versions[0], value), nil
			case key == "wrong":
				versions[1], err = append(versions[1], value), nil
			case !fields[key]:
				err = c.set(key, value)
			}
			if fields[key] = true; err != nil {
				return p, fmt.Errorf("%d: %s: %w", line, key, err)
			}
		}
		at++
		if len(fields) == 0 || fields["title"] && c.ID == "" {
			continue
		}
		wrong := func(format string, args ...any) (Paper, error) {
			return p, fmt.Errorf("%d: %s: %s", first, c.ID, fmt.Sprintf(format, args...))
		}
		v, checked := checks[c.ID]
		switch {
		case !strings.HasPrefix(c.ID, name+"/") || seen[c.ID] || c.Statement == "":
			return wrong("not a new ID that begins with %s/, and a statement", name)
		case (c.Place == "") != (name == ours):
			return wrong("a place is for what a paper states")
		case checked == (c.Reason != ""):
			return wrong("it has a check and a reason why there is none, or neither")
		case checked && (c.Paper == "" || c.Kind == "" || c.Check == "" || c.Expected == "" || len(c.Code) == 0 ||
			c.Proof == ""):
			return wrong("a claim has source, kind, check, expected, code and proof")
		case len(v.times) != len(versions[0]) || len(v.wrong) != len(versions[1]):
			return wrong("words for %d quantities and %d wrong versions, of which the check has %d and %d",
				len(versions[0]), len(versions[1]), len(v.times), len(v.wrong))
		case checked && len(v.times)+len(v.wrong) == 0:
			return wrong("nothing says what it notices")
		}
		seen[c.ID] = true
		c.Run, c.Powers = v.run, powers[c.ID]
		for i, by := range v.times {
			c.Scaled = append(c.Scaled, Scaled{versions[0][i], by})
		}
		for i, check := range v.wrong {
			if c.Wrong == nil {
				c.Wrong = map[string]Check{}
			}
			c.Wrong[versions[1][i]] = check
		}
		delete(checks, c.ID)
		delete(powers, c.ID)
		p.Statements = append(p.Statements, c)
	}
	return p, nil
}

// set gives c the field of a file.
func (c *Claim) set(key, value string) (err error) {
	texts := map[string]*string{"id": &c.ID, "place": &c.Place, "statement": &c.Statement, "reason": &c.Reason,
		"source": &c.Paper, "proof": &c.Proof, "figure": &c.Figure, "check": &c.Check, "expected": &c.Expected,
		"weak": &c.Weak}
	lists := map[string]*[]string{"code": &c.Code, "tests": &c.Tests, "errata": &c.Errata}
	switch text, list := texts[key], lists[key]; {
	case text != nil:
		*text = value
	case list != nil:
		*list = strings.Split(value, ", ")
	case key == "kind":
		c.Kind = Kind(value)
		if !slices.Contains([]Kind{Theorem, Bound, Figure, Table, Ours}, c.Kind) {
			return fmt.Errorf("no kind %q", value)
		}
	case key == "verdict":
		c.Want = Verdict(value)
		if !slices.Contains([]Verdict{HoldsWithCorrection, Fails, NotCheckable}, c.Want) {
			return fmt.Errorf("no verdict %q besides %q, which is that of all others", value, Holds)
		}
	case key == "seed":
		c.Seed, err = strconv.ParseUint(value, 10, 64)
	case key == "loose":
		c.Loose, err = strconv.ParseFloat(value, 64)
	case key == "slow":
		if c.Slow = value == "yes"; !c.Slow {
			return errors.New("yes, or nothing")
		}
	default:
		return errors.New("no such field")
	}
	return err
}

// Register returns the claims of the papers, in the order of their IDs.
func Register(papers []Paper) (claims []Claim) {
	for _, p := range papers {
		for _, c := range p.Statements {
			if c.Reason == "" {
				claims = append(claims, c)
			}
		}
	}
	slices.SortFunc(claims, func(a, b Claim) int { return strings.Compare(a.ID, b.ID) })
	return claims
}

// WithoutClaim returns the statements of the papers that have a reason in the place of a claim, to stand beside
// results: the verdict has the reason.
func WithoutClaim(papers []Paper) (all []Result) {
	for _, p := range papers {
		for _, s := range p.Statements {
			if s.Reason != "" {
				all = append(all, Result{ID: s.ID, Paper: p.Title + ", " + s.Place, Kind: Listed,
					Statement: s.Statement, Verdict: "no claim: " + s.Reason})
			}
		}
	}
	return all
}
