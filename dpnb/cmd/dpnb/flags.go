package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	shown "github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// required has a command refuse to run without some of its flags.
func required(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

// addOut adds the flag that says where a command writes its result; --output is what it was called before.
func addOut(f *pflag.FlagSet, to *string, value, usage string) {
	f.StringVarP(to, "out", "o", value, usage)
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "output" {
			name = "out"
		}
		return pflag.NormalizedName(name)
	})
}

// printed prints what there is to be shown, if there is no error.
func printed(out io.Writer, what shown.Displayer, err error) error {
	if err == nil {
		_, err = fmt.Fprint(out, what.Display().Text())
	}
	return err
}

// least is the smallest value that whole numbers and times may be given, for the flags that have one of their own as a
// default: a flag that is left out has it chosen, and one that is given is meant.
var least = map[string]int64{"jobs": 1, "port": 1, "timeout": 0}

// checkFlags refuses values that no command can mean, before it does anything: numbers that are none, empty words,
// negative counts and times.
func checkFlags(cmd *cobra.Command) error {
	var errs []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if want := wanted(f); want != "" {
			errs = append(errs, fmt.Errorf("--%s %q: give it %s, or leave it out", f.Name, f.Value, want))
		}
	})
	return errors.Join(errs...)
}

// wanted says what a flag wants, if its value is not that.
func wanted(f *pflag.Flag) string {
	switch v := f.Value; v.Type() {
	case "float64":
		if x, err := strconv.ParseFloat(v.String(), 64); err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return "a finite number"
		}
	case "int", "duration":
		low, known := least[f.Name]
		if known && below(v, low) {
			return map[string]string{"int": "a positive number", "duration": "a time that is not negative"}[v.Type()]
		}
	case "string":
		if v.String() == "" {
			return "a value"
		}
	case "stringSlice", "stringArray":
		list := v.(pflag.SliceValue).GetSlice()
		for _, s := range list {
			if s == "" {
				return "a value"
			}
		}
		if len(list) == 0 {
			return "a value"
		}
	}
	return ""
}

// sayFlags has the errors of a command, and of those below it, name the flag where its value is what is wrong: for
// "Study.Records" and "NoiseScale" those are --records and --noise-scale. What it shows of its progress is ended first.
func sayFlags(cmd *cobra.Command, end func()) {
	for _, c := range cmd.Commands() {
		sayFlags(c, end)
	}
	cmd.SetFlagErrorFunc(plainFlag)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "float64Slice" || f.Value.Type() == "stringToString" {
			f.DefValue = plainList(f.DefValue)
		}
	})
	if takes := cmd.Args; takes != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := takes(cmd, args); err == nil || !strings.HasPrefix(err.Error(), "accepts ") {
				return err
			}
			if len(args) < len(strings.Fields(cmd.Use))-1 {
				return fmt.Errorf("this is %s, and a name is missing: %s --help has examples", cmd.UseLine(),
					cmd.CommandPath())
			}
			return fmt.Errorf("this is %s, and beside flags there are %d words, %q: put quotation marks around a name "+
				"with spaces, and around a pattern of several files", cmd.UseLine(), len(args), args)
		}
	}
	run := cmd.RunE
	if run == nil {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		end()
		var wrong *privacy.ParamError
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &wrong):
			return err
		}
		if name := flagOf(wrong.Name); cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s %v: give it %s", name, wrong.Value, wrong.Want)
		}
		return err
	}
}

// shellNames are what a shell has for settings whose flag has another name than in Go, or that have none.
var shellNames = map[string]string{"Comma": "--separator", "Dir": "--store", "PerPerson": "--person",
	"Planned": "--records", "FitBy": "--by", "PassesBy": "--endpoint", "MemoryLimit": "--memory",
	"WeightsFrom": "--weights", "ClassWeights": "--class-weight", "ForPopulation": "--population",
	"PopulationIntervals": "--intervals", "ConfusionOf": "--confusion", "CalibrationOf": "--calibration",
	"AUCOf": "--auc", "Check": "dpnb check", "Unbounded": `"number, open"`, "OrMissing": `"missing": true`,
	"OrMissingAs": `"missingAs" in the schema`, "OrElse": `"else"`, "Log": `"number, log"`}

func init() {
	wording.Shell = func(s wording.Setting) string {
		if s.Field == "Budget" && s.Value != "" { // a file
			s.Value = shellWord(s.Value)
		}
		return strings.TrimSpace(cmp.Or(shellNames[s.Field], "--"+flagOf(s.Field)) + " " + s.Value)
	}
}

// noNumber is how pflag says that a value is no number.
var noNumber = regexp.MustCompile(`^invalid argument (".*") for "(.*)" flag: .*strconv\.Parse(Float|Int|Uint).*`)

// plainFlag says in plain words what a flag wants that has no number, and where the names of flags are.
func plainFlag(cmd *cobra.Command, err error) error {
	if m := noNumber.FindStringSubmatch(err.Error()); m != nil {
		want := map[string]string{"Float": "a number, with a point before its decimals, such as 0.5",
			"Int": "a whole number", "Uint": "a whole number that is not negative"}[m[3]]
		return fmt.Errorf("%s %s: give it %s", m[2], m[1], want)
	}
	if strings.HasPrefix(err.Error(), "unknown ") {
		err = fmt.Errorf("%w: %s --help lists those that there are", err, cmd.CommandPath())
	}
	return err
}

// groups are what cobra says of flags that are missing, or too many.
var groups = regexp.MustCompile(`^required flag\(s\) (.+) not set$|` +
	`^at least one of the flags in the group \[(.+)\] is required$|` +
	`^if any flags .* none of the others can be; \[(.+)\] were all set$`)

// plainGroup says in plain words which flags are missing, or too many.
func plainGroup(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	m := groups.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	list := func(text, last string) string {
		names := strings.Fields(strings.NewReplacer(`"`, "", ",", "").Replace(text))
		for i := range names {
			names[i] = "--" + names[i]
		}
		if len(names) == 0 {
			return ""
		}
		if n := len(names) - 1; n > 0 {
			return strings.Join(names[:n], ", ") + last + names[n]
		}
		return names[0]
	}
	if m[3] != "" {
		return fmt.Errorf("%s are alternatives: leave out all but one", list(m[3], " and "))
	}
	needed, are := list(m[1], " and ")+list(m[2], " or "), "they are"
	if strings.Count(needed, "--") == 1 {
		are = "it is"
	}
	return fmt.Errorf("%s needs %s: %[1]s --help says what %[3]s", cmd.CommandPath(), needed, are)
}

// plainList writes the default of a list as it would be given: 0.25,0.5 for [0.250000,0.500000], and no empty list.
func plainList(text string) string {
	list := strings.Split(strings.Trim(text, "[]"), ",")
	for i, s := range list {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			list[i] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return strings.Join(list, ",")
}

// flagOf returns the flag that a parameter has, if it has one.
func flagOf(parameter string) string {
	parameter = parameter[strings.LastIndex(parameter, ".")+1:]
	var name strings.Builder
	for i, r := range parameter {
		if unicode.IsUpper(r) && i > 0 {
			name.WriteByte('-')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return strings.ReplaceAll(name.String(), "_", "-")
}

// below reports whether a whole number or a time is less than low.
func below(v pflag.Value, low int64) bool {
	if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
		return n < low
	}
	return v.String()[0] == '-' // a time: it has its unit
}
