package mapped

import (
	"errors"
	"runtime/debug"
	"testing"
	"unsafe"
)

// fault is one of memory, as the runtime panics with it.
type fault uintptr

func (f fault) Addr() uintptr { return uintptr(f) }

var area [3]byte // which stays where it is

// A fault is a file's from its first byte to its last, as long as it is mapped; every other panic is the program's.
func TestFault(t *testing.T) {
	b := area[:]
	at := fault(unsafe.Pointer(&b[0]))
	Add(b)
	for i, want := range map[int]error{-1: nil, 0: ErrFault, 2: ErrFault, 3: nil} {
		if err := Fault(at + fault(i)); err != want {
			t.Errorf("byte %d: %v", i, err)
		}
	}
	Remove(b)
	if err := errors.Join(Fault(at), Fault("another"), Fault(nil)); err != nil {
		t.Error(err)
	}
	for _, was := range []bool{false, true} {
		before := debug.SetPanicOnFault(was)
		restore := Watch()
		watched := debug.SetPanicOnFault(true)
		restore()
		if after := debug.SetPanicOnFault(before); !watched || after != was {
			t.Errorf("faults panic: %v while watched, %v after that, %v before", watched, after, was)
		}
	}
}
