// Package dpnb is the front door of differentially private convex learning in
// Jupyter notebooks: read a table, state a privacy budget, fit a model, show
// the result and what it cost.
package dpnb
