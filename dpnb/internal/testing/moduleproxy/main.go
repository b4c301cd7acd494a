// Command moduleproxy makes a folder that is a proxy of Go's modules and has one version of this module and of those
// below it, of the files that Git has in its index: what a release would be, before it is one.
//
//	go run ./dpnb/internal/testing/moduleproxy /tmp/proxy v0.1.0-test.1
//	GOPROXY=file:///tmp/proxy,$(go env GOPROXY) GONOSUMDB=github.com/dpnb/notebooks \
//	    go install github.com/dpnb/notebooks/dpnb/cmd/dpnb@v0.1.0-test.1
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/dpnb/notebooks/dpnb/internal/project"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: moduleproxy FOLDER VERSION")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "moduleproxy:", err)
		os.Exit(1)
	}
}

func run(proxy, version string) error {
	root, err := project.Root(".")
	if err != nil {
		return err
	}
	tree, err := os.MkdirTemp("", "moduleproxy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	export := exec.Command("git", "-C", root, "checkout-index", "-a", "--prefix="+tree+"/")
	if out, err := export.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return errors.Join(publish(proxy, tree, "", version), publish(proxy, tree, "dpnb/beam", version))
}

// publish writes the files of one module: https://go.dev/ref/mod#goproxy-protocol
func publish(proxy, root, below, version string) (err error) {
	m := module.Version{Path: path.Join(project.ModulePath, below), Version: version}
	dir := filepath.Join(proxy, filepath.FromSlash(m.Path), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(below), "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Now().UTC()})
	if err != nil {
		return err
	}
	for ext, content := range map[string][]byte{".mod": mod, ".info": info} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, version+ext), content, 0o644))
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "list"), []byte(version+"\n"), 0o644))
	f, e := os.Create(filepath.Join(dir, version+".zip"))
	if err = errors.Join(err, e); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return zip.CreateFromDir(f, m, filepath.Join(root, filepath.FromSlash(below)))
}
