// Package recent remembers what was made of the keys that were asked for last, or of all, so that a program computes
// once what several of its parts ask for. Every room may use it.
package recent

import (
	"slices"
	"sync"
)

// Values are what was made, by key: those of the last Kept keys at least, and of twice as many at most. It is safe for
// concurrent use, and the zero value but for Kept is ready.
type Values[K comparable, V any] struct {
	// Kept > 0 is how many are kept.
	Kept int

	mu           sync.Mutex
	last, before map[K]V
	pending      []*making[K]
}

// making is a key of which the value is being made, until done is closed.
type making[K comparable] struct {
	key  K
	done chan struct{}
}

// Of returns the value of key, which build makes where it is not known: once, if several ask for it at a time, of whom
// the others wait. An error is not remembered. A key must say all that the value depends on.
func (v *Values[K, V]) Of(key K, build func() (V, error)) (value V, err error) {
	v.mu.Lock()
	for {
		if value, known := v.known(key); known {
			v.mu.Unlock()
			return value, nil
		}
		by := slices.IndexFunc(v.pending, func(m *making[K]) bool { return m.key == key })
		if by < 0 {
			break
		}
		done := v.pending[by].done
		v.mu.Unlock()
		<-done
		v.mu.Lock()
	}
	own, made := &making[K]{key, make(chan struct{})}, false
	v.pending = append(v.pending, own)
	v.mu.Unlock()
	defer func() { // after a panic of build, too
		v.mu.Lock()
		defer v.mu.Unlock()
		if made {
			v.keep(key, value)
		}
		v.pending = slices.DeleteFunc(v.pending, func(m *making[K]) bool { return m == own })
		close(own.done)
	}()
	value, err = build()
	made = err == nil
	return value, err
}

// known returns the value of key if it is kept, for as long again.
func (v *Values[K, V]) known(key K) (value V, known bool) {
	if value, known = v.last[key]; known {
		return value, true
	}
	if value, known = v.before[key]; known {
		v.keep(key, value)
	}
	return value, known
}

func (v *Values[K, V]) keep(key K, value V) {
	if v.last == nil || len(v.last) >= v.Kept {
		v.last, v.before = map[K]V{}, v.last
	}
	v.last[key] = value
}

// All are the values of all keys that were asked for, of which its owner asks for few, or lets them go with itself. It
// is safe for concurrent use, and the zero value is ready. Those who ask for a new value at a time each make it.
type All[K comparable, V any] struct {
	mu    sync.RWMutex
	known map[K]V
}

// Of returns the value of key, which build makes where it is not known. A key must say all that the value depends on.
func (a *All[K, V]) Of(key K, build func() V) V {
	a.mu.RLock()
	value, known := a.known[key]
	a.mu.RUnlock()
	if known {
		return value
	}
	value = build()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[K]V{}
	}
	a.known[key] = value
	return value
}
