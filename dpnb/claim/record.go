package claim

import (
	"fmt"
	"strconv"
	"strings"
)

// recordHead is the first line of the record.
const recordHead = "# What the checks measured, written by: go run ./dpnb/cmd/dpnb claims --markdown docs/claims.md\n" +
	"# Columns: claim, share of what is claimed that was reached, verdict, measured, interval or tolerance.\n"

// FormatRecord is the file of what was measured.
func FormatRecord(results []Result) string {
	var b strings.Builder
	b.WriteString(recordHead)
	for _, r := range results {
		fmt.Fprintf(&b, "%s\t%.4g\t%s\t%s\t%s\n", r.ID, r.Reached, r.Verdict, r.Measured, r.Interval)
	}
	return b.String()
}

// ParseRecord reads that file: the results of the claims that it has.
//
// Errors: a line that has other columns, or a claim that there is none of.
func ParseRecord(text string, claims []Claim) (all []Result, err error) {
	known := map[string]Claim{}
	for _, c := range claims {
		known[c.ID] = c
	}
	for line := range strings.Lines(strings.TrimPrefix(text, recordHead)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		c, ok := known[f[0]]
		if len(f) != 5 || !ok {
			return nil, fmt.Errorf("claim: not what was measured of a claim: %q", line)
		}
		o := Outcome{Measured: f[3], Interval: f[4]}
		if o.Reached, err = strconv.ParseFloat(f[1], 64); err != nil {
			return nil, fmt.Errorf("claim: what was reached of %s: %w", f[0], err)
		}
		r := c.result(o)
		r.Verdict = f[2]
		all = append(all, r)
	}
	return all, nil
}
