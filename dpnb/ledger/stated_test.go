package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/checksum"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// A file says what was stated, and of one that has no entries yet an error says how to state it anew; of another it
// says nothing of the kind.
func TestStated(t *testing.T) {
	c := config(filepath.Join(t.TempDir(), "ledger.json"))
	c.Additive = true
	text := must.Get(checksum.Marshal(file{Config: c})) // earlier versions began a ledger when it was stated
	must.Do(os.WriteFile(c.Path, must.Get(checksum.Seal(format, version, text)), 0o600))
	b := open(t, c)
	if got := must.Get(Stated(c.Path)); got != c {
		t.Errorf("%+v was stated, and the file says %+v", c, got)
	}
	other := c
	other.Epsilon = 2
	const cure = "Nothing was released from it so far"
	if _, err := anew(other); err == nil || !strings.Contains(err.Error(), cure) {
		t.Errorf("a budget of which nothing was spent: %v", err)
	}
	must.Do(b.Charge(Entry{Label: "count", Mechanism: "noise", Epsilon: 0.5}))
	if _, err := anew(other); err == nil || strings.Contains(err.Error(), cure) {
		t.Errorf("a budget that was begun: %v", err)
	}
	must.Do(os.WriteFile(c.Path, []byte("{}"), 0o600))
	for _, path := range []string{c.Path, c.Path + ".none"} {
		if got, err := Stated(path); err == nil {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// Where no file may be written the error says so, with a cure.
func TestLedgerWherePermissionIsDenied(t *testing.T) {
	if os.Getuid() <= 0 { // on Windows −1; root may write anywhere
		t.Skip("needs a user who may not write everywhere")
	}
	dir := t.TempDir()
	must.Do(os.Chmod(dir, 0o500))
	defer func() { must.Do(os.Chmod(dir, 0o700)) }()
	if _, err := Open(config(filepath.Join(dir, "ledger.json"))); err == nil ||
		!strings.Contains(err.Error(), "in which you may write files") {
		t.Error(err)
	}
}
