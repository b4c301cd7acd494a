package dpnb_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// mayImport is the direction in which data flows through the house (docs/architecture.md): a room may import those
// listed, and the internal ones.
var mayImport = map[string][]string{
	"loss":      {"smoothing"},
	"matrix":    {},
	"erm":       {"loss", "matrix"},
	"noise":     {},
	"privacy":   {},
	"mechanism": {"smoothing", "loss", "matrix", "erm", "noise", "privacy"},
	"theory":    {"loss", "privacy"},
	"sim":       {"loss", "matrix", "erm", "noise"},
	"smoothing": {},
	"audit":     {"loss", "matrix", "erm", "mechanism", "noise", "privacy", "sim"},
	"frame":     {"matrix"},
	"dataset":   {"matrix", "frame", "noise"},
	"ledger":    {"privacy"},
	"figure":    {},
	"display":   {},
	"report":    {"dataset", "display", "privacy"},
	"claim":     {},
	"paper":     {"*"},
	"learn": {"loss", "smoothing", "matrix", "erm", "noise", "privacy", "mechanism", "theory", "sim", "frame",
		"dataset", "ledger", "figure", "display"},
	"explore": {"learn", "frame", "mechanism", "ledger", "figure", "display", "noise", "privacy"},
	"":        {"learn", "explore", "noise"}, // the front door: names, no code
	"beam":    {"*"},                         // a module of its own, seen in a workspace alone
	"cmd":     {"*"},
}

// heavy packages make a cell of a notebook slow to build: the maths must not pull them in.
var heavy = []string{"gonum.org/v1/plot", "github.com/janpfeifer/gonb", "github.com/go-gota", "github.com/spf13"}

// mathematics may use gonum and nothing heavy.
var mathematics = map[string]bool{"matrix": true, "loss": true, "erm": true, "noise": true, "privacy": true,
	"mechanism": true, "theory": true, "sim": true, "audit": true, "ledger": true, "smoothing": true}

// rooms below internal are tools that every room may use and that use no room.
func internalRoom(from string) bool { return strings.HasPrefix(from, "internal/") }

// room returns the top room of a package, so that sub-packages count with it.
func room(path string) string {
	path = strings.TrimPrefix(strings.TrimPrefix(path, "github.com/dpnb/notebooks/dpnb"), "/")
	parts := strings.Split(path, "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return "internal/" + parts[1]
	}
	return parts[0]
}

func TestImportsPointOneWay(t *testing.T) {
	out := must.Get(exec.Command("go", "list", "-json=ImportPath,Imports",
		"github.com/dpnb/notebooks/dpnb/...").Output())
	dec := json.NewDecoder(strings.NewReader(string(out)))
	rooms := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		rooms++
		from := room(p.ImportPath)
		allowed, known := mayImport[from]
		if !known && !internalRoom(from) {
			t.Errorf("%s is a room that docs/architecture.md and this test do not know", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "github.com/apache/arrow-go") &&
				!strings.HasSuffix(p.ImportPath, "frame/parquet") {
				t.Errorf("%s imports %s: frame/parquet alone may", p.ImportPath, imp)
			}
			if imp == "crypto/rand" {
				t.Errorf("%s imports %s, whose Reader any package can replace: use internal/entropy", p.ImportPath, imp)
			}
			for _, h := range heavy {
				if mathematics[from] && strings.HasPrefix(imp, h) {
					t.Errorf("%s imports %s: the maths must stay light", p.ImportPath, imp)
				}
			}
			if !strings.HasPrefix(imp, "github.com/dpnb/notebooks/dpnb") {
				continue
			}
			own := strings.TrimPrefix(p.ImportPath, "github.com/dpnb/notebooks/dpnb/")
			if room(imp) == "internal/testing" && from != "internal/testing" && !forTests[own] {
				t.Errorf("%s imports %s, which is for tests", p.ImportPath, imp)
			}
			if why := forbidden(from, room(imp), allowed); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, imp, why)
			}
			if a, b := tenant(p.ImportPath), tenant(imp); a != b && b != "" && room(p.ImportPath) == "mechanism" {
				t.Errorf("%s imports %s: a mechanism knows no other tenant's room", p.ImportPath, imp)
			}
		}
	}
	if rooms < 10 {
		t.Errorf("only %d packages were listed", rooms)
	}
}

// forTests are the packages elsewhere that tests alone use, together with those below internal/testing.
var forTests = map[string]bool{"paper/internal/pictures": true}

// tenant returns the mechanism that a package belongs to: objpert of mechanism/objpert/interval, "" of the contract and
// outside.
func tenant(path string) string {
	_, below, _ := strings.Cut(path, "/dpnb/mechanism/")
	name, _, _ := strings.Cut(below, "/")
	return name
}

func forbidden(from, to string, allowed []string) string {
	if from == to || strings.HasPrefix(to, "internal/") {
		return ""
	}
	if to == "cmd" {
		return "nothing imports the command line"
	}
	for _, a := range allowed {
		if a == to || a == "*" {
			return ""
		}
	}
	return "that points against the flow of data"
}

// The rule must be able to refuse.
func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"erm", "loss", true}, {"loss", "erm", false}, {"privacy", "mechanism", false}, {"privacy", "loss", false},
		{"", "cmd", false}, {"paper", "audit", true}, {"claim", "audit", false}, {"figure", "internal/runlog", true},
		{"mechanism", "frame", false},
	} {
		if got := forbidden(c.from, c.to, mayImport[c.from]) == ""; got != c.ok {
			t.Errorf("%s → %s: allowed %v, want %v", c.from, c.to, got, c.ok)
		}
	}
}

// Tenants of mechanism and who is none.
func TestTenant(t *testing.T) {
	const house = "github.com/dpnb/notebooks/dpnb"
	for path, want := range map[string]string{"/mechanism/objpert/interval": "objpert", "/mechanism/qop": "qop",
		"/mechanism": "", "/erm": ""} {
		if got := tenant(house + path); got != want {
			t.Errorf("%s belongs to %q, want %q", path, got, want)
		}
	}
}

// The top level is a list that a stranger can take in.
func TestTopLevel(t *testing.T) {
	known := map[string]bool{".ci": true, ".git": true, ".gitignore": true, ".dockerignore": true, "LICENSE": true,
		"go.mod": true, "go.sum": true, "dpnb": true, "sidebyside": true, "browser": true,
		".devcontainer": true, ".github": true, // each where its service looks for it
		"notebooks": true, "data": true, "docs": true, "Dockerfile": true, "README.md": true, "reports": true,
		"NOTICE": true, "CITATION.cff": true} // where people and services look for them
	entries := must.Get(os.ReadDir(filepath.Join("..", ".")))
	for _, e := range entries {
		if !known[e.Name()] {
			t.Errorf("%s stands at the top level; has it no room?", e.Name())
		}
	}
}
