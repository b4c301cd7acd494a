package toolchain

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

// Modules are looked for only where a program does not build and the kernel asked for them, and what is not on this
// machine is still fetched; what only declares is not linked; what a user calls is not touched.
func TestGoCommand(t *testing.T) {
	testscale.Slow(t)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	const (
		build, off = "proxy: build -ldflags=-s -o a.out", "off: get"
		list       = "proxy: list -export -race ."
		raced      = "proxy: build -ldflags=-s -o a.out -race"
		declares   = "func main() { flag.Parse() }\n"
		unasked    = "// by a kernel that was told %noautoget"
		others     = "// of a user, in a folder of their own"
	)
	for _, test := range []struct{ program, call, fail, want string }{
		{"", "get", "", ""},
		{"", "get example.com/a@latest", "", "proxy: get example.com/a@latest"},
		{"", "build -o a.out", "", build},
		{"", "build -o a.out -ldflags=-w", "", build + " -ldflags=-w"},
		{"", "build -o a.out", build, build + "\n" + off + "\n" + build},
		{"", "build -o a.out", build + "|" + off, build + "\n" + off + "\nproxy: get\n" + build},
		{"", "build -o a.out", build + "|" + off + "|proxy: get", build + "\n" + off + "\nproxy: get"},
		{unasked, "build -o a.out", build, build + "\n" + build},
		{others, "get", "", "proxy: get"},
		{others, "build -o a.out", "", "proxy: build -o a.out"},
		{"", "build .", "", "proxy: build ."},
		{"", "test -c -o a.out", "", "proxy: test -c -o a.out"},
		{"", "mod tidy", "", "proxy: mod tidy"},
		{"", "", "", "proxy: "},

		{declares, "build -o a.out -race", "", list},
		{declares, "build -o a.out -race", list, list + "\n" + raced},
		{declares + "// more\n", "build -o a.out -race", "", raced},
		{"var (\n\ta = []int{1, -2} // -1 (or 2)\n)\n" + declares, "build -o a.out -race", "", raced},
		{"var (\n\ta = []int{1}\n\tb = \"x\"\n)\nfunc f() { g(1/2) }\n" + declares, "build -o a.out -race", "", list},
		{"var (\n\ta = 1\n\tb = f()\n)\n" + declares, "build -o a.out -race", "", raced},
		{"var (\n\ta = <-b\n)\n" + declares, "build -o a.out -race", "", raced},
		{"var (\n\ta = b[2]\n)\n" + declares, "build -o a.out -race", "", raced},
		{"var (\n\ta = 1 / b\n)\n" + declares, "build -o a.out -race", "", raced},
		{"var (\n\ta = e.Error\n)\n" + declares, "build -o a.out -race", "", raced},
		{"var (\n\ta = 1 << b\n)\n" + declares, "build -o a.out -race", "", raced},
		{"var (\n\ta = b == c\n)\n" + declares, "build -o a.out -race", "", raced},
		{"var (\n\ta = `\n)\n`\n\tb = f()\n)\n" + declares, "build -o a.out -race", "", raced},
		{"import (\n\t_ \"x\"\n)\n" + declares, "build -o a.out -race", "", raced},
		{"func init_a() {\n" + declares, "build -o a.out -race", "", raced},
	} {
		dir := filepath.Join(t.TempDir(), map[bool]string{false: "gonb_it's", true: "a gonb_"}[test.program == others])
		must.Do(os.Mkdir(dir, 0o700))
		log, real := filepath.Join(dir, "log"), filepath.Join(dir, "real go")
		write := func(path, text string) {
			t.Helper()
			must.Do(os.WriteFile(path, []byte(text), 0o700))
		}
		write(filepath.Join(dir, "main.go"), test.program)
		write(real, `#!/bin/sh
echo "$GOPROXY: $*" >>"$LOG"
! echo "$GOPROXY: $*" | grep -Exq "$FAIL" || { echo "not $*" >&2; exit 3; }
`)
		write(filepath.Join(dir, "go"), fmt.Sprintf(goScript, quoted(real)))
		if test.program != unasked && test.program != others {
			asks := exec.Command(filepath.Join(dir, "go"), "get")
			asks.Dir = dir
			must.Do(asks.Run())
		}
		cmd := exec.Command(filepath.Join(dir, "go"), strings.Fields(test.call)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=proxy", "GOOS=", "LOG="+log, "FAIL="+cmp.Or(test.fail, "nothing"))
		out, err := cmd.CombinedOutput()
		calls, _ := os.ReadFile(log) // not there where nothing was called
		if got := strings.TrimSuffix(string(calls), "\n"); got != test.want {
			t.Errorf("go %s calls %q, want %q", test.call, got, test.want)
		}
		// What the last call says, and its verdict, are the kernel's to show.
		last := test.want[strings.LastIndex(test.want, "\n")+1:]
		said := ""
		if failed := test.fail != "" && slices.Contains(strings.Split(test.fail, "|"), last); failed {
			_, args, _ := strings.Cut(last, ": ")
			said = "not " + args + "\n"
		}
		// What is not linked runs all the same, and does nothing.
		if program := filepath.Join(dir, "a.out"); test.want == list && exec.Command(program).Run() != nil {
			t.Errorf("%q: there is nothing to run", test.program)
		}
		if string(out) != said || (err != nil) != (said != "") {
			t.Errorf("go %s, where %q fails, says %q, %v, want %q", test.call, test.fail, out, err, said)
		}
	}
}
