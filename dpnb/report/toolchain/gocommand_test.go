package toolchain

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// The kernel's two calls are changed, and a module that is not on this machine is still fetched; what a user calls is
// not touched.
func TestGoCommand(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	for _, test := range []struct{ call, missing, want string }{
		{"get", "", "off: get\n"},
		{"get", "a module", "off: get\nproxy: get\n"},
		{"get example.com/a@latest", "", "proxy: get example.com/a@latest\n"},
		{"build -o a.out", "", "proxy: build -ldflags=-s -o a.out\n"},
		{"build -o a.out -ldflags=-w", "", "proxy: build -ldflags=-s -o a.out -ldflags=-w\n"},
		{"build .", "", "proxy: build .\n"},
		{"mod tidy", "", "proxy: mod tidy\n"},
		{"", "", "proxy: \n"},
	} {
		dir := filepath.Join(t.TempDir(), "it's a folder")
		must.Do(os.Mkdir(dir, 0o700))
		log, real := filepath.Join(dir, "log"), filepath.Join(dir, "real go")
		write := func(path, text string) {
			t.Helper()
			must.Do(os.WriteFile(path, []byte(text), 0o700))
		}
		write(real, `#!/bin/sh
echo "$GOPROXY: $*" >>"$LOG"
[ -z "$MISSING" ] || [ "$GOPROXY" != off ]
`)
		write(filepath.Join(dir, "go"), fmt.Sprintf(goScript, quoted(real)))
		cmd := exec.Command(filepath.Join(dir, "go"), strings.Fields(test.call)...)
		cmd.Env = append(os.Environ(), "GOPROXY=proxy", "LOG="+log, "MISSING="+test.missing)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("go %s: %v\n%s", test.call, err, out)
		}
		if got, err := os.ReadFile(log); err != nil || string(got) != test.want {
			t.Errorf("go %s calls %q, %v, want %q", test.call, got, err, test.want)
		}
	}
}
