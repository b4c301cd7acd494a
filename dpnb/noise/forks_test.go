package noise

import "testing"

func TestForks(t *testing.T) {
	root := NewSeeded(5)
	one, ok := Forks(root)
	two, _ := Forks(root)
	if !ok {
		t.Fatal("a seeded source cannot be forked")
	}
	if a, b := one(3).Uint64(), one(3).Uint64(); a != b {
		t.Error("a fork depends on what was drawn from others")
	}
	if one(3).Uint64() == one(4).Uint64() || one(3).Uint64() == two(3).Uint64() {
		t.Error("forks repeat each other")
	}
	if seed, ok := one(0).Seed(); !ok || seed != 5 {
		t.Error("a fork forgot its seed")
	}
	f, ok := Forks(NewSecure())
	if !ok {
		t.Fatal("a secure source cannot be forked")
	}
	if a, b := f(0), f(0); Simulated(a) || a.Uint64() == b.Uint64() {
		t.Error("forks of a secure source are not secure sources")
	}
}
