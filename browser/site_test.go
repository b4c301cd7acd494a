package browser

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestSite opens every page of the site, as a desk and as a phone show it, and looks for what a reader would
// stumble over. TestSiteCheckSees shows that each fault is seen.
func TestSite(t *testing.T) {
	if testing.Short() {
		t.Skip("opens every page in a browser")
	}
	chrome := findChrome(t)
	out := t.TempDir()
	run(t, "go", "run", "./dpnb/cmd/dpnb", "site", "--out", out)
	page := openPage(t, chrome, "about:blank")
	addresses, links := map[string]bool{}, map[string][]string{}
	pages := 0
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		pages++
		name, err := filepath.Rel(out, path)
		if err != nil {
			return err
		}
		found := look(t, page, path)
		for _, fault := range found.Faults {
			t.Errorf("%s: %s", name, fault)
		}
		for _, id := range found.IDs {
			addresses[path+"#"+id] = true
		}
		links[name] = found.Links
		return nil
	})
	if err != nil || pages < 30 {
		t.Fatalf("%d pages: %v", pages, err)
	}
	for name, list := range links {
		for _, link := range list {
			u, err := url.Parse(link)
			if err != nil || u.Scheme != "file" {
				continue
			}
			here := u.Fragment == "" || filepath.Ext(u.Path) != ".html" ||
				addresses[u.Path+"#"+u.Fragment] || addresses[u.Path+"#"+u.EscapedFragment()]
			if _, err := os.Stat(u.Path); err != nil || !here {
				t.Errorf("%s: the link %s leads nowhere", name, strings.TrimPrefix(link, "file://"+out))
			}
		}
	}
}

// Each fault is seen on a page that has it and no other.
func TestSiteCheckSees(t *testing.T) {
	page := openPage(t, findChrome(t), "about:blank")
	for name, c := range map[string]struct{ body, want string }{
		"none":      {`<p>x<sup>2</sup> <code>$y$</code> costs $5</p>`, ""},
		"request":   {`<img alt="a" src="https://127.0.0.1:1/a.png">`, "asks for https://127.0.0.1:1/a.png"},
		"console":   {`<script>console.error("no")</script>`, "console"},
		"exception": {`<script>nobody()</script>`, "nobody"},
		"formula":   {`<p>so $\alpha + 1$</p>`, "raw formula"},
		"no text":   {`<img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>">`, "without its text"},
		"wide":      {`<div style="width:420px">a</div>`, "wider than the page"},
		"word":      {`<p>` + strings.Repeat("a", 200) + `</p>`, "wider than the page"},
		"scrolls":   {`<div style="overflow-x:auto"><div style="width:900px">a</div></div>`, ""},
		"language":  {``, "language"},
	} {
		t.Run(name, func(t *testing.T) {
			html := `<!DOCTYPE html><html lang="en"><meta name="viewport" content="width=device-width">` +
				`<link rel="icon" href="data:,"><title>a</title><body style="margin:0">` + c.body
			if name == "language" {
				html = strings.Replace(html, ` lang="en"`, "", 1)
			}
			path := filepath.Join(t.TempDir(), "page.html")
			if err := os.WriteFile(path, []byte(html), 0o600); err != nil {
				t.Fatal(err)
			}
			faults := look(t, page, path).Faults
			seen := strings.Contains(strings.Join(faults, "\n"), c.want)
			if c.want == "" && len(faults) > 0 || !seen {
				t.Errorf("found %q, want %q", faults, c.want)
			}
		})
	}
}

type looked struct{ Faults, IDs, Links []string }

// look opens a page at 1200 and at 400 pixels, light and dark, and returns what is wrong with it.
func look(t *testing.T, parent context.Context, path string) (all looked) {
	t.Helper()
	ctx, stop := chromedp.NewContext(parent) // a tab of its own
	defer stop()
	own := (&url.URL{Scheme: "file", Path: path}).String()
	var mu sync.Mutex // events come from another goroutine
	var faults []string
	chromedp.ListenTarget(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; u != own && !strings.HasPrefix(u, "data:") {
				faults = append(faults, "asks for "+u)
			}
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				faults = append(faults, "console: "+fmt.Sprint(e.Type))
			}
		case *runtime.EventExceptionThrown:
			faults = append(faults, e.ExceptionDetails.Error())
		}
	})
	for _, view := range []struct {
		width  int64
		scheme string
	}{{1200, "light"}, {400, "dark"}} {
		media := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: view.scheme}})
		var found looked
		err := chromedp.Run(ctx, network.Enable(), media, chromedp.EmulateViewport(view.width, 800),
			chromedp.Navigate(own), chromedp.WaitReady("body"), chromedp.Evaluate(inspect, &found))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		mu.Lock()
		for _, f := range found.Faults {
			faults = append(faults, fmt.Sprintf("at %d pixels, %s: %s", view.width, view.scheme, f))
		}
		mu.Unlock()
		all = found
	}
	mu.Lock()
	defer mu.Unlock()
	all.Faults = faults
	return all
}

// inspect looks at the page that is open.
const inspect = `(() => {
	const faults = [];
	const tell = (what, e) => { if (faults.length < 12) faults.push(what + ": " + e.slice(0, 160)); };
	if (document.documentElement.lang !== "en") tell("language", document.documentElement.lang);
	if (!document.title) tell("title", "none");
	for (const e of document.querySelectorAll("code.tex")) tell("raw formula", e.textContent);
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = walker.nextNode();) {
		if (n.parentElement.closest("code, pre, math, script, style, .jp-RenderedText")) continue;
		if (/\$[^\s$0-9][^$\n]*\$|\\(begin|frac|alpha|sum|sqrt|varepsilon)|dpnbFORMULA/.test(n.data))
			tell("raw formula", n.data.trim());
	}
	for (const i of document.images) {
		if (!i.alt.trim()) tell("a picture without its text", i.outerHTML);
		i.loading = "eager";
	}
	const width = document.documentElement.clientWidth;
	const scrolls = e => { for (let a = e.parentElement; a && a !== document.body; a = a.parentElement)
		if (/auto|scroll|hidden/.test(getComputedStyle(a).overflowX)) return true; return false; };
	if (document.documentElement.scrollWidth > width) {
		for (const e of document.body.querySelectorAll("*")) {
			if (e.getBoundingClientRect().right > width + 0.5 && e.children.length === 0 && !scrolls(e)) {
				tell("wider than the page", e.outerHTML);
			}
		}
		tell("wider than the page", document.documentElement.scrollWidth + " pixels");
	}
	return {
		Faults: faults,
		IDs: Array.from(document.querySelectorAll("[id]"), e => e.id),
		Links: Array.from(document.querySelectorAll("a[href]"), e => e.href),
	};
})()`
