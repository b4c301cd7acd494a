package noise

import "github.com/dpnb/notebooks/dpnb/internal/noisekey"

// Forks returns a family of sources, of the kind of src, that are independent of each other and of src. Give source i
// to task i, and the result does not depend on the number of workers. Two calls give different families, as src has
// moved on. ok is false for a source of a kind that is not known; there is no family then.
func Forks(src Source) (fork func(i int) Source, ok bool) {
	switch s := src.(type) {
	case *Secure:
		if s.keyed != nil {
			family := s.keyed.next()
			return func(i int) Source { return OfKey(noisekey.Derived(family.key, "fork", uint64(i))) }, true
		}
		return func(int) Source { return NewSecure() }, true
	case *Seeded:
		family := s.Stream(int(s.Uint64() >> 2))
		return func(i int) Source { return family.Stream(i) }, true
	}
	return nil, false
}
