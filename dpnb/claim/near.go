package claim

import (
	"math"
	"regexp"
	"strconv"
)

// wrongBy finds the size of an error in the name of a wrong version, "σ less by a tenth", "a tenth less of μ", "more by
// 3 %".
var wrongBy = regexp.MustCompile(`\b(?:(an? [a-z-]+) (?:less|more) of\b|` +
	`(?:less|more|small|smaller|larger|narrower|wider|shorter|longer|lower) by ` +
	`(?:(half|(?:an?) [a-z-]+)|([0-9.]+(?:e-[0-9]+)?)( %)?)(?:$|[ ,;]))`)

// parts are the sizes that have a word.
var parts = map[string]float64{"half": 0.5, "a third": 1.0 / 3, "a quarter": 0.25, "a fifth": 0.2, "a tenth": 0.1,
	"a twentieth": 0.05, "a fiftieth": 0.02, "a hundredth": 0.01, "a thousandth": 1e-3, "a ten-thousandth": 1e-4}

// Near is the relative error of the nearest wrong version that the check must notice, +Inf if no version has a size:
// those of Scaled are measured, those of Wrong have it in their names, "… less by a tenth", "… more by 2 %", "… by
// 1e-9".
func (c Claim) Near() float64 {
	near := math.Inf(1)
	for _, s := range c.Scaled {
		for _, size := range []float64{s.Less, s.More} {
			if size > 0 {
				near = math.Min(near, size)
			}
		}
	}
	for name := range c.Wrong {
		m := wrongBy.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		size, ok := parts[m[1]+m[2]]
		if m[3] != "" {
			var err error
			size, err = strconv.ParseFloat(m[3], 64)
			ok = err == nil
			if m[4] != "" {
				size /= 100
			}
		}
		if ok && size > 0 && size < 1 {
			near = math.Min(near, size)
		}
	}
	return near
}
