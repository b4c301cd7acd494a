// Package privacy says what a privacy guarantee is: adjacency, privacy profiles δ(ε), and conversions between
// guarantees. It knows nothing of data or models.
//
// Every figure is a bound with a direction in its name: Upper is proved to be no smaller than the exact value, Lower no
// larger. Logarithms are natural, ε is in nats.
package privacy
