package learn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/typedjson"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// FitOnce fits and releases a model under a name, or returns the one that was released under that name before: a cell
// with it can run again and pays once. The model is kept beside the ledger of the allowance's budget, as long as that
// lasts (KeptIn). If the program ended in between, the fit resumes with the same noise (Allowance.Resumable); one whose
// passes a function of the program's makes (PassesBy) is lost, because that function has seen what the noise did.
//
// A model is recognised by its name and by what is public: the learner with its settings (except Workers), the schema,
// the options of the records, whose they are (PerPerson), the name of their file, or of each of several, how it was
// read and what was done to its rows, the budget and the allowance. If any of these has changed, an error says which.
// FitOnce does not look at the records, for whether they have changed is private: a model released from an earlier
// version of a file of the same name is returned as it is. For a file declared Public its checksum counts as well. A
// change that FitOnce cannot see, such as another rule of Where that reads the same columns, needs another name.
//
// Errors: as l.Fit and Once.
func FitOnce(name string, l Learner, data *Dataset, allowance Allowance) (*Model, error) {
	if err := data.Err(); err != nil {
		return nil, err
	}
	spec, err := specOf(l, data)
	if err != nil {
		return nil, err
	}
	data = data.held()
	allowance.resumable = allowance.resumable || !data.remote
	m, err := Once(name, allowance, spec, func(a Allowance) (*Model, error) { return l.Fit(data, a) },
		(*Model).encode, func(content []byte) (*Model, error) {
			m, err := decode(content)
			if err == nil {
				m.before = allowance.ReleasedBefore(name)
			}
			return m, err
		})
	if m != nil {
		m.once = name
	}
	return m, err
}

// KeptAs reports whether m is what was released under a name and is kept beside a ledger, so that FitOnce gives it back
// at no cost.
func (m *Model) KeptAs(name, ledger string) bool {
	content, ok := keptBeside(name, ledger)
	if !ok || m.Err() != nil {
		return false
	}
	kept, err := keptIn(onceFormat, onceVersion, content)
	if err != nil {
		return false
	}
	there, err := decode(kept.Release)
	if err != nil {
		return false
	}
	there.HeldOut, there.group = m.HeldOut, m.group // which were said afterwards
	a, err := m.encode()
	b, e := there.encode()
	return err == nil && e == nil && bytes.Equal(a, b)
}

// Kept reports whether something was released under a name that is kept beside a ledger, so that it costs nothing.
func Kept(name, ledger string) bool {
	_, ok := keptBeside(name, ledger)
	return ok
}

// KeptAs says whether what is kept under the name is of rows in units (InUnits), and of straight lines (Lines), as
// what is not there is.
func KeptAs(name, ledger string) (inUnits, lines bool) {
	content, _ := keptBeside(name, ledger)
	return keptUnits.Match(content), !keptCurves.Match(content)
}

var keptUnits, keptCurves = regexp.MustCompile(`"InUnits":\s*true`), regexp.MustCompile(`"Curves":\s*[1-9]`)

func keptBeside(name, ledger string) (content []byte, ok bool) {
	path, err := filepath.EvalSymlinks(ledger) // as the budget has it
	if err == nil {
		content, err = os.ReadFile(filepath.Join(path+".releases", fileOf("release", name)+".json"))
	}
	return content, err == nil
}

// fitSpec is what a fit is by what is public.
type fitSpec struct {
	Learner  string          `json:"learner"`
	Settings json.RawMessage `json:"settings"`
	Noise    string          `json:"noise"`
	Records  json.RawMessage `json:"records"`
	Data     string          `json:"data"`
	Seen     frame.Seen      `json:"seen"`
	// RowsOfAPerson is how many a person may have, 0 where each row is one, and Person the column that says whose a row
	// is.
	RowsOfAPerson int    `json:"rows_of_a_person,omitempty"`
	Person        string `json:"person,omitempty"`
	// Checksum of a public file.
	Checksum string `json:"checksum,omitempty"`
}

func specOf(l Learner, data *Dataset) (fitSpec, error) {
	if err := own(l); err != nil {
		return fitSpec{}, err
	}
	r := fitSpec{Learner: l.spec().learner, Noise: noiseWords(l.spec().noise), Data: data.design.Source.Told(),
		Seen:          data.design.Source.Seen(),
		RowsOfAPerson: data.design.RowsOfAPerson, Person: data.design.Person,
		Checksum: data.design.Source.Checksum()}
	var err error
	if r.Settings, err = learnersKept().Marshal(l); err != nil {
		return r, err
	}
	var kept frame.Kept
	if data.design.Encoding != nil {
		kept = data.design.Encoding.Kept()
	}
	r.Records, err = learnersKept().Marshal(kept)
	return r, err
}

// noiseWords says where noise will be drawn from: a simulation is no release.
func noiseWords(src noise.Source) string {
	if src == nil || !noise.Simulated(src) {
		return "secure"
	}
	if seed, ok := src.Seed(); ok {
		return fmt.Sprintf("of seed %d", seed)
	}
	return fmt.Sprintf("of a %T", src)
}

// learnersKept writes learners down with their settings, but for those that do not change what is released and for the
// noise, which has words of its own.
var learnersKept = sync.OnceValue(func() *typedjson.Codec {
	c := typedjson.New(append(Learners(), Quadratic{})...).Omit("Noise", "Workers")
	keepInterpolation(c)
	return c
})
