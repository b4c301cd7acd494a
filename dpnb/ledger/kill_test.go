//go:build unix

package ledger

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// dieEnv has the path of a ledger that a child charges, and then waits to be killed.
const dieEnv = "DPNB_TEST_LEDGER_DIES"

// A program that is killed after the charge and before the release has spent what it charged: another goes on with what
// is left, and finds no lock that stays.
func TestAKilledProgramHasPaid(t *testing.T) {
	if path := os.Getenv(dieEnv); path != "" {
		c := config(path)
		c.Name = "killed"
		b, err := anew(c)
		if err == nil {
			err = b.Charge(Entry{Epsilon: 0.6})
		}
		os.Stdout.WriteString(map[bool]string{true: "charged\n", false: "failed\n"}[err == nil])
		select {} // the noise would be drawn here
	}
	program := must.Get(os.Executable())
	path := filepath.Join(t.TempDir(), "ledger.json")
	cmd := exec.Command(program, "-test.run=^TestAKilledProgramHasPaid$")
	cmd.Env = append(os.Environ(), dieEnv+"="+path)
	out := must.Get(cmd.StdoutPipe())
	must.Do(cmd.Start())
	said, err := bufio.NewReader(out).ReadString('\n')
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	cmd.Wait()
	if err != nil || said != "charged\n" {
		t.Fatalf("the child said %q, %v", said, err)
	}
	c := config(path)
	c.Name = "killed"
	b := must.Get(anew(c))
	if s := state(t, b); s.SpentEpsilon != 0.6 || len(s.Entries) != 1 {
		t.Errorf("after the kill: %+v", s)
	}
	if err := b.Check(Entry{Epsilon: 0.5}); err == nil {
		t.Error("what was charged can be spent again")
	}
	if err := b.Charge(Entry{Epsilon: 0.4}); err != nil {
		t.Error(err)
	}
}
