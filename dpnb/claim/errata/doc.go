// Package errata is the evidence for docs/errata.md, the errors that we found
// in the five papers: for each erratum a test that computes the figures quoted
// there, that the printed version does not fit them, and that the corrected one
// does. It has no code of its own; go test ./dpnb/claim/errata is its use.
package errata
