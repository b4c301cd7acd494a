// Package heavytail is the room of the paper on rows without a bound. No claim of it is checked yet; its errata are.
package heavytail
