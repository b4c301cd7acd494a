// Package solutions has a test only: it runs the solutions that fold out below the exercises of the notebooks, and
// holds what they print against what the notebooks say.
package solutions
