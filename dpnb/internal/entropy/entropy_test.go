//go:build unix

package entropy

import (
	"bytes"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// zeros is a generator that everybody knows.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// By whatever path bits come from the system, no variable of another package decides them: not one of 1,000 bytes comes
// 100 times, which fair ones do with a probability below 256·C(1000, 100)·256⁻¹⁰⁰ < 10⁻⁹⁷, and no two reads are equal.
// What is read by crypto/rand is noticed.
func TestNoVariableDecides(t *testing.T) {
	was := rand.Reader
	rand.Reader = zeros{}
	defer func() { rand.Reader = was }()
	known := func(fill func(b []byte) error) bool {
		var reads [2][1000]byte
		for i := range reads {
			must.Do(fill(reads[i][:]))
			for v := range 256 {
				if bytes.Count(reads[i][:], []byte{byte(v)}) >= 100 {
					return true
				}
			}
		}
		return reads[0] == reads[1]
	}
	if known(func(b []byte) error { Read(b); return nil }) || known(device) {
		t.Error("what is drawn is known to whoever replaces a variable")
	}
	if !known(func(b []byte) error { _, err := rand.Read(b); return err }) {
		t.Error("a generator that was replaced goes unnoticed")
	}
	for path, want := range map[string]string{"/dev/null": "unexpected EOF", os.Args[0]: "no device",
		"/absent": "no such"} {
		if err := character(make([]byte, 8), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if a, b := Text(), Text(); a == b || len(a) != 32 {
		t.Errorf("%q, %q", a, b)
	}
}
