package ledger_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/ledger"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Ten tenths are one, and an eleventh is refused before anything is drawn.
func Example() {
	b, err := ledger.Open(ledger.Config{Name: "people", Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove})
	if err != nil {
		panic(err)
	}
	for range 10 {
		if err := b.Charge(ledger.Entry{Label: "a fit", Epsilon: 0.1, Delta: b.Spend(0.1).Delta}); err != nil {
			panic(err)
		}
	}
	s, err := b.State()
	if err != nil {
		panic(err)
	}
	fmt.Println(s.SpentEpsilon, s.SpentDelta)
	fmt.Println(b.Check(ledger.Entry{Epsilon: 0.1}) != nil)
	// Output:
	// 1 9e-07
	// true
}
