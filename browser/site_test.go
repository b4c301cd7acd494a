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
	"github.com/chromedp/chromedp/kb"
)

// TestSite opens every page of the site, as a desk and as a phone show it, light and dark, and looks for what a reader
// would stumble over. TestSiteCheckSees and TestSiteLinksCheckSees show that each fault is seen.
func TestSite(t *testing.T) {
	if testing.Short() {
		t.Skip("opens every page in a browser")
	}
	chrome := findChrome(t)
	out := t.TempDir()
	run(t, "go", "run", "./dpnb/cmd/dpnb", "site", "--out", out)
	page := openPage(t, chrome, "about:blank")
	pages := map[string]looked{}
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		name, err := filepath.Rel(out, path)
		pages[filepath.ToSlash(name)] = look(t, page, path)
		for _, fault := range pages[filepath.ToSlash(name)].Faults {
			t.Errorf("%s: %s", name, fault)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range expected(t) {
		if _, ok := pages[name]; !ok {
			t.Errorf("there is no page %s", name)
		}
	}
	for _, lost := range nowhere(out, pages) {
		t.Error(lost)
	}
	turned := 0
	for name, p := range pages {
		if turned += p.Sliders; p.Sliders > 0 {
			turn(t, page, filepath.Join(out, name), p.Sliders)
		}
	}
	if turned < 3 {
		t.Errorf("there are %d sliders", turned)
	}
}

// turn turns each slider of a page to its ends, by keys: one figure of each is seen, that of the value which it says.
func turn(t *testing.T, parent context.Context, path string, sliders int) {
	t.Helper()
	page, stop := chromedp.NewContext(parent)
	defer stop()
	own := (&url.URL{Scheme: "file", Path: path}).String()
	if err := chromedp.Run(page, chromedp.Navigate(own), chromedp.WaitReady("body")); err != nil {
		t.Fatal(err)
	}
	for i := range sliders {
		focus := fmt.Sprintf(`slider = document.querySelectorAll("input[type=range]")[%d]; slider.focus(); ""`, i)
		evaluate(t, page, focus, new(string))
		for _, key := range []string{kb.End, kb.Home, kb.ArrowRight} {
			if err := chromedp.Run(page, chromedp.KeyEvent(key)); err != nil {
				t.Fatal(err)
			}
			var wrong string
			evaluate(t, page, turnedWrongly, &wrong)
			if wrong != "" {
				t.Errorf("%s, slider %d: %s", filepath.Base(path), i+1, wrong)
			}
		}
	}
}

// turnedWrongly says what is wrong with a slider that was turned.
const turnedWrongly = `(() => {
	const all = [...slider.closest("div").querySelectorAll("img")], says = slider.labels[0].querySelector("output");
	const seen = all.filter(p => p.offsetHeight > 0);
	if (seen.length != 1) return seen.length + " of " + all.length + " figures are seen";
	if (seen[0] !== all[slider.value]) return "another figure is seen";
	if (seen[0].dataset.value !== says.textContent) return "it says " + says.textContent;
	return slider.getAttribute("aria-valuetext") === says.textContent ? "" : "it tells a reader another value";
})()`

// expected returns the pages that the site has to have: the index, the gallery, one for each notebook and one for each
// text of docs.
func expected(t *testing.T) []string {
	t.Helper()
	names := []string{"index.html", "gallery.html"}
	for _, pattern := range []string{"../notebooks/*.ipynb", "../docs/*.md", "../docs/theory/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 5 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			name := strings.TrimSuffix(filepath.ToSlash(f), filepath.Ext(f)) + ".html"
			names = append(names, strings.TrimPrefix(strings.TrimPrefix(name, "../"), "notebooks/"))
		}
	}
	return names
}

// nowhere returns the links between the pages in a folder, by their names in it, that lead to no file or to no place on
// a page.
func nowhere(out string, pages map[string]looked) (lost []string) {
	places := map[string]bool{}
	for name, p := range pages {
		for _, id := range p.IDs {
			places[filepath.Join(out, name)+"#"+id] = true
		}
	}
	for name, p := range pages {
		for _, link := range p.Links {
			u, err := url.Parse(link)
			if err != nil || u.Scheme != "file" {
				continue
			}
			here := u.Fragment == "" || filepath.Ext(u.Path) != ".html" ||
				places[u.Path+"#"+u.Fragment] || places[u.Path+"#"+u.EscapedFragment()]
			if _, err := os.Stat(u.Path); err != nil || !here {
				lost = append(lost, fmt.Sprintf("%s: the link %s leads nowhere", name,
					strings.TrimPrefix(link, "file://"+out)))
			}
		}
	}
	return lost
}

// A link to a page that is not there and one to a place that is not there are found, and no other.
func TestSiteLinksCheckSees(t *testing.T) {
	page, dir := openPage(t, findChrome(t), "about:blank"), t.TempDir()
	pages := map[string]looked{}
	for name, body := range map[string]string{
		"a.html": `<a href="b.html">b</a> <a href="b.html#here">b</a> <a href="https://example.org/c.html">c</a>`,
		"b.html": `<p id="here">b</p> <a href="c.html">c</a> <a href="a.html#there">a</a>`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(sound(body)), 0o600); err != nil {
			t.Fatal(err)
		}
		pages[name] = look(t, page, path)
	}
	lost := strings.Join(nowhere(dir, pages), "\n")
	if strings.Count(lost, "leads nowhere") != 2 || !strings.Contains(lost, "b.html: the link /c.html") ||
		!strings.Contains(lost, "b.html: the link /a.html#there") {
		t.Errorf("found %q", lost)
	}
}

// sound is a page without a fault, of a body.
func sound(body string) string {
	return `<!DOCTYPE html><html lang="en"><meta name="viewport" content="width=device-width">` +
		`<link rel="icon" href="data:,"><title>a</title><body style="margin:0">` + body
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
		"script":    {`<p>so e^{x}</p>`, "raw formula"},
		"no text":   {`<img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>">`, "without its text"},
		"wide":      {`<div style="width:420px">a</div>`, "wider than the page"},
		"word":      {`<p>` + strings.Repeat("a", 200) + `</p>`, "wider than the page"},
		"scrolls":   {`<div style="overflow-x:auto"><div style="width:900px">a</div></div>`, ""},
		"at 1200": {`<style>@media (min-width:1000px) { p { width:1300px } }</style><p>a</p>`,
			"at 1200 pixels, dark: wider"},
		"in dark": {`<style>@media (prefers-color-scheme:dark) { p { width:900px } }</style><p>a</p>`,
			"at 390 pixels, dark: wider"},
		"fence": {"<p>so ```go fmt.Println() ```</p>", "raw text"},
		"faint": {`<p style="color:#bbb">a</p>`, "can hardly be read"},
		"faint, in dark": {`<style>@media (prefers-color-scheme:dark) { body { background:#111 } }</style>` +
			`<p style="color:#444">a</p>`, "at 390 pixels, dark: can hardly be read"},
		"just readable":       {`<p style="color:#767676">a</p>`, ""},
		"just not readable":   {`<p style="color:#777">a</p>`, "can hardly be read"},
		"large":               {`<p style="color:#777;font-size:24px">a</p>`, ""},
		"lets ground through": {`<p style="opacity:.5">a</p>`, "can hardly be read"},
		"on a tint":           {`<p style="background:rgba(0,0,0,.2);color:#666">a</p>`, "can hardly be read"},
		"small letters":       {picture("340px", "756"), "at 390 pixels, light: letters of 8.5 pixels"},
		"letters":             {picture("380px", "756"), ""},
		"of a drawing": {strings.Replace(picture("340px", "504"), "<img", "<img data-value='a'", 1),
			"at 390 pixels, light: letters of 8.5 pixels"},
		"figure scrolls": {`<div style="overflow-x:auto">` + picture("480px", "756") + `</div>`,
			"at 390 pixels, light: a figure of 480 pixels"},
		"language": {``, "language"},
		"title":    {``, "title"},
	} {
		t.Run(name, func(t *testing.T) {
			html := sound(c.body)
			switch name {
			case "language":
				html = strings.Replace(html, ` lang="en"`, "", 1)
			case "title":
				html = strings.Replace(html, "<title>a</title>", "", 1)
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

// picture is a figure of 5¼ inches, so many dots wide, shown in a width.
func picture(width, dots string) string {
	return `<img alt="a" style="width:` + width + `" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' ` +
		`width='` + dots + `' height='576'/>">`
}

type looked struct {
	Faults, IDs, Links []string
	Sliders            int
}

// look opens a page at 1200 and at 390 pixels, light and dark, and returns what is wrong with it.
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
	settled := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	for _, view := range []struct {
		width  int64
		scheme string
	}{{1200, "light"}, {1200, "dark"}, {390, "light"}, {390, "dark"}} {
		media := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: view.scheme}})
		var found looked
		err := chromedp.Run(ctx, network.Enable(), media, chromedp.EmulateViewport(view.width, 800),
			chromedp.Navigate(own), chromedp.WaitReady("body"), chromedp.Evaluate(inspect, &found, settled))
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
const inspect = `(async () => {
	const faults = [];
	const tell = (what, e) => { if (faults.length < 12) faults.push(what + ": " + e.slice(0, 160)); };
	if (document.documentElement.lang !== "en") tell("language", document.documentElement.lang);
	if (!document.title) tell("title", "none");
	for (const e of document.querySelectorAll("code.tex")) tell("raw formula", e.textContent);
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = walker.nextNode();) {
		if (n.parentElement.closest("code, pre, math, script, style, .jp-RenderedText")) continue;
		if (/\$[^\s$0-9][^$\n]*\$|\\(begin|frac|alpha|sum|sqrt|varepsilon)|[\^_]\{[^}]*\}|dpnbFORMULA/.test(n.data))
			tell("raw formula", n.data.trim());
		if (/\x60{3}/.test(n.data)) tell("raw text", n.data.trim());
	}
	// Luminance and contrast as in the Web Content Accessibility Guidelines, level AA, of colours as they are seen:
	// grounds that let through what is behind them, texts that let through their ground.
	const rgba = c => { const v = (c.match(/[\d.]+/g) || []).map(Number); return v.length > 3 ? v : [...v, 1]; };
	const over = (front, back, part) => back.map((b, i) => part * front[i] + (1 - part) * b);
	const light = c => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => {
		const v = c[i] / 255;
		return sum + w * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	}, 0);
	const behind = e => {
		if (!e) return [255, 255, 255];
		const c = rgba(getComputedStyle(e).backgroundColor);
		return over(c, c[3] === 1 ? [0, 0, 0] : behind(e.parentElement), c[3]);
	};
	const opaque = e => e ? getComputedStyle(e).opacity * opaque(e.parentElement) : 1;
	const seen = new Set();
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = texts.nextNode();) {
		const e = n.parentElement;
		if (!n.data.trim() || seen.has(e) || e.closest("script, style, annotation, svg")) continue;
		seen.add(e);
		const style = getComputedStyle(e), ground = behind(e), color = rgba(style.color), part = opaque(e);
		if (part === 0) continue; // shown when it is pointed at
		const [a, b] = [light(over(color, ground, color[3] * part)), light(ground)];
		const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
		const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (contrast < (large ? 3 : 4.5)) tell("can hardly be read", n.data.trim());
	}
	for (const i of document.images) {
		if (!i.alt.trim()) tell("a picture without its text", i.outerHTML);
		i.loading = "eager";
	}
	// Of a figure the smallest letters are of 9.5 points, at 144 dots an inch, of a slider's drawings at 96.
	await Promise.all(Array.from(document.images, i => i.decode().catch(() => 0)));
	// One picture, of hours of simulation that no page runs, is still of seven inches.
	const figures = [...document.images].filter(i => i.naturalWidth > 450 && i.style.display !== "none" &&
		!i.alt.startsWith("Accuracy on Adult against ε from 0.025 to 8"));
	for (const i of figures) {
		const letters = 9.5 * (i.dataset.value ? 96 : 144) / 72 * i.clientWidth / i.naturalWidth;
		if (letters < 9) tell("letters of " + letters.toFixed(1) + " pixels", i.alt);
		if (i.getBoundingClientRect().right > innerWidth) tell("a figure of " + i.clientWidth + " pixels", i.alt);
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
		Sliders: document.querySelectorAll("input[type=range]").length,
	};
})()`
