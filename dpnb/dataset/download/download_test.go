package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/dataset"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

var (
	content = bytes.Repeat([]byte("39, State-gov, 77516, Bachelors\n"), 4096)
	file    = dataset.File{Name: "small.data", SHA256: fmt.Sprintf("%x", sha256.Sum256(content))}
)

// server returns the address of a folder behind which handler answers.
func server(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL + "/data/"
}

// serve sends content as servers of static files do, ranges included.
func serve(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, file.Name, time.Time{}, bytes.NewReader(content))
}

// cutAfter sends n bytes of the whole content and then breaks the connection.
func cutAfter(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	w.Write(content[:n])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// files returns the names in dir, with the sizes.
func files(t *testing.T, dir string) string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))
	var list []string
	for _, e := range entries {
		info := must.Get(e.Info())
		list = append(list, fmt.Sprintf("%s:%d", e.Name(), info.Size()))
	}
	return strings.Join(list, " ")
}

var complete = fmt.Sprintf("small.data:%d", len(content))

func TestFetch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not yet made")
	requests := 0
	base := server(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.URL.Path != "/data/small.data" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		serve(w, r)
	})
	var done, total int64
	s := Settings{BaseURL: base, Progress: func(d, n int64) { done, total = d, n }}
	for range 2 { // the second time there is nothing to do
		must.Do(Fetch(context.Background(), file, dir, s))
	}
	if got := files(t, dir); got != complete || requests != 1 {
		t.Errorf("%s after %d requests", got, requests)
	}
	if n := int64(len(content)); done != n || total != n {
		t.Errorf("progress ended at %d of %d", done, total)
	}
}

func TestWrongChecksumKeepsNothing(t *testing.T) {
	dir := t.TempDir()
	base := server(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>moved</html>")) })
	err := Fetch(context.Background(), file, dir, Settings{BaseURL: base})
	var wrong *dataset.ChecksumError
	if !errors.As(err, &wrong) {
		t.Errorf("error: %v", err)
	}
	if got := files(t, dir); got != "" {
		t.Errorf("left: %s", got)
	}
}

func TestCutConnectionIsTakenUpAgain(t *testing.T) {
	dir := t.TempDir()
	const first = 50_000
	var ranges []string
	base := server(t, func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		if len(ranges) == 1 {
			cutAfter(w, first)
		}
		serve(w, r)
	})
	err := Fetch(context.Background(), file, dir, Settings{BaseURL: base})
	if err == nil || !strings.Contains(err.Error(), "run this again") {
		t.Fatalf("cut: %v", err)
	}
	if got := files(t, dir); got != fmt.Sprintf("small.data.part:%d", first) {
		t.Fatalf("after the cut: %s", got)
	}
	must.Do(Fetch(context.Background(), file, dir, Settings{BaseURL: base}))
	if got := files(t, dir); got != complete {
		t.Errorf("in the end: %s", got)
	}
	if len(ranges) != 2 || ranges[1] != fmt.Sprintf("bytes=%d-", first) {
		t.Errorf("asked for %q", ranges)
	}
}

func TestPartThatIsNotTheBeginning(t *testing.T) {
	dir := t.TempDir()
	base := server(t, serve)
	part := filepath.Join(dir, "small.data.part")
	must.Do(os.WriteFile(part, []byte("something else"), 0o644))
	var wrong *dataset.ChecksumError
	if err := Fetch(context.Background(), file, dir, Settings{BaseURL: base}); !errors.As(err, &wrong) {
		t.Errorf("first: %v", err)
	}
	if err := Fetch(context.Background(), file, dir, Settings{BaseURL: base}); err != nil {
		t.Errorf("second, from the beginning: %v", err)
	}
}

func TestCompletePartNeedsNothingMore(t *testing.T) {
	dir := t.TempDir()
	base := server(t, serve)
	must.Do(os.WriteFile(filepath.Join(dir, "small.data.part"), content, 0o644))
	must.Do(Fetch(context.Background(), file, dir, Settings{BaseURL: base}))
	if got := files(t, dir); got != complete {
		t.Errorf("left: %s", got)
	}
}

func TestServerThatIgnoresRanges(t *testing.T) {
	base := server(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(content) })
	for _, part := range [][]byte{content[:777], bytes.Repeat([]byte("older and longer"), 10_000)} {
		dir := t.TempDir()
		must.Do(os.WriteFile(filepath.Join(dir, "small.data.part"), part, 0o644))
		must.Do(Fetch(context.Background(), file, dir, Settings{BaseURL: base}))
		if got := files(t, dir); got != complete {
			t.Errorf("left: %s", got)
		}
	}
}

func TestServerThatSendsAnotherRange(t *testing.T) {
	base := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-99/%d", len(content)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(content[:100])
	})
	for part, left := range map[int]string{0: "", 777: "small.data.part:777"} { // of nothing no range was asked for
		dir := t.TempDir()
		if part > 0 {
			must.Do(os.WriteFile(filepath.Join(dir, "small.data.part"), content[:part], 0o644))
		}
		err := Fetch(context.Background(), file, dir, Settings{BaseURL: base})
		if err == nil || !strings.Contains(err.Error(), "206") {
			t.Errorf("after %d bytes: %v", part, err)
		}
		if got := files(t, dir); got != left {
			t.Errorf("left: %s", got)
		}
	}
}

func TestNotFound(t *testing.T) {
	for _, status := range []int{404, 416} {
		dir := t.TempDir()
		base := server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		err := Fetch(context.Background(), file, dir, Settings{BaseURL: base})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint("answered ", status)) ||
			!strings.Contains(err.Error(), dataset.DirEnv) {
			t.Errorf("error: %v", err)
		}
		if got := files(t, dir); got != "" {
			t.Errorf("left: %s", got)
		}
	}
}

func TestSilentServer(t *testing.T) {
	dir := t.TempDir()
	base := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(content[:10])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	err := Fetch(context.Background(), file, dir, Settings{BaseURL: base, Idle: 50 * time.Millisecond})
	if !errors.Is(err, errIdle) {
		t.Errorf("error: %v", err)
	}
}

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	base := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(content[:10])
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	if err := Fetch(ctx, file, dir, Settings{BaseURL: base}); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
}

func TestFileOfTheUserIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, file.Name)
	must.Do(os.WriteFile(path, []byte("mine"), 0o644))
	err := Fetch(context.Background(), file, dir, Settings{BaseURL: server(t, serve)})
	if err == nil || !strings.Contains(err.Error(), "move") {
		t.Errorf("error: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("now %q", got)
	}
}
