package learn

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/lockfile"
	"github.com/dpnb/notebooks/dpnb/internal/noisekey"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Once releases something under a name, or returns what was released under that name before, at no cost: for cells that
// run again. The budget of a is charged at most once for a name, whatever happens:
//
//   - release is called with an allowance that spends under the name, and what it returns
//     is kept beside the ledger: in a file of the folder LEDGER.releases, or in memory where
//     the ledger is;
//   - if the program ends after the charge and before that, the charge stands and what was
//     released is lost: the next call is an error that says so, and nothing is charged (FitOnce and
//     the questions of package explore are not lost but go on, with the same noise: Resumable);
//   - if release has returned and keeping it failed, as on a full disk, both it and the error are
//     returned; of a Resumable the error alone, and the same call goes on when there is room.
//
// spec is what is released, as JSON: of public things alone, for a second call with another specification is an error
// that says what differs, and what an error depends on must be public. encode and decode are for the file, of JSON.
// Calls of one name wait for each other.
//
// Errors: those of release and decode; no name; a simulation, which no budget pays for; a name under which another
// specification was released; one that was paid for and lost.
//
// Proof: docs/theory/once.md.
func Once[T any](
	name string, a Allowance, spec any,
	release func(Allowance) (T, error), encode func(T) ([]byte, error), decode func([]byte) (T, error),
) (T, error) {
	var none T
	if err := a.suitsOnce(name); err != nil {
		return none, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return none, fmt.Errorf("dpnb: the specification of %q: %w", name, err)
	}
	// A name is one of the budget's, and so is what it may spend.
	c := a.budget.ledger.Config()
	asked := keptRelease{Name: name, Budget: fmt.Sprintf("%q, ε = %v, δ = %v", c.Name, c.Epsilon, c.Delta),
		Allowance: a.said(), Spec: text}
	place := placeOf(a.budget.ledger, name)
	unlock, err := place.lock()
	if err != nil {
		return none, fmt.Errorf("dpnb: %w", err)
	}
	defer unlock()
	if err := place.settle(); err != nil {
		return none, fmt.Errorf("dpnb: what was released as %q: %w", name, err)
	}
	if err := a.allCharged(filepath.Dir(place.path)); err != nil {
		return none, err
	}
	if content, err := place.read(); err != nil {
		return none, fmt.Errorf("dpnb: what was released as %q: %w", name, err)
	} else if content != nil {
		payload, err := asked.in(onceFormat, onceVersion, content)
		if err != nil {
			return none, err
		}
		return decode(payload)
	}
	a.label, a.once = cmp.Or(a.label, name), name
	if err := a.neverCharged(name); err != nil {
		if a, err = a.goOn(place, asked, err); err != nil {
			return none, err
		}
	} else if err := place.forget(); err != nil { // a key of before, which no charge is of
		return none, fmt.Errorf("dpnb: what was begun as %q: %w", name, err)
	} else if a.resumable && place.path != "" && a.partition == "" {
		key := noisekey.New()
		a.run = &unfinished{place: place, asked: asked, noise: noise.OfKey(key),
			Key: noisekey.Text(key), Part: a.part}
	}
	out, err := release(a)
	if errors.Is(err, erm.ErrTolerance) { // which tells of the noise: no other records may be seen with it
		err = errors.Join(err, place.forget())
	}
	if err != nil {
		if a.run != nil && a.neverCharged(name) != nil && !errors.Is(err, erm.ErrTolerance) {
			err = fmt.Errorf("%w. %q was paid for and is not lost: when that is mended, the same call goes on, with "+
				"the same noise and at no cost", err, name)
		}
		return none, err
	}
	payload, err := encode(out)
	hidden := a.run != nil // what would be seen now could be drawn again of other records
	if hidden && a.run.overtaken() {
		return none, fmt.Errorf("dpnb: another program has released %q meanwhile, with the same noise, and two of it "+
			"would tell how their records differ: this one is not shown; the same call returns the other's", name)
	}
	if err == nil {
		asked.Date = time.Now().Format(time.DateOnly)
		err = place.write(asked.with(payload, onceFormat, onceVersion))
	} else {
		gone := place.forget()
		err, hidden = errors.Join(err, gone), gone != nil
	}
	switch {
	case err == nil:
		return out, nil
	case hidden:
		return none, fmt.Errorf("dpnb: %q was paid for and could not be kept: %w. It is not shown and not lost: when "+
			"that is mended, the same call goes on, with the same noise and at no cost", name, err)
	}
	return out, fmt.Errorf("dpnb: %q was released and paid for, and could not be kept: keep it in another way, for "+
		"it cannot be returned again under this name: %w", name, err)
}

// suitsOnce reports what is wrong with a name or an allowance.
func (a Allowance) suitsOnce(name string) error {
	switch {
	case strings.TrimSpace(name) == "" || !utf8.ValidString(name):
		return errors.New("dpnb: what is released once needs a name by which it is found again, for example " +
			`"income model"`)
	case a.simulation:
		return errors.New("dpnb: a simulation costs nothing and its seed gives it again: what is released once is " +
			"paid for by a budget (Spend or Share)")
	}
	return cmp.Or(a.budget.Err(), a.err)
}

// keeps reports whether something is kept that was released under a name.
func (a Allowance) keeps(name string) bool {
	content, err := placeOf(a.budget.ledger, name).read()
	return err == nil && content != nil
}

// ReleasedBefore says of what Once has released under a name that it was, on which day where the ledger is kept
// (KeptIn), and so is not asked of the records as they are now; "" if nothing was, or it cannot be read.
func (a Allowance) ReleasedBefore(name string) string {
	if a.suitsOnce(name) != nil {
		return ""
	}
	content, _ := placeOf(a.budget.ledger, name).read()
	old, err := keptIn(onceFormat, onceVersion, content)
	if err != nil {
		return ""
	}
	day := ""
	if a.budget.kept && old.Date != "" {
		day = ", on " + old.Date
	}
	return fmt.Sprintf("This is what was released before%s, as %q, and costs nothing again: it is of the records of "+
		"then, whatever the file has now. Another %s asks anew, at a price.", day, name,
		wording.Setting{Field: "Name", Go: "name"})
}

// said is the allowance as it was asked for, which the next cell asks for in the same words.
func (a Allowance) said() string {
	if a.asked {
		return fmt.Sprintf("%s.WithDelta(%v)", a.words, a.part.Delta)
	}
	return a.words
}

// neverCharged is an error if the ledger was charged for the name, of which nothing is kept.
func (a Allowance) neverCharged(name string) error {
	s, err := a.budget.ledger.State()
	if err != nil {
		return err
	}
	for _, e := range s.Entries {
		if e.Once == name {
			return fmt.Errorf("dpnb: %q was paid for (ε = %v) and what was released is not there: the program ended "+
				"before it was kept, or the file was removed. The charge stands; nothing was charged now. To "+
				"release it anew, which costs anew, use another name", name, e.Epsilon)
		}
	}
	return nil
}

// allCharged is an error if the folder of releases has one that the ledger was not charged for: then another ledger, of
// before, is in the place of the one that was. A release is kept after its charge, so that the folder is read first.
func (a Allowance) allCharged(folder string) error {
	path := a.budget.ledger.Config().Path
	if path == "" {
		return nil
	}
	files, err := os.ReadDir(folder)
	s, bad := a.budget.ledger.State()
	if err := errors.Join(err, bad); err != nil {
		return fmt.Errorf("dpnb: %w", err)
	}
	charged := map[string]bool{}
	for _, e := range s.Entries {
		charged[fileOf("release", e.Once)+".json"] = true
	}
	for _, f := range files {
		if name := f.Name(); strings.HasPrefix(name, "release-") && strings.HasSuffix(name, ".json") && !charged[name] {
			return fmt.Errorf("dpnb: %s was not charged for %s: an older ledger has been put in its place, or a new "+
				"one begun, so that what was spent is not known. Bring back the ledger that was there last; other "+
				"data have another file", path, filepath.Join(folder, name))
		}
	}
	return nil
}

// keptRelease is what is kept of a name: what was asked for and what came of it.
type keptRelease struct {
	Name      string `json:"name"`
	Budget    string `json:"budget"`
	Allowance string `json:"allowance"`
	// Date of the release, for a reader; "" in files of earlier versions.
	Date    string          `json:"date,omitempty"`
	Spec    json.RawMessage `json:"recipe"`
	Release json.RawMessage `json:"release"`
}

// with returns a file of such a format for what is released, or what is needed for it.
func (k keptRelease) with(payload []byte, format string, version int) ([]byte, error) {
	k.Release = payload
	text, err := checksum.Marshal(k)
	if err != nil {
		return nil, err
	}
	return checksum.Seal(format, version, text)
}

const (
	onceFormat  = "dpnb release"
	onceVersion = 1
)

// keptIn returns what a file of such a format has.
func keptIn(format string, version int, content []byte) (k keptRelease, err error) {
	text, _, err := checksum.Unseal(format, version, content)
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	return k, err
}

// in returns what a file has of the same specification.
func (k keptRelease) in(format string, version int, content []byte) ([]byte, error) {
	old, err := keptIn(format, version, content)
	if err != nil {
		return nil, fmt.Errorf("dpnb: what was released as %q cannot be read: %w", k.Name, err)
	}
	var differ []string
	for _, d := range []struct {
		what     string
		now, was any
	}{{"name", k.Name, old.Name}, {"budget", k.Budget, old.Budget}, {"allowance", k.Allowance, old.Allowance}} {
		if d.now != d.was {
			differ = append(differ, fmt.Sprintf("the %s is %v and was %v", d.what, d.now, d.was))
		}
	}
	now, was := kindOf(k.Spec), kindOf(old.Spec)
	if now != was {
		return nil, fmt.Errorf("dpnb: %q is the name of %s that was released before, and now of %s: nothing was "+
			"charged; use another name", k.Name, was, now)
	}
	if differ = append(differ, differences("", tree(k.Spec), tree(old.Spec))...); len(differ) > 0 {
		elsewhere := wording.Setting{Field: "Name", Go: fmt.Sprintf("name in place of %q", k.Name)}
		return nil, fmt.Errorf("dpnb: %q was released before by another specification: %s. Nothing was charged; use "+
			"another %s, or the earlier specification", k.Name, briefly(differ), elsewhere)
	}
	return old.Release, nil
}

// briefly says what differs: the target or the question alone, by which other columns and another learner come; a
// learner without its settings, columns together, and no more than the first few.
func briefly(differ []string) string {
	const few = 2
	var said []string
	another := slices.ContainsFunc(differ, func(d string) bool { return strings.HasPrefix(d, "learner is ") })
	columns := map[string][]string{} // by what is said of them
	for _, d := range differ {
		how := noMore
		if strings.HasSuffix(d, newly) {
			how = newly
		}
		switch column, of := strings.CutSuffix(d, how); {
		case strings.HasPrefix(d, ofTarget+"Name "):
			return "the " + strings.Replace(d, ".Name", "", 1)
		case strings.HasPrefix(d, ofQuestion+" is "):
			return "the " + d
		case of:
			if columns[how] = append(columns[how], strings.TrimPrefix(column, ofColumn)); len(columns[how]) == 1 {
				said = append(said, how)
			}
		case strings.HasPrefix(d, "learner is "):
			said = append(said, "the "+d)
		case !another || !strings.HasPrefix(d, ofLearner):
			said = append(said, strings.TrimPrefix(d, ofLearner))
		}
	}
	for i, how := range said {
		switch of := columns[how]; {
		case len(of) == 1:
			said[i] = ofColumn + of[0] + how
		case len(of) > 1:
			if n := len(of) - few; n > 1 {
				of = append(of[:few], fmt.Sprintf("%d more", n))
			}
			said[i] = "columns " + strings.Join(of, ", ") + together[how]
		}
	}
	if n := len(said) - few; n > 0 {
		said = append(said[:few], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(said, "; ")
}

// What is said of a column after its name, and of several together.
const (
	noMore = " is not learnt from, and was"
	newly  = " is learnt from, and was not"
)

var together = map[string]string{noMore: " are not learnt from, and were", newly: " are learnt from, and were not"}

// ofQuestion is where the specification of an answer has what was asked, in words and then with all settings.
const ofQuestion = "question"

// ofLearner begins what differs in the settings of a learner.
const ofLearner = "setting "

// ofTarget and ofColumn are what the label of records and their fields are called.
const (
	ofTarget = "target."
	ofColumn = "column "
)

// inWords has paths of the records of a fit in words.
var inWords = strings.NewReplacer("records.Label.", ofTarget, "records.Fields.", ofColumn, "records.Settings.", "",
	"fields.", ofColumn)

// kindOf says in words what a specification is of: a fit names its learner, and a question of package explore none.
func kindOf(spec []byte) string {
	if m, ok := tree(spec).(map[string]any); ok && m["learner"] != nil {
		return "a fit"
	}
	return "an answer"
}

// tree returns JSON as maps, lists and texts, and what is no JSON as it is.
func tree(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // every digit counts
	var v any
	if d.Decode(&v) != nil {
		return string(text)
	}
	return v
}

func differences(path string, now, was any) []string {
	a, isMap := now.(map[string]any)
	b, wasMap := was.(map[string]any)
	if isMap && wasMap {
		var out []string
		keys := maps.Clone(a)
		maps.Copy(keys, b)
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			if path == "" && k == "seen" && b[k] == nil { // of an earlier version, which does not say it
				continue
			}
			out = append(out, differences(strings.TrimPrefix(path+"."+k, "."), a[k], b[k])...)
		}
		return out
	}
	if a, b := byName(now), byName(was); a != nil && b != nil {
		if out := differences(path, a, b); out != nil { // in their order alone they differ as lists
			return out
		}
	}
	x, _ := json.Marshal(now)
	y, _ := json.Marshal(was)
	if bytes.Equal(x, y) {
		return nil
	}
	if path == "seen.done" {
		return []string{"the rows are " + doneTo(now) + ", and were " + doneTo(was)}
	}
	if path == "data" {
		if said := otherFiles(fmt.Sprint(now), fmt.Sprint(was)); said != "" {
			return []string{said}
		}
	}
	write := func(v any, text []byte) string {
		const long = 60
		if v == nil {
			return "not set"
		}
		if r := []rune(string(text)); len(r) > long {
			return string(r[:long]) + " …"
		}
		return string(text)
	}
	path = inWords.Replace(path)
	if path == ofQuestion {
		q, _, _ := bytes.Cut(x, []byte(": "))
		if p, _, _ := bytes.Cut(y, []byte(": ")); !bytes.Equal(p, q) {
			x, y = append(q, '"'), append(p, '"')
		}
	}
	if name, of := strings.CutPrefix(path, ofColumn); of && now == nil && wasMap {
		return []string{fmt.Sprintf("%s%q"+noMore, ofColumn, name)}
	} else if of && was == nil && isMap {
		return []string{fmt.Sprintf("%s%q"+newly, ofColumn, name)}
	}
	if setting, of := strings.CutPrefix(path, "seen.reading."); of {
		path = wording.Of(setting).String()
	}
	if setting, of := strings.CutPrefix(path, "settings."); of { // of a learner
		path = ofLearner + wording.Of(setting).String()
	}
	return []string{fmt.Sprintf("%s is %s and was %s", path, write(now, x), write(was, y))}
}

// doneTo says which rows they are, by a list of what was done to them.
func doneTo(list any) string {
	var words []string
	done, _ := list.([]any)
	for _, what := range done {
		words = append(words, fmt.Sprint(what))
	}
	return cmp.Or(strings.Join(words, ", "), "all, as they are in the file")
}

// otherFiles says which files came to those that are one table, and which are gone, the first of each; "" where it is
// one file and was one.
func otherFiles(now, was string) string {
	const between = " / " // of frame.Source.Told
	a, b := strings.Split(now, between), strings.Split(was, between)
	if len(a) == 1 && len(b) == 1 {
		return ""
	}
	lacks := func(of []string) func(string) bool {
		return func(name string) bool { return !slices.Contains(of, name) }
	}
	came, gone := slices.IndexFunc(a, lacks(b)), slices.IndexFunc(b, lacks(a))
	switch {
	case came < 0 && gone < 0:
		return "data is the same files in another order"
	case came < 0:
		return fmt.Sprintf("data is without %q and was with it", b[gone])
	case gone < 0:
		return fmt.Sprintf("data is with %q and was without it", a[came])
	}
	return fmt.Sprintf("data is with %q and was with %q", a[came], b[gone])
}

// byName returns a list of things that have different names as a map, and nil for anything else.
func byName(v any) any {
	list, _ := v.([]any)
	named := map[string]any{}
	for _, e := range list {
		m, _ := e.(map[string]any)
		if name, ok := m["Name"].(string); ok {
			named[name] = m
		}
	}
	if len(named) == 0 || len(named) < len(list) {
		return nil
	}
	return named
}

// place is where the release of a name is kept: a file, or memory if path is empty.
type place struct {
	path string
	key  memoryKey
}

type memoryKey struct {
	budget *ledger.Budget
	name   string
}

// remembered has what is kept in memory, by memoryKey, and a mutex for each of them.
var remembered, remembering sync.Map

func placeOf(b *ledger.Budget, name string) place {
	p := place{key: memoryKey{b, name}}
	if path := b.Config().Path; path != "" {
		p.path = filepath.Join(path+".releases", fileOf("release", name)+".json")
	}
	return p
}

// lock waits for others that release under the same name, in this process or another.
func (p place) lock() (unlock func(), err error) {
	if p.path == "" {
		m, _ := remembering.LoadOrStore(p.key, new(sync.Mutex))
		m.(*sync.Mutex).Lock()
		return m.(*sync.Mutex).Unlock, nil
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return nil, err
	}
	lock, err := lockfile.Wait(context.Background(), p.path+".lock", func() {})
	if err != nil {
		return nil, err
	}
	// It is given back with the process at the latest.
	return func() { _ = lock.Unlock() }, nil
}

// read returns nil if nothing is kept.
func (p place) read() ([]byte, error) {
	if p.path == "" {
		content, _ := remembered.Load(p.key)
		text, _ := content.([]byte)
		return text, nil
	}
	text, err := os.ReadFile(p.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func (p place) write(content []byte, err error) error {
	if err != nil {
		return err
	}
	if p.path == "" {
		remembered.Store(p.key, content)
		return nil
	}
	return p.keep(content)
}
