// Package account keeps the books of privacy: an accountant of fixed adjacency is told what was run and how often, and
// answers what it costs together.
package account
