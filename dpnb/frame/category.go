package frame

import (
	"math"
	"strconv"
	"strings"
)

// categories finds the place of a text in the list of a schema's field. The answer depends on the text and the list
// alone.
type categories struct {
	place map[string]int
	// byNumber has the categories that are numbers, −1 where several are the same one; nil if none is.
	byNumber map[float64]int
	// few has the list itself where going through it is faster than place.
	few []string
}

// What a text is besides a place ≥ 0 in the list.
const (
	placeUnknown = -1
	placeMissing = -2
)

// largestExact is 2⁵³: whole numbers from there on need not differ as float64.
const largestExact = 1 << 53

func newCategories(levels []string) *categories {
	c := &categories{place: make(map[string]int, len(levels))}
	for k, l := range levels {
		l = strings.TrimSpace(l)
		c.place[l] = k
		if len(levels) <= 6 {
			c.few = append(c.few, l)
		}
		v, err := strconv.ParseFloat(l, 64)
		if err != nil || !(math.Abs(v) < largestExact) {
			continue
		}
		if c.byNumber == nil {
			c.byNumber = map[float64]int{}
		}
		if _, there := c.byNumber[v]; there {
			k = placeUnknown
		}
		c.byNumber[v] = k
	}
	return c
}

// of returns the place of row i's category: that which the text names or, if there is none, the one category that is
// the same number ("1.0" is "1").
func (c *categories) of(column *Column, i int) int {
	text := column.written(i)
	for k, l := range c.few {
		if l == text {
			return k
		}
	}
	if c.few == nil {
		if k, ok := c.place[text]; ok {
			return k
		}
	}
	if text == "" || column.missing[text] {
		return placeMissing
	}
	if c.byNumber != nil {
		if v, ok := column.format.parse(text); ok {
			if k, ok := c.byNumber[v]; ok {
				return k
			}
		}
	}
	return placeUnknown
}
