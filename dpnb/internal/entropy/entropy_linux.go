package entropy

import "golang.org/x/sys/unix"

func read(b []byte) error {
	for len(b) > 0 {
		n, err := unix.Getrandom(b, 0)
		switch err {
		case nil:
			b = b[n:]
		case unix.EINTR:
		case unix.ENOSYS: // before Linux 3.17
			return device(b)
		default:
			return err
		}
	}
	return nil
}
