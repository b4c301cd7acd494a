// Package solutions has a test only: it runs the solutions that fold out below the exercises of the notebooks, but for
// six that take long where not every test was asked for, and holds what they print against what the notebooks say.
package solutions
