// Package recent remembers what was made of the keys that were asked for last, so that a program computes once what
// several of its parts ask for. Every room may use it.
package recent

import "sync"

// Values are what was made, by key: those of the last Kept keys at least, and of twice as many at most. It is safe for
// concurrent use, and the zero value but for Kept is ready.
type Values[K comparable, V any] struct {
	// Kept > 0 is how many are kept.
	Kept int

	mu           sync.Mutex
	last, before map[K]V
}

// Of returns the value of key, which make makes where it is not known; an error is not remembered. A key must say all
// that the value depends on.
func (v *Values[K, V]) Of(key K, make func() (V, error)) (V, error) {
	v.mu.Lock()
	value, ok := v.last[key]
	if !ok {
		if value, ok = v.before[key]; ok {
			v.keep(key, value)
		}
	}
	v.mu.Unlock()
	if ok {
		return value, nil
	}
	value, err := make()
	if err != nil {
		return value, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if other, ok := v.last[key]; ok {
		return other, nil // made meanwhile: all have the same one
	}
	v.keep(key, value)
	return value, nil
}

func (v *Values[K, V]) keep(key K, value V) {
	if v.last == nil || len(v.last) >= v.Kept {
		v.last, v.before = map[K]V{}, v.last
	}
	v.last[key] = value
}
