// Package mapped tells a fault of memory that is a file's (a disk that fails, a file that was cut short while it is
// mapped) from a mistake of the program: the first is an error to whoever reads, the second ends the program.
package mapped

import (
	"errors"
	"runtime/debug"
	"sync"
	"unsafe"
)

// ErrFault says that a mapped file cannot be read.
var ErrFault = errors.New("a file that is mapped cannot be read any longer: it was cut short, or its disk fails")

var (
	mu    sync.RWMutex
	areas = map[uintptr]uintptr{} // ends by beginnings
)

// Add says that b, which is not empty, is of a file.
func Add(b []byte) {
	begin := uintptr(unsafe.Pointer(&b[0]))
	mu.Lock()
	defer mu.Unlock()
	areas[begin] = begin + uintptr(len(b))
}

// Remove says that b no longer is.
func Remove(b []byte) {
	mu.Lock()
	defer mu.Unlock()
	delete(areas, uintptr(unsafe.Pointer(&b[0])))
}

// Watch has faults of this goroutine panic, so that Fault can look at them, until restore.
func Watch() (restore func()) {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}

// Fault returns ErrFault if p, which was recovered, is a fault within what was added; else nil.
func Fault(p any) error {
	fault, ok := p.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	at := fault.Addr()
	mu.RLock()
	defer mu.RUnlock()
	for begin, end := range areas {
		if begin <= at && at < end {
			return ErrFault
		}
	}
	return nil
}
