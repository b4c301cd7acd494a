package geometry_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
)

func TestLimits(t *testing.T) {
	c := around(t, loss.Logistic{}, 1, 4)
	c.Curves = []matrix.Span{{First: 0, Len: 1}, {First: 1, Len: 2}}
	limits.Check(t, c, geometry.Centred.Validate, limits.Scale("MeanSigma"), limits.Scale("Mu"),
		limits.Scale("RowNorm"), limits.Scale("Bias"), limits.Scale("CountSigma"), limits.In("Planned", 0, 0),
		limits.In("BaseRate", 0, limits.Below(1)), limits.NotNegative("Gate"), limits.In("Whole", 0, 1),
		limits.NotNegative("Most"), limits.In("Free", 1, limits.None), limits.In("Crossed", 0, 2))
	c.CountSigma, c.Planned = 0, 1
	limits.Check(t, c, geometry.Centred.Validate, limits.In("Planned", limits.None, math.MaxFloat64),
		limits.In("CountSigma", 0, 0))
	c.Numbers = true
	limits.Check(t, c, geometry.Centred.Validate, limits.In("Most", 0, 0))
}

// What is said of features is of those that rows have, the constant beside them; labels are numbers, rows no longer
// than was promised.
func TestFeaturesThatRowsDoNotHave(t *testing.T) {
	c := around(t, loss.Logistic{}, 1, 4)
	rows := matrix.NewDense(2, 5, []float64{0.1, 0.2, 0, 0, bias, 0.5, 0, 0, 0.3, bias})
	labels := []float64{-1, 1}
	span := func(first, n int) []matrix.Span { return []matrix.Span{{First: first, Len: n}} }
	weights := func(first, n int) []matrix.Direction {
		return []matrix.Direction{{First: first, Weights: make([]float64, n)}}
	}
	cell := func(feature int) []geometry.Number { return []geometry.Number{{Feature: feature, Lower: -1, Width: 2}} }
	for name, change := range map[string][2]func(c *geometry.Centred, labels []float64, rows *matrix.Dense){
		"Curves": {func(c *geometry.Centred, _ []float64, _ *matrix.Dense) { c.Curves = span(2, 2) },
			func(c *geometry.Centred, _ []float64, _ *matrix.Dense) { c.Curves = span(2, 3) }},
		"Pairs": {func(c *geometry.Centred, _ []float64, _ *matrix.Dense) { c.Pairs = span(3, 1) },
			func(c *geometry.Centred, _ []float64, _ *matrix.Dense) { c.Pairs = span(3, 2) }},
		"Cells": {func(c *geometry.Centred, _ []float64, _ *matrix.Dense) { c.Cells = cell(3) },
			func(c *geometry.Centred, _ []float64, _ *matrix.Dense) { c.Cells = cell(4) }},
		"Nowhere": {func(c *geometry.Centred, _ []float64, _ *matrix.Dense) { c.Nowhere = weights(1, 3) },
			func(c *geometry.Centred, _ []float64, _ *matrix.Dense) { c.Nowhere = weights(1, 4) }},
		"no number": {func(_ *geometry.Centred, labels []float64, _ *matrix.Dense) { labels[1] = -1 },
			func(_ *geometry.Centred, labels []float64, _ *matrix.Dense) { labels[1] = math.Inf(-1) }},
		"longer": {func(_ *geometry.Centred, _ []float64, rows *matrix.Dense) { rows.Data[5] = 0.95 },
			func(_ *geometry.Centred, _ []float64, rows *matrix.Dense) { rows.Data[5] = 0.97 }},
	} {
		for i, change := range change {
			c, labels, rows := c, slices.Clone(labels), matrix.NewDense(2, 5, slices.Clone(rows.Data))
			change(&c, labels, rows)
			err := c.Check(rows, labels)
			if (err == nil) != (i == 0) || err != nil && !strings.Contains(err.Error(), name) {
				t.Errorf("%s, case %d: %v", name, i, err)
			}
		}
	}
}
