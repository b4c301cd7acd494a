// Package errata has what the tests of the papers' errata share. Each paper's room has, in its files errata*_test.go,
// for each entry of docs/errata.md a test that computes the figures quoted there, that the printed version does not fit
// them, and that the corrected one does.
package errata
