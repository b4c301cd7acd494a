package privacy

import "sync"

// memo remembers values by index, for curves that are asked for the same orders again and again. The zero value is
// ready; safe for concurrent use.
type memo struct{ m sync.Map }

func (t *memo) get(n int, compute func() float64) float64 {
	if v, ok := t.m.Load(n); ok {
		return v.(float64)
	}
	v := compute()
	t.m.Store(n, v)
	return v
}
