package faults

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Stratified returns n of the mutants of several packages, all if there are no more: each place is as likely as any
// other, and each package has its share of them, but for less than one. The order is that of the packages.
func Stratified(packages [][]Fault, n int, seed uint64) (some []Fault) {
	src := rand.New(rand.NewPCG(seed, 0))
	var all []Fault
	for _, list := range packages {
		src.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		all = append(all, list...)
	}
	n = min(n, len(all))
	for i, from := 0, src.Float64(); i < n; i++ {
		some = append(some, all[int((float64(i)+from)*float64(len(all))/float64(n))])
	}
	return some
}

// Tally counts what came of mutants, by package, in the order in which packages come.
type Tally struct {
	order []string
	count map[string]*[4]int
}

// Outcome is what came of a mutant.
type Outcome int

// Caught by a test, known to change nothing or listed with a reason, survived, or not built.
const (
	Killed Outcome = iota
	Listed
	Survived
	Unbuilt
)

// Add counts one.
func (t *Tally) Add(room string, o Outcome) {
	if t.count == nil {
		t.count = map[string]*[4]int{}
	}
	if t.count[room] == nil {
		t.order, t.count[room] = append(t.order, room), &[4]int{}
	}
	t.count[room][o]++
}

// String is a table with the share of mutants that were caught, of those that build and are not listed as harmless, and
// its 95 % interval.
func (t *Tally) String() string {
	var b strings.Builder
	row := func(name string, c *[4]int) {
		low, high := wilson(c[Killed], c[Killed]+c[Survived])
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.2f to %.2f |\n", name, c[Killed], c[Survived], c[Listed],
			c[Unbuilt], low, high)
	}
	b.WriteString("| package | caught | survived | listed | not built | share caught, 95 % |\n" +
		"|---|---|---|---|---|---|\n")
	var all [4]int
	for _, room := range t.order {
		row(room, t.count[room])
		for i, v := range t.count[room] {
			all[i] += v
		}
	}
	row("all", &all)
	return b.String()
}

// wilson returns the 95 % interval of a share of which k of n were seen:
//
//	(p̂ + z²/2n ± z√(p̂(1 − p̂)/n + z²/4n²))/(1 + z²/n),  z = 1.96.
func wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963984540054
	size, p := float64(n), float64(k)/float64(n)
	middle, half := p+z*z/(2*size), z*math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return max(0, (middle-half)/(1+z*z/size)), min(1, (middle+half)/(1+z*z/size))
}
