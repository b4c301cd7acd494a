// Package pld composes privacy profiles by their privacy-loss distributions: discretisation that can only overstate
// (or, for the lower bound, only understate) the loss, tilted Fourier inversion, and a bound on every rounding error,
// so that the exact value lies between Lower and Upper.
package pld
