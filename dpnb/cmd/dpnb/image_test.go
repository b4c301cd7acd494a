package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// mostImage is how many bytes the image may have.
const mostImage = 1.5e9

// The image is built as the Dockerfile says, is not large, and leaves in the folder that is mounted what report makes
// there. That takes minutes, a root user, buildah and the images below it: DPNB_IMAGE has options of "buildah build"
// that name others than the public ones, or a space.
func TestImage(t *testing.T) {
	options, asked := os.LookupEnv("DPNB_IMAGE")
	if !asked {
		t.Skip("DPNB_IMAGE is not set")
	}
	buildah := func(args ...string) string {
		t.Helper()
		c := exec.Command("buildah", args...)
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("buildah %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	const name = "dpnb-test"
	args := append([]string{"build", "--isolation", "chroot", "--layers", "-t", name}, strings.Fields(options)...)
	buildah(append(args, filepath.Join("..", "..", ".."))...)
	container := buildah("from", name)
	defer exec.Command("buildah", "rm", container).Run()
	// The folders of the system count, of which the image's own user may not read some.
	used := buildah("run", "--user", "root", "--isolation", "chroot", container, "--", "du", "-sx", "--apparent-size",
		"-B1", "/")
	size, err := strconv.ParseFloat(strings.Fields(used)[0], 64)
	if t.Logf("%.2f GB", size/1e9); err != nil || !(size > 0 && size <= mostImage) {
		t.Errorf("%.2f GB, at most %.1f: %v", size/1e9, mostImage/1e9, err)
	}
	work := t.TempDir()
	must.Do(os.Chmod(work, 0o777))
	buildah("run", "--isolation", "chroot", "-v", work+":/home/dpnb/work", container, "--", "dpnb", "report",
		"00_start_here")
	for _, file := range []string{"00_start_here.html", "index.html"} {
		if _, err := os.Stat(filepath.Join(work, "reports", file)); err != nil {
			t.Error(err)
		}
	}
}
