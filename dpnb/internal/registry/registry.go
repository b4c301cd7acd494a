// Package registry has the budgets of this process by name, for package ledger. It stands apart so that tests can
// forget one, as another process would, and nobody else can: a budget that can be had again is none.
package registry

import "sync"

var (
	mu     sync.Mutex
	byName = map[string]any{}
)

// Open returns what is there under the name after again has agreed to it, else what make makes, and keeps that. Calls
// wait for each other. What fails is not kept.
func Open[T any](name string, again func(T) error, make func() (T, error)) (T, error) {
	mu.Lock()
	defer mu.Unlock()
	var none T
	if there, ok := byName[name]; ok {
		if err := again(there.(T)); err != nil {
			return none, err
		}
		return there.(T), nil
	}
	made, err := make()
	if err != nil {
		return none, err
	}
	byName[name] = made
	return made, nil
}

// Forget forgets the name, as if this were another process. It is for tests.
func Forget(name string) {
	mu.Lock()
	defer mu.Unlock()
	delete(byName, name)
}

// ForgetAll forgets all names. It is for tests.
func ForgetAll() {
	mu.Lock()
	defer mu.Unlock()
	clear(byName)
}
