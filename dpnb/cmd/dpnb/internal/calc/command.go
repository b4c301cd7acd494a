// Package calc is the command line of the privacy calculator.
package calc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/calculator"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// flags are those that describe the composition, shared by the commands.
type flags struct {
	calc      calculator.Calculator
	events    string
	typ       string
	count     int
	adjacency string
	tolerance float64
	json      bool
	numbers   map[string]*float64
	texts     map[string]*string
}

func flagName(field string) string { return strings.ReplaceAll(field, "_", "-") }

// register adds the flags; skip names a field that the command asks for.
func register(cmd *cobra.Command, c calculator.Calculator, skip string) *flags {
	f := &flags{calc: c, numbers: map[string]*float64{}, texts: map[string]*string{}}
	fs := cmd.Flags()
	fs.StringVar(&f.typ, "type", "", "type of the event: "+strings.Join(c.Names(), ", "))
	fs.IntVar(&f.count, "count", 1, "how often the event is run")
	fs.StringVar(&f.adjacency, "adjacency", privacy.AddRemove.String(), "add-remove or replace")
	fs.BoolVar(&f.json, "json", false, "answer in JSON")
	for _, field := range c.Fields() {
		if field.Name == skip {
			continue
		}
		if field.Text {
			f.texts[field.Name] = fs.String(flagName(field.Name), "", field.Help)
		} else {
			f.numbers[field.Name] = fs.Float64(flagName(field.Name), field.Default, field.Help)
		}
	}
	return f
}

// registerEvents adds the flags of a composition of several events.
func (f *flags) registerEvents(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.events, "events", "", "file with a JSON list of events, - for standard input")
	cmd.Flags().Float64Var(&f.tolerance, "epsilon-error", 0, "ε error wanted (default 5e-4·ε)")
}

// line returns the event that the flags describe.
func (f *flags) line(cmd *cobra.Command) calculator.Line {
	l := calculator.Line{Type: f.typ, Count: f.count, Values: calculator.Values{
		Numbers: map[string]float64{}, Texts: map[string]string{},
	}}
	for name, v := range f.numbers {
		if cmd.Flags().Changed(flagName(name)) {
			l.Values.Numbers[name] = *v
		}
	}
	for name, v := range f.texts {
		if cmd.Flags().Changed(flagName(name)) {
			l.Values.Texts[name] = *v
		}
	}
	return l
}

// query returns the composition that the flags describe.
func (f *flags) query(cmd *cobra.Command) (calculator.Query, error) {
	var q calculator.Query
	adj, err := privacy.ParseAdjacency(f.adjacency)
	if err != nil {
		return q, err
	}
	q.Adjacency = adj
	// The accountant takes 0 for left out; here that is seen.
	if cmd.Flags().Changed("epsilon-error") && !(f.tolerance > 0 && f.tolerance < math.Inf(1)) {
		return q, &privacy.ParamError{Name: "epsilon-error", Value: f.tolerance,
			Want: "a positive number, or leave it out for 5e-4·ε"}
	}
	q.Settings = &pld.Settings{Tolerance: f.tolerance}
	line := f.line(cmd)
	if !cmd.Flags().Changed("events") {
		if f.typ == "" {
			return q, errors.New("nothing to account for: say --type and its parameters, or --events FILE")
		}
		q.Lines = []calculator.Line{line}
		return q, nil
	}
	if f.typ != "" || len(line.Values.Numbers)+len(line.Values.Texts) > 0 || cmd.Flags().Changed("count") {
		return q, &privacy.ParamError{Name: "events", Value: f.events,
			Want: "either --events or the flags of one event, not both"}
	}
	var data []byte
	if f.events == "-" {
		data, err = io.ReadAll(cmd.InOrStdin())
	} else {
		data, err = os.ReadFile(f.events)
	}
	if err != nil {
		return q, err
	}
	q.Lines, err = f.calc.Parse(data)
	return q, err
}

// NewEpsilonCommand returns `epsilon`: ε of a composition at a δ.
func NewEpsilonCommand(c calculator.Calculator) *cobra.Command {
	cmd := &cobra.Command{Use: "epsilon", Short: "ε of a composition at a δ, with a certified lower bound"}
	const help = "δ in [0, 1); at 0 for events of pure ε"
	return composition(cmd, c, "delta", help, func(q calculator.Query, delta float64) (any, string, error) {
		a, err := c.Epsilon(q, delta)
		return a, fmt.Sprintf("(ε = %g, δ = %g) under %s; the exact ε is at least %g (%s)",
			a.Epsilon, a.Delta, a.Adjacency.Words(), a.EpsilonLower, a.Method), err
	})
}

// NewDeltaCommand returns `delta`: δ of a composition at an ε.
func NewDeltaCommand(c calculator.Calculator) *cobra.Command {
	cmd := &cobra.Command{Use: "delta", Short: "δ of a composition at an ε"}
	return composition(cmd, c, "epsilon", "ε ≥ 0", func(q calculator.Query, eps float64) (any, string, error) {
		a, err := c.Delta(q, eps)
		return a, fmt.Sprintf("(ε = %g, δ = %g) under %s; the exact δ is at least %g (%s)",
			a.Epsilon, a.Delta, a.Adjacency.Words(), a.DeltaLower, a.Method), err
	})
}

// composition completes a command that asks for one number and answers with the other.
func composition(cmd *cobra.Command, c calculator.Calculator, asks, help string,
	answer func(q calculator.Query, at float64) (a any, words string, err error)) *cobra.Command {
	f := register(cmd, c, "")
	f.registerEvents(cmd)
	at := cmd.Flags().Float64(asks, 0, help)
	required(cmd, asks)
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		q, err := f.query(cmd)
		if err != nil {
			return err
		}
		a, words, err := answer(q, *at)
		if err != nil {
			return err
		}
		return f.print(cmd, a, words)
	}
	return cmd
}

// NewSigmaCommand returns `sigma`: the noise that makes an event (ε, δ)-DP.
func NewSigmaCommand(c calculator.Calculator) *cobra.Command {
	var eps, delta float64
	cmd := &cobra.Command{
		Use:   "sigma",
		Short: "the smallest sigma with which an event is (ε, δ)-DP",
		Args:  cobra.NoArgs,
	}
	f := register(cmd, c, "sigma")
	cmd.Flags().Float64Var(&eps, "epsilon", 0, "ε ≥ 0")
	cmd.Flags().Float64Var(&delta, "delta", 0, "δ in (0, 1)")
	required(cmd, "epsilon", "delta", "type")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		adj, err := privacy.ParseAdjacency(f.adjacency)
		if err != nil {
			return err
		}
		sigma, err := c.Sigma(f.line(cmd), adj, eps, delta)
		if err != nil {
			return err
		}
		return f.print(cmd, map[string]float64{"sigma": sigma},
			fmt.Sprintf("σ = %g gives (ε = %g, δ = %g) under %s", sigma, eps, delta, adj.Words()))
	}
	return cmd
}

func required(cmd *cobra.Command, names ...string) {
	for _, n := range names {
		if err := cmd.MarkFlagRequired(n); err != nil {
			panic("calc: " + err.Error())
		}
	}
}

// print writes the answer, as JSON or in words.
func (f *flags) print(cmd *cobra.Command, answer any, words string) error {
	if f.json {
		b, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		words = string(b)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), words)
	return err
}
