package toolchain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// goScript stands before the go command on the kernel's PATH. Before each cell the kernel calls "go get", which asks
// the proxy about every module of the program, and "go build -o", half of which writes tables for debuggers. Here a
// program is built first, and only if that fails, and the kernel did ask, are modules looked for: on this machine, and
// then elsewhere. The tables are left out (panics still name their lines, and %goflags has the last word). A cell that
// only declares, beside variables that are computed without anything that may fail or act, is compiled and not linked:
// there is nothing to run, and linking takes most of the time. Every other call is handed on as it is, and so is each
// in a folder that is not one of the kernel's.
const goScript = `#!/bin/sh
declares() {
	[ -z "$GOOS" ] && [ "$(tail -n 1 main.go)" = 'func main() { flag.Parse() }' ] && ! grep -q '^func init' main.go &&
		! grep -Eq '^[[:space:]]*_ "|^import _|^[[:space:]]*(import )?"C"' main.go &&
		! sed '/^var (/,/^)/!d; s/^var (//; s/^)//' main.go |
			grep -Eq '[(*/%%` + "`" + `]|<-|<<|>>|[=!]=|\[[^]]|[[:alnum:]_]\.[[:alpha:]_]'
}
compile() { shift 2; %[1]s list -export "$@" . >/dev/null 2>&1; }
build() { GOGC=${GOGC:-400} %[1]s build -ldflags=-s "$@"; }
case "${PWD##*/}" in gonb_*) ;; *) exec %[1]s "$@" ;; esac # a folder of a user
case "$#$1$2" in
1get) : >.get; exit ;;
*build-o) shift; get=; rm .get 2>/dev/null && get=asked; rm -f "$2"
	declares && compile "$@" && echo '#!/bin/sh' >"$2" && chmod +x "$2" && exit
	build "$@" >/dev/null 2>&1 && exit
	[ -z "$get" ] || GOPROXY=off %[1]s get >/dev/null 2>&1 || %[1]s get || exit
	build "$@"; exit ;;
*test-c) rm -f "$4" ;; # go writes over no script
esac
exec %[1]s "$@"
`

// writeGoCommand puts goScript into k.Bin where there is a shell for it.
func writeGoCommand(ctx context.Context, s Settings, k *Kernel) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	goRoot, err := goOutput(ctx, k.dir, "env", "GOROOT")
	if err != nil {
		return err
	}
	command := filepath.Join(strings.TrimSpace(goRoot), "bin", "go")
	return place(s, filepath.Join(k.Bin, "go"), func(part string) error {
		return os.WriteFile(part, fmt.Appendf(nil, goScript, quoted(command)), 0o755)
	})
}

// quoted is a text as a word for the shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
