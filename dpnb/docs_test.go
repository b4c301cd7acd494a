package dpnb_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/paper"
	"github.com/dpnb/notebooks/dpnb/report/notebook"
)

// Every link between the pages, and from the notebooks, leads somewhere, file and anchor.
func TestLinksResolve(t *testing.T) {
	testscale.Slow(t)
	pages := readPages(t)
	links := 0
	for name, text := range readNotebooks(t) {
		pages[name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		n, problems := linkProblems(pages, name, func(file string) bool {
			_, err := os.Stat(filepath.Join("..", filepath.FromSlash(file)))
			return err == nil
		})
		links += n
		for _, p := range problems {
			t.Error(p)
		}
	}
	if links < 200 {
		t.Errorf("only %d links were found", links)
	}
}

// Every statement has one place, by its number in the inventory of its paper.
func TestAnchors(t *testing.T) {
	known := statements(t)
	if len(known) < 250 {
		t.Errorf("only %d statements in the inventories", len(known))
	}
	anchors := 0
	place := map[string]string{}
	pages := readPages(t)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if path.Dir(name) != "docs/theory" {
			continue
		}
		for _, m := range anchorTag.FindAllStringSubmatch(pages[name], -1) {
			anchors++
			if problem := anchorProblem(m[1], known); problem != "" {
				t.Errorf("%s: %s", name, problem)
			}
			if before, twice := place[m[1]]; twice {
				t.Errorf("%s and %s have the anchor %s", before, name, m[1])
			}
			place[m[1]] = name
		}
	}
	if anchors < 100 {
		t.Errorf("only %d anchors were found", anchors)
	}
}

// The checks see what they are for.
func TestChecksOfThePagesCanFail(t *testing.T) {
	pages := map[string]string{
		"docs/a.md": "# A page: its *head*\n<a id=\"x-1.2\"></a>\n## Twice\n## Twice\n[1](b.md) [2](b.md#there) " +
			"[3](#x-1.2) " +
			"[4](#twice-1) [5](#a-page-its-head) [6](https://example.com/#y) $[0](c.md)$ " +
			"`[0](c.md)`\n```\n[0](c.md)\n```\n" +
			"[7](c.md) [8](b.md#nowhere) [9](#x-1) [10](#twice-2)",
		"docs/b.md": "<a id=\"there\"></a>",
	}
	n, problems := linkProblems(pages, "docs/a.md", func(string) bool { return false })
	if n != 9 || len(problems) != 4 {
		t.Errorf("%d links, problems: %q", n, problems)
	}
	known := map[string]bool{"rkw23/thm3.1": true, "dtz24/thm3.7a": true}
	for anchor, want := range map[string]bool{
		"rkw23-thm3.1": true, "dtz24-thm3.7": true, "dpnb-tight": true, "rkw23-thm3.10": false, "thm3.1": false,
	} {
		if got := anchorProblem(anchor, known) == ""; got != want {
			t.Errorf("%s is let pass: %v, want %v", anchor, got, want)
		}
	}
	h := parseHouse(t)
	h.claims = known
	good := "`objective.New`, `objective.Config.Lambda`, `privacy.Profile.Adjacency`, `math.Exp`, " +
		"`TestImportsPointOneWay`, " +
		"`dpnb/privacy/objective`, `privacy/objective/doc.go`, `rkw23/thm3.1`, `sets.A of B`, " +
		"$`objective.Old`$\n```\n`objective.Old`\n```\n"
	if n, problems := h.problems("", good); n != 8 || len(problems) != 0 {
		t.Errorf("%d names, problems: %q", n, problems)
	}
	bad := "`objective.Newer`, `objective.Config.Lambdas`, `nowhere.New`, `TestThatIsNot`, `dpnb/privacy/objection`, " +
		"`rkw23/thm3.11`, `nofile.go`"
	if n, problems := h.problems("", bad); n != 7 || len(problems) != 7 {
		t.Errorf("%d names, problems: %q", n, problems)
	}
}

// What comments in the code name of docs/theory is there.
func TestCommentsNameAnchors(t *testing.T) {
	tree := must.Get(checkout())
	place := regexp.MustCompile(`docs/theory/([a-z0-9_]+)\.md#([\w.-]*\w)`)
	pages := map[string]bool{} // a page without anchors has no place to name
	for _, a := range tree.Anchors {
		pages[a.Page] = true
	}
	found := 0
	for name := range tree.Paths {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text := must.Get(os.ReadFile(filepath.Join("..", filepath.FromSlash(name))))
		for _, m := range place.FindAllStringSubmatch(string(text), -1) {
			found++
			if pages[m[1]] && tree.Anchors[m[2]].Page != m[1] {
				t.Errorf("%s names %s, which is not there", name, m[0])
			}
		}
	}
	if found < 9 {
		t.Errorf("only %d anchors are named", found)
	}
}

// readPages returns the Markdown of the project by its path from the top.
func readPages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	read := func(file string) {
		text := must.Get(os.ReadFile(file))
		pages[path.Clean(strings.TrimPrefix(filepath.ToSlash(file), "../"))] = string(text)
	}
	read(filepath.Join("..", "README.md"))
	must.Do(filepath.WalkDir(filepath.Join("..", "docs"), func(file string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".md" {
			read(file)
		}
		return err
	}))
	return pages
}

// readNotebooks returns the Markdown of the notebooks by their paths from the top.
func readNotebooks(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../notebooks/*.ipynb")
	if err != nil || len(files) < 11 {
		t.Fatalf("%d notebooks, %v", len(files), err)
	}
	pages := map[string]string{}
	for _, file := range files {
		nb := must.Get(notebook.ReadFile(file))
		for _, c := range nb.Cells {
			if c.Type() == "markdown" {
				pages["notebooks/"+filepath.Base(file)] += c.Source() + "\n\n"
			}
		}
	}
	return pages
}

// statements returns the IDs of the papers' inventories.
func statements(t *testing.T) map[string]bool {
	t.Helper()
	papers := paper.Papers()
	known := map[string]bool{}
	for _, p := range papers {
		for _, s := range p.Statements {
			known[s.ID] = true
		}
	}
	return known
}

// Every claim has its code, proof, tests, errata and figure, all of which exist, and its proof is the one that somebody
// held it against.
func TestClaimsLeadSomewhere(t *testing.T) {
	tree := must.Get(checkout())
	for _, c := range paper.Register() {
		for _, problem := range c.Problems(tree) {
			t.Error(problem)
		}
	}
}

var (
	fence     = regexp.MustCompile("(?ms)^```.*?^```[^\n]*$")
	formula   = regexp.MustCompile(`(?s)\$\$.*?\$\$|\$[^$\n]*\$`)
	inline    = regexp.MustCompile("`[^`\n]*`")
	link      = regexp.MustCompile(`\]\(([^()\s]+)\)|(?:href|src)="([^"]+)"`)
	anchorTag = regexp.MustCompile(`<a id="([^"]+)"></a>`)
	heading   = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
)

// prose returns text without its code blocks and formulas.
func prose(text string) string {
	return formula.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
}

// linkProblems checks the links of a page, and returns how many stay in the project. exists is asked about files that
// are no pages.
func linkProblems(pages map[string]string, name string, exists func(file string) bool) (n int, problems []string) {
	for _, m := range link.FindAllStringSubmatch(inline.ReplaceAllString(prose(pages[name]), ""), -1) {
		target := m[1] + m[2]
		if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
			continue
		}
		n++
		file, anchor, anchored := strings.Cut(target, "#")
		page := name
		if file != "" {
			page = path.Join(path.Dir(name), file)
		}
		text, isPage := pages[page]
		switch {
		case !isPage && !exists(page):
			problems = append(problems, fmt.Sprintf("%s: %s is not there", name, target))
		case isPage && anchored && !anchorsOf(text)[anchor]:
			problems = append(problems, fmt.Sprintf("%s: %s has no anchor %s", name, page, anchor))
		}
	}
	return n, problems
}

// anchorsOf returns what a link into the page may name: headings, as GitHub makes addresses of them, and <a id>.
func anchorsOf(text string) map[string]bool {
	return must.Get(anchors.Of(text, func() (map[string]bool, error) { return readAnchors(text), nil }))
}

// anchors are those of the pages by their text: many links lead to one page.
var anchors = recent.Values[string, map[string]bool]{Kept: 256}

func readAnchors(text string) map[string]bool {
	anchors := map[string]bool{}
	text = fence.ReplaceAllString(text, "")
	for _, m := range anchorTag.FindAllStringSubmatch(text, -1) {
		anchors[m[1]] = true
	}
	drop := regexp.MustCompile(`[^\p{L}\p{N}\p{M}_\- ]`)
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		words := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		address := strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(words), ""), " ", "-")
		unique := address
		for i := 1; anchors[unique]; i++ {
			unique = fmt.Sprintf("%s-%d", address, i)
		}
		anchors[unique] = true
	}
	return anchors
}

// anchorProblem says what is wrong with an anchor of a page on theory: it is our own, or a paper's statement.
// dtz24-thm3.7 may stand for its parts (a) and (b).
func anchorProblem(anchor string, known map[string]bool) string {
	paper, statement, ok := strings.Cut(anchor, "-")
	if ok && (paper == "dpnb" || known[paper+"/"+statement] || known[paper+"/"+statement+"a"]) {
		return ""
	}
	return fmt.Sprintf("the anchor %s is no statement of an inventory", anchor)
}

// docs/architecture.md says of every package what it is, and of every room what it may import, as imports_test.go
// enforces it.
func TestArchitectureIsTheHouse(t *testing.T) {
	page := readPages(t)["docs/architecture.md"]
	for _, problem := range architectureProblems(t, page) {
		t.Error(problem)
	}
	// It must be able to fail.
	wrong := strings.Replace(page, "| `erm` | `matrix`, `loss` |", "| `erm` | `matrix` |", 1)
	wrong = strings.ReplaceAll(wrong, "`erm/composite`", "composite")
	if problems := architectureProblems(t, wrong); len(problems) != 2 {
		t.Errorf("of two faults: %q", problems)
	}
}

func architectureProblems(t *testing.T, page string) (problems []string) {
	t.Helper()
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|([^|]*)\\|[^|]*\\|$").FindAllStringSubmatch(page, -1) {
		rows[m[1]] = m[2]
	}
	for room, allowed := range mayImport {
		listed, ok := rows[cmp.Or(room, "dpnb")]
		if !ok {
			problems = append(problems, room+" is not in the table of rooms")
			continue
		}
		var names []string
		for _, m := range inline.FindAllString(listed, -1) {
			names = append(names, strings.Trim(m, "`"))
		}
		if strings.TrimSpace(listed) == "every room" {
			names = []string{"*"}
		}
		slices.Sort(names)
		if !slices.Equal(names, slices.Sorted(slices.Values(allowed))) {
			problems = append(problems, fmt.Sprintf("%s may import %q by the page, %q by the test", room, names,
				allowed))
		}
	}
	must.Do(filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || file == "." {
			return err
		}
		name := filepath.ToSlash(file)
		if path.Base(name) == "internal" || path.Base(name) == "testdata" {
			return fs.SkipDir
		}
		if files, _ := filepath.Glob(filepath.Join(file, "*.go")); len(files) > 0 &&
			!strings.Contains(page, "`"+name+"`") {
			problems = append(problems, name+" is not on the page")
		}
		return nil
	}))
	return problems
}
