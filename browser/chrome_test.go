package browser

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// findChrome returns the path of a Chromium, or skips the test and says why.
func findChrome(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("there is no Chromium here, and checks are not complete without: install Debian's package chromium")
	}
	t.Skip("there is no Chromium on this machine")
	return ""
}

// openPage opens an address in a browser of its own, which asks nobody else for anything.
func openPage(t *testing.T, chrome, url string) context.Context {
	t.Helper()
	// Not the test's own folder: its removal fails the test while processes of a browser that has ended still write
	// there.
	profile, err := os.MkdirTemp("", "dpnb-chrome-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 100 {
			if os.RemoveAll(profile) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chrome), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(5*time.Minute), chromedp.DisableGPU, chromedp.WindowSize(1200, 1000),
		chromedp.UserDataDir(profile), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stopPage := chromedp.NewContext(ctx)
	t.Cleanup(stopPage)
	ctx, stopTime := context.WithTimeout(ctx, 20*time.Minute)
	t.Cleanup(stopTime)
	if err := chromedp.Run(ctx, chromedp.Navigate(url), chromedp.WaitReady("body")); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// evaluate evaluates an expression of JavaScript, and waits for it if it is a promise.
func evaluate(t *testing.T, page context.Context, expression string, result any) {
	t.Helper()
	wait := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	if err := chromedp.Run(page, chromedp.Evaluate(expression, result, wait)); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
}

// waitFor waits until an expression is true.
func waitFor(t *testing.T, page context.Context, expression string) {
	t.Helper()
	poll := chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(8*time.Minute))
	if err := chromedp.Run(page, poll); err != nil {
		t.Fatalf("%s did not become true: %v", expression, err)
	}
}
