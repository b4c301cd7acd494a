// Package download fetches the files of public data sets, over a proxy where there is one, and keeps none whose
// checksum is not the known one. The command line and the notebooks' set-up may enter: what computes does not go to the
// network.
package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpnb/notebooks/dpnb/dataset"
)

// Settings of Fetch. The zero value fetches from the address of the file.
type Settings struct {
	// BaseURL replaces the address of the file's folder.
	BaseURL string
	// Progress is told how many bytes of how many are here; total is -1 where the server does not say.
	Progress func(done, total int64)
	// Idle is how long the server may send nothing; 0 means a minute.
	Idle time.Duration
}

// partSuffix marks a file that is still incomplete.
const partSuffix = ".part"

// Fetch brings a file into dir and verifies it; a file that is there and right is kept. Until it is complete and
// verified it has another name, NAME.part. What was fetched before the connection broke is kept there and the next
// Fetch goes on from it.
//
// Errors: they say what to do; a *dataset.ChecksumError if the server has something else, which is then not kept.
func Fetch(ctx context.Context, f dataset.File, dir string, s Settings) error {
	path := filepath.Join(dir, f.Name)
	switch err := f.Verify(path); {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrNotExist):
	default:
		return fmt.Errorf("%w; move %s away, then run this again", err, path)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	base := s.BaseURL
	if base == "" {
		base = f.URL
	}
	address, err := url.JoinPath(base, f.Name)
	if err != nil {
		return fmt.Errorf("address %q: %w", base, err)
	}
	part := path + partSuffix
	if err := fetchPart(ctx, address, part, s); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if err := f.Verify(part); err != nil {
		return errors.Join(fmt.Errorf("%s: %w; nothing was kept", address, err), os.Remove(part))
	}
	return os.Rename(part, path)
}

// fetchPart completes the file part. It begins anew where the server does not send the rest alone.
func fetchPart(ctx context.Context, address, part string, s Settings) (err error) {
	out, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Sync(), out.Close()) }()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	response, err := get(ctx, address, have)
	if err != nil {
		return err
	}
	defer response.Body.Close()

	switch {
	case response.StatusCode == http.StatusPartialContent && have > 0 && startsAt(response, have):
	case response.StatusCode == http.StatusRequestedRangeNotSatisfiable && have > 0:
		// Nothing follows what is here: it is complete, or it is another file, which the checksum will tell.
		return nil
	case response.StatusCode == http.StatusOK:
		if err := out.Truncate(0); err != nil {
			return err
		}
		if have, err = out.Seek(0, io.SeekStart); err != nil {
			return err
		}
	default:
		if have == 0 {
			err = os.Remove(part)
		}
		refused := fmt.Errorf("the server answered %s; fetch the file by other means and let %s name its folder",
			response.Status, dataset.DirEnv)
		return errors.Join(refused, err)
	}
	total := int64(-1)
	if response.ContentLength >= 0 {
		total = have + response.ContentLength
	}
	body := &watched{body: response.Body, done: have, total: total, progress: s.Progress}
	body.idle = idleAfter(s.Idle, func() { cancel(errIdle) })
	defer body.idle.Stop()
	if _, err := io.Copy(out, body); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("the connection broke after %d bytes (%w); run this again to go on from there", body.done,
			err)
	}
	return nil
}

func get(ctx context.Context, address string, from int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	// A compressed answer could not be taken up in the middle.
	request.Header.Set("Accept-Encoding", "identity")
	if from > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	client := &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ResponseHeaderTimeout: time.Minute,
	}}
	return client.Do(request)
}

// startsAt reports whether a partial answer is the one that was asked for.
func startsAt(response *http.Response, from int64) bool {
	return strings.HasPrefix(response.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", from))
}

var errIdle = errors.New("the server sent nothing for too long")

func idleAfter(d time.Duration, f func()) *idleTimer {
	if d <= 0 {
		d = time.Minute
	}
	return &idleTimer{time.AfterFunc(d, f), d}
}

type idleTimer struct {
	*time.Timer
	after time.Duration
}

// watched counts the bytes of an answer.
type watched struct {
	body        io.Reader
	done, total int64
	progress    func(done, total int64)
	idle        *idleTimer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	w.done += int64(n)
	if n > 0 {
		w.idle.Reset(w.idle.after)
	}
	if w.progress != nil {
		w.progress(w.done, w.total)
	}
	return n, err
}
