package privacy

import "sync"

// Lazy returns the profile that get returns, which is called when the profile is first asked: for those that take
// seconds and may never be asked. Where get returns an error it is a profile that promises nothing.
func Lazy(adj Adjacency, get func() (Profile, error)) Profile {
	return lazy{adj, sync.OnceValue(func() Profile {
		p, err := get()
		if err != nil {
			p, _ = NonPrivate{}.Profile(adj)
		}
		return p
	})}
}

type lazy struct {
	adj Adjacency
	get func() Profile
}

func (p lazy) Adjacency() Adjacency                           { return p.adj }
func (p lazy) LogDeltaUpper(d Direction, eps float64) float64 { return p.get().LogDeltaUpper(d, eps) }
