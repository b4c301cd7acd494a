package browser

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A person makes a notebook, opens its folder, runs all cells, restarts the kernel and runs them again: there are
// figures and a ledger on the page, and the second run pays for nothing.
func TestOwnNotebook(t *testing.T) {
	if testing.Short() {
		t.Skip("opens Jupyter in a browser")
	}
	chrome := findChrome(t)
	dpnb := filepath.Join(t.TempDir(), "dpnb")
	run(t, "go", "build", "-o", dpnb, "./dpnb/cmd/dpnb")
	t.Setenv("JUPYTER_DATA_DIR", t.TempDir()) // where the kernel is registered
	folder := t.TempDir()
	run(t, dpnb, "new", filepath.Join(folder, "mine"))

	page := openPage(t, chrome, strings.Replace(startLab(t, dpnb, folder), "/?", "/notebooks/mine.ipynb?", 1))
	var classic bool
	evaluate(t, page, `typeof Jupyter !== "undefined"`, &classic)
	if !classic {
		t.Skip("the Jupyter of this machine is not the classic notebook, which is what this test knows to drive")
	}
	waitFor(t, page, `!!(Jupyter.notebook && Jupyter.notebook.kernel && Jupyter.notebook.kernel.is_connected())`)
	first := runAll(t, page, "first")
	if first.Figures == 0 {
		t.Error("there is no figure on the page")
	}
	lines := ledgerLines(first.Text)
	if len(lines) < 8 { // its head, six releases, and the last line
		t.Fatalf("there is no ledger on the page:\n%s", first.Text)
	}

	evaluate(t, page, `new Promise(ready => {
		Jupyter.notebook.events.one("kernel_ready.Kernel", () => ready(true));
		Jupyter.notebook.kernel.restart();
		Jupyter.notebook.clear_all_output();
	})`, new(bool))
	second := runAll(t, page, "second")
	if again := ledgerLines(second.Text); strings.Join(again, "\n") != strings.Join(lines, "\n") {
		t.Errorf("the ledger was\n%s\nand is after a restart\n%s", strings.Join(lines, "\n"), strings.Join(again, "\n"))
	}
}

// ledgerLines returns the lines of the page's last ledger: one for each release, and what all come to.
func ledgerLines(text string) []string {
	all := regexp.MustCompile(`(?s)for\s+mechanism.*?remaining budget[^\n]*`).FindAllString(text, -1)
	if len(all) == 0 {
		return nil
	}
	return strings.Split(all[len(all)-1], "\n")
}

type seen struct {
	Text    string
	Figures int
	Failed  string
}

// runAll runs all cells and returns what is then on the page.
func runAll(t *testing.T, page context.Context, name string) seen {
	t.Helper()
	evaluate(t, page, `Jupyter.notebook.execute_all_cells(), true`, new(bool))
	waitFor(t, page, `Jupyter.notebook.get_cells().every(c => c.cell_type !== "code" ||
		typeof c.input_prompt_number === "number")`)
	var s seen
	evaluate(t, page, `({
		Text: document.querySelector("#notebook-container").innerText,
		Figures: document.querySelectorAll(".output svg, .output img").length,
		Failed: Array.from(document.querySelectorAll(".output_error")).map(e => e.innerText).join("\n"),
	})`, &s)
	var shot []byte
	if err := chromedp.Run(page, chromedp.FullScreenshot(&shot, 90)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+".jpg"), shot, 0o644); err != nil {
		t.Fatal(err)
	}
	if s.Failed != "" {
		t.Fatalf("cells failed:\n%s", s.Failed)
	}
	return s
}

// startLab opens the folder in Jupyter until the test ends and returns its address.
func startLab(t *testing.T, dpnb, folder string) string {
	t.Helper()
	lab := exec.Command(dpnb, "lab", folder, "--no-browser")
	lab.Dir = ".."
	said, err := lab.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		lab.Process.Signal(os.Interrupt)
		lab.Wait()
	})
	found := make(chan string, 1)
	go func() {
		defer close(found)
		address := regexp.MustCompile(`http://(localhost|127\.0\.0\.1):\d+/\S*\?token=\w+`)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if url := address.FindString(lines.Text()); url != "" {
				select {
				case found <- url:
				default: // it says its address several times
				}
			}
		}
	}()
	select {
	case url, ok := <-found:
		if ok {
			return url
		}
		t.Fatal("lab ended without an address")
	case <-time.After(10 * time.Minute): // it may build the kernel first
		t.Fatal("lab told no address")
	}
	return ""
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}
