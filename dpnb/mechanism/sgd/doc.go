// Package sgd has differentially private stochastic gradient descent for generalised linear models, its accounting, and
// the tuning of its learning rate, honest and not.
//
// It is the baseline of Redberg, Koskela and Wang 2023 (rkw23), section 5.
package sgd
