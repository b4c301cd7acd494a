package runlog

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Log is what one run recorded, in the order of the first record of each.
type Log struct {
	Data    []Data   `json:"data,omitempty"`
	Files   []File   `json:"files,omitempty"`
	Seeds   []Seed   `json:"seeds,omitempty"`
	Ledgers []Ledger `json:"ledgers,omitempty"`
	Notes   []Note   `json:"notes,omitempty"`
}

// Data says which file was read, or which records were drawn in memory.
type Data struct {
	Name   string `json:"name"`   // what the notebook calls it
	Path   string `json:"path"`   // base name only: folders say nothing to another reader
	SHA256 string `json:"sha256"` // of the whole file, in hexadecimal
	Rows   int    `json:"rows"`
	// Public says that the file holds nothing to protect, so that its checksum and its number of rows may be published.
	// A checksum of private records gives them away to whoever can guess all of them but one.
	Public bool `json:"public"`
	// Invented says that the rows were drawn in memory by a public generator: there is no file, and SHA256, if it is
	// stated, is of the table written as text.
	Invented bool `json:"invented,omitempty"`
	// File is the path on this machine, by which the runner sees whether the file has changed. It is never published.
	File string `json:"file,omitempty"`
}

// File says which file was read that is none of records: a schema, a model. It is never published; the runner sees by
// it whether the file has changed.
type File struct {
	Path   string `json:"path"`   // on this machine
	SHA256 string `json:"sha256"` // in hexadecimal
}

// Seed says which seed a simulation used, and what for if that was said.
type Seed struct {
	Name string `json:"name,omitempty"`
	Seed uint64 `json:"seed"`
}

// Note is a remark for the reader of the report.
type Note struct {
	Text string `json:"text"`
}

// Ledger is a snapshot of a privacy budget: what it allows and what was spent.
type Ledger struct {
	Name         string  `json:"name"`      // of the budget; later snapshots replace earlier ones
	Adjacency    string  `json:"adjacency"` // which data sets count as neighbours
	Epsilon      Number  `json:"epsilon"`   // allowed
	Delta        Number  `json:"delta"`     // allowed
	Entries      []Entry `json:"entries"`
	EpsilonSpent Number  `json:"epsilon_spent"`
	DeltaSpent   Number  `json:"delta_spent"`
	// Kept is true if the ledger outlives the run, in a file of the user's.
	Kept bool `json:"kept"`
}

// Entry is one line of a ledger.
type Entry struct {
	Label     string `json:"label"`
	Mechanism string `json:"mechanism"`
	Epsilon   Number `json:"epsilon"`
	Delta     Number `json:"delta"`
	// Simulated is true where the noise came from a seed that anyone can repeat, so that the release protects nobody.
	Simulated bool `json:"simulated"`
}

// Number is a float64 that keeps ±Inf and NaN through JSON, which has no word for them: they are written as strings.
type Number float64

// MarshalJSON writes the shortest decimal that reads back as the same value.
func (x Number) MarshalJSON() ([]byte, error) {
	text := x.String()
	if x-x != 0 { // only for ±Inf and NaN
		text = strconv.Quote(text)
	}
	return []byte(text), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (x *Number) UnmarshalJSON(text []byte) error {
	if s, err := strconv.Unquote(string(text)); err == nil {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("runlog: number %q: %w", s, err)
		}
		*x = Number(v)
		return nil
	}
	return json.Unmarshal(text, (*float64)(x))
}

// String returns the shortest decimal that reads back as the same value.
func (x Number) String() string { return strconv.FormatFloat(float64(x), 'g', -1, 64) }
