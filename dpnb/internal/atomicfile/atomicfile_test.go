package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.html")
	for _, content := range []string{"first", "second, longer", ""} {
		must.Do(Write(path, []byte(content)))
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Fatalf("got %q, %v; want %q", got, err, content)
		}
	}
	if n := names(t, dir); len(n) != 1 {
		t.Errorf("left behind: %v", n)
	}
}

func TestFailedWriteLeavesTheOldFileAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.Mkdir(path, 0o755); err != nil { // a folder cannot be replaced by a file
		t.Fatal(err)
	}
	if err := Write(path, []byte("x")); err == nil {
		t.Fatal("no error")
	}
	if n := names(t, dir); len(n) != 1 || n[0] != "taken" {
		t.Errorf("left behind: %v", n)
	}
}

// A folder that is not there is named, and not the part of a file that would have been there.
func TestFolderThatIsNotThere(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "nowhere")
	err := Write(filepath.Join(folder, "x"), nil)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), folder+" is not there: make it") ||
		strings.Contains(err.Error(), "part") {
		t.Error(err)
	}
}

// A file system that cannot bring names to the disk is no reason to fail, and an error of one that can is.
func TestFoldersThatCannotBeSynced(t *testing.T) {
	if runtime.GOOS == "linux" {
		f := must.Get(os.Open("/proc"))
		defer f.Close()
		if err := f.Sync(); !errors.Is(err, syscall.EINVAL) {
			t.Skip("/proc can be synced: ", err)
		}
		must.Do(syncFolder("/proc"))
	}
	must.Do(syncFolder(filepath.Join(t.TempDir(), "absent")))
}

func TestRemoveParts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{tempPrefix + "a.html-123", tempPrefix + "b.html-0123abcd", "a.html", "b.html",
		".hidden"} {
		must.Do(os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	path := filepath.Join(dir, "b.html")
	part := filepath.Join(dir, tempPrefix+"b.html-0123abcd")
	must.Do(os.WriteFile(part, []byte("a release"), 0o600))
	before := must.Get(os.Open(part))
	defer before.Close()
	for range 2 { // there, and not
		must.Do(errors.Join(ErasePartsOf(path), Erase(path)))
	}
	if left, err := io.ReadAll(before); err != nil || len(bytes.Trim(left, "\x00")) > 0 {
		t.Errorf("of a part that was erased %q can be read (%v)", left, err)
	}
	if n := names(t, dir); len(n) != 3 {
		t.Errorf("left: %v", n)
	}
	must.Do(RemoveParts(dir))
	if n := names(t, dir); len(n) != 2 {
		t.Errorf("left: %v", n)
	}
	if err := RemoveParts(filepath.Join(dir, "absent")); err != nil {
		t.Error(err)
	}
}

// Who may read a file is what the umask says, what it was for the file of the name before, or nobody else; while it is
// written too. The umask is of the whole process: that of a child is set.
func TestWhoMayRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	const folder = "DPNB_UMASK_FOLDER"
	if dir := os.Getenv(folder); dir != "" {
		t.Chdir(dir)
		during := func(w io.Writer) error {
			for _, name := range names(t, ".") {
				info, err := os.Stat(name)
				if strings.HasPrefix(name, tempPrefix) && (err != nil || info.Mode()&0o077 != 0) {
					t.Errorf("while a new file is written: %v, %v", info.Mode(), err)
				}
			}
			return nil
		}
		if err := errors.Join(Stream("new", during), Write("old", nil), WritePrivately("private", nil)); err != nil {
			t.Error(err)
		}
		return
	}
	for umask, want := range map[string]os.FileMode{"022": 0o644, "077": 0o600, "002": 0o664} {
		dir := t.TempDir()
		for name, mode := range map[string]os.FileMode{"old": 0o640, "private": 0o644} {
			path := filepath.Join(dir, name)
			must.Do(errors.Join(os.WriteFile(path, nil, mode), os.Chmod(path, mode)))
		}
		c := exec.Command("sh", "-c", "umask "+umask+`; exec "$0" -test.run='^TestWhoMayRead$'`, os.Args[0])
		c.Env = append(os.Environ(), folder+"="+dir)
		out, err := c.CombinedOutput()
		if umask == "077" && err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		for name, want := range map[string]os.FileMode{"new": want, "old": 0o640, "private": 0o600} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
				t.Errorf("with umask %s the %s file is %v, want %v (%v)", umask, name, info.Mode(), want, err)
			}
		}
	}
}

// A folder is private where nobody else can put files into it: who may read it is not asked.
func TestPrivateFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	dir := t.TempDir()
	made := filepath.Join(dir, "a", "b")
	must.Do(PrivateFolder(made))
	if info, err := os.Stat(made); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("made: %v, %v", info, err)
	}
	for mode, private := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o775: false, 0o757: false,
		0o777 | os.ModeSticky: false} {
		must.Do(os.Chmod(made, mode))
		if err := PrivateFolder(made); (err == nil) != private {
			t.Errorf("%v: %v", mode, err)
		}
	}
	if err := errors.Join(os.Chmod(made, 0o755), os.Chown(made, 12_345, -1)); err == nil && PrivateFolder(made) == nil {
		t.Error("a folder of another user is thought to be private")
	}
}

// A program that ends while it writes leaves nothing of that.
func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	err := Stream(filepath.Join(dir, "a"), func(w io.Writer) error {
		if n := names(t, dir); len(n) != 1 {
			t.Errorf("%v is written", n)
		}
		Abandon()
		return nil
	})
	if n := names(t, dir); err == nil || len(n) > 0 {
		t.Errorf("left: %v (%v)", n, err)
	}
}

// What whoever may write to a folder has put there in the name of a part erases no other file; the part of a file of a
// longer name, which may be being written, is left.
func TestEraseFollowsNothing(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	path := filepath.Join(dir, "a.csv")
	part, longer := filepath.Join(dir, tempPrefix+"a.csv-00000001"), filepath.Join(dir, tempPrefix+"a.csv-old-00000001")
	must.Do(errors.Join(Write(other, []byte("mine")), Write(longer, nil)))
	if err := os.Symlink(other, part); err != nil {
		t.Skip(err) // Windows asks for a privilege
	}
	if err := ErasePartsOf(path); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(other); string(content) != "mine" {
		t.Errorf("what a link leads to is %q (%v)", content, err)
	}
	if n := names(t, dir); len(n) != 1 || n[0] != filepath.Base(longer) {
		t.Errorf("left: %v", n)
	}
}

// Who opened a file before it was erased reads zeros.
func TestErase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	must.Do(WritePrivately(path, bytes.Repeat([]byte("key"), 10_000)))
	before := must.Get(os.Open(path))
	defer before.Close()
	for range 2 { // there, and not
		must.Do(Erase(path))
	}
	if left, err := io.ReadAll(before); err != nil || len(bytes.Trim(left, "\x00")) > 0 {
		t.Errorf("%d bytes can still be read (%v)", len(left), err)
	}
	if n := names(t, filepath.Dir(path)); len(n) > 0 {
		t.Errorf("left: %v", n)
	}
}

func TestMove(t *testing.T) {
	t.Run("within a file system", checkMove)
	rename = func(string, string) error { return syscall.EXDEV }
	defer func() { rename = os.Rename }()
	t.Run("to another", checkMove)
}

func checkMove(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	must.Do(errors.Join(Write(from, []byte("new")), Write(to, []byte("old"))))
	for range 2 { // there, and not
		must.Do(Move(from, to))
		if content, err := os.ReadFile(to); err != nil || string(content) != "new" {
			t.Errorf("%q, %v", content, err)
		}
		if n := names(t, filepath.Dir(from)); len(n) > 0 {
			t.Errorf("left: %v", n)
		}
	}
}
