package entropy

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var processPrng = windows.NewLazySystemDLL("bcryptprimitives.dll").NewProc("ProcessPrng")

func read(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	done, _, err := processPrng.Call(uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if done == 0 {
		return err
	}
	return nil
}
