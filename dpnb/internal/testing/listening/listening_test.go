package listening

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// TestBeyond: what listens on loopback is not beyond it, what listens on every address is.
func TestBeyond(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux alone tells")
	}
	for address, beyond := range map[string]int{"127.0.0.1:0": 0, "127.0.0.9:0": 0, "0.0.0.0:0": 1, ":0": 1} {
		l := must.Get(net.Listen("tcp", address))
		if got, loopback := Beyond(os.Getpid()); len(got) != beyond || len(got)+loopback != 1 {
			t.Errorf("%s: %v, and %d on loopback", address, got, loopback)
		}
		_ = l.Close()
	}
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6: ", err)
	}
	defer l.Close()
	if got, loopback := Beyond(os.Getpid()); len(got) > 0 || loopback != 1 {
		t.Errorf("[::1]: %v, and %d on loopback", got, loopback)
	}
}

// TestArguments: those of a process that was started are seen, and not those of the one that asks.
func TestArguments(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux alone tells")
	}
	child := exec.Command("sh", "-c", "read line", "a secret")
	in, err := child.StdinPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := Arguments(os.Getpid()); !slices.Equal(got, child.Args) {
		t.Errorf("got %q", got)
	}
	_ = in.Close()
	_ = child.Wait() // 1: there was no line
}
