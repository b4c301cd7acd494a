package report

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/internal/project"
	"github.com/dpnb/notebooks/dpnb/internal/runlog"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// provenance returns the text that ends a report: all that someone needs to get the same numbers again, and what they
// cost in privacy.
func provenance(
	ctx context.Context, s *Setup, parameters map[string]string, run *execution, started time.Time) (string, error) {
	modules, err := dependencies(s.Tree.Dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("---\n## Where these results come from\n\n|  |  |\n|:--|:--|\n")
	row := func(name string, values ...string) {
		for i, value := range values {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "| %s | %s |\n", name, cellText(value))
		}
	}
	if s.Tree.Version != "" {
		row("Version", project.ModulePath+" "+s.Tree.Version)
	} else {
		row("Version", project.Release+"-devel, commit "+project.ReadRevision(ctx, s.Tree.Dir).String())
	}
	row("Kernel", "gonb "+s.Kernel.Version)
	row("Go", fmt.Sprintf("%s on %s/%s", s.Kernel.GoVersion, runtime.GOOS, runtime.GOARCH))
	row("Modules", strings.Join(modules, ", "))
	row("Jupyter", strings.Join(byName(s.Jupyter.Versions, " "), ", "))
	if len(parameters) == 0 {
		row("Parameters", "as in the notebook")
	}
	row("Parameters", byName(parameters, " = ")...)
	row("Seeds, of no release", seedText(run.log)...)
	row("Data", dataText(run.log)...)
	for _, note := range run.log.Notes {
		row("Note", note.Text)
	}
	row("Run", fmt.Sprintf("%s, took %.1f s", started.UTC().Format("2006-01-02 15:04 MST"), run.seconds))
	if run.failure != nil {
		row("Verdict", "failed: "+run.failure.Error())
	}
	for _, ledger := range run.log.Ledgers {
		b.WriteString(ledgerText(ledger))
	}
	if len(run.log.Ledgers) == 0 {
		b.WriteString("\nNo privacy budget was used.\n")
	}
	return b.String(), nil
}

// dependencies returns the modules that go.mod requires directly, with versions.
func dependencies(root string) ([]string, error) {
	path := filepath.Join(root, "go.mod")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.ParseLax(path, content, nil)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, m := range mod.Require {
		if !m.Indirect {
			list = append(list, m.Mod.Path+" "+m.Mod.Version)
		}
	}
	return list, nil
}

// byName lists values behind their names.
func byName(m map[string]string, between string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, name+between+m[name])
	}
	return list
}

// mostSeeds is how many seeds without a name are listed.
const mostSeeds = 6

// seedText lists the seeds by name, and in a last line those without one, of which an experiment may have a hundred
// that it derives from the notebook's own.
func seedText(log *runlog.Log) []string {
	if len(log.Seeds) == 0 {
		return []string{"none: nothing was drawn from a seed"}
	}
	var list, rest []string
	for _, s := range log.Seeds {
		if s.Name == "" {
			rest = append(rest, fmt.Sprint(s.Seed))
			continue
		}
		list = append(list, fmt.Sprintf("%s: %d", s.Name, s.Seed))
	}
	if more := len(rest) - mostSeeds; more > 0 {
		rest = append(rest[:mostSeeds], fmt.Sprintf("and %d more", more))
	}
	if len(rest) > 0 {
		others := strings.Join(rest, ", ")
		if len(list) > 0 {
			others = "others: " + others
		}
		list = append(list, others)
	}
	return list
}

func dataText(log *runlog.Log) []string {
	if len(log.Data) == 0 {
		if len(log.Seeds) > 0 {
			return []string{"none was read; the records of the simulations were drawn from the seeds"}
		}
		return []string{"none was read or drawn"}
	}
	var list []string
	for _, d := range log.Data {
		switch {
		case !d.Public:
			list = append(list, d.Name+": private, so neither its checksum nor its number of rows is published")
		case d.Invented && d.SHA256 == "":
			list = append(list, fmt.Sprintf("%s: %d invented rows, drawn in memory", d.Name, d.Rows))
		case d.Invented:
			list = append(list, fmt.Sprintf("%s: %d invented rows, drawn in memory, sha256 %s of them as text",
				d.Name, d.Rows, d.SHA256))
		default:
			list = append(list, fmt.Sprintf("%s: %s, %d rows, sha256 %s", d.Name, d.Path, d.Rows, d.SHA256))
		}
	}
	return list
}

// spent writes a privacy figure with four digits, rounded up.
func spent(x runlog.Number) string { return numeral.Tidy(privacy.FormatUp(float64(x), 4)) }

func ledgerText(l runlog.Ledger) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### Privacy ledger: %s\n\n", cellText(l.Name))
	fmt.Fprintf(&b, "Neighbouring data sets: %s. Allowed: ε = %s, δ = %s. Spent: ε = %s, δ = %s.\n",
		cellText(l.Adjacency), spent(l.Epsilon), spent(l.Delta), spent(l.EpsilonSpent), spent(l.DeltaSpent))
	if len(l.Entries) == 0 {
		b.WriteString("\nNothing was spent.\n")
		return b.String()
	}
	b.WriteString("\n| # | For | Mechanism | ε | δ | |\n|--:|:--|:--|--:|--:|:--|\n")
	simulated := 0
	for i, e := range l.Entries {
		remark := ""
		if e.Simulated {
			remark = "simulation"
			simulated++
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s |\n", i+1, cellText(e.Label), cellText(e.Mechanism),
			spent(e.Epsilon), spent(e.Delta), remark)
	}
	if !l.Kept {
		b.WriteString("\nThis ledger counts this run alone. " + rerunText(simulated, len(l.Entries)) + "\n")
	}
	if simulated > 0 {
		b.WriteString("\n**A simulation protects nobody**: its noise came from a seed that anyone can repeat.\n")
	}
	return b.String()
}

// rerunText says what running the notebook again would draw and spend.
func rerunText(simulated, entries int) string {
	switch simulated {
	case 0:
		return "Running the notebook again draws new noise, and spends as much again."
	case entries:
		return "Running the notebook again draws the same noise from the same seeds."
	default:
		return "Running the notebook again draws the same noise for the simulations, and new noise, which costs as " +
			"much again, for the others."
	}
}

// cellText makes a text safe for a cell of a Markdown table.
var cellText = strings.NewReplacer(
	`\`, `\\`, "[", `\[`, "\n", "<br>", "|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`, "`",
	"\\`", "$", `\$`,
).Replace
