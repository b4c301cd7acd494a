package stored

import "testing"

// What a pass reads is told of once, from the first block on, whatever the view has read before.
func TestPassesAreToldOf(t *testing.T) {
	for _, before := range []int{newView().block[0], newView().block[1], 17, 40} {
		told := 0
		for k := range 40 {
			from, to := toTell(before, k)
			if from < to {
				if from != told {
					t.Errorf("after block %d: told of %d to %d at block %d, of those before %d already", before, from,
						to, k, told)
				}
				told = to
			}
			if before = k; told <= k {
				t.Errorf("block %d is read and not told of", k)
			}
		}
	}
}
