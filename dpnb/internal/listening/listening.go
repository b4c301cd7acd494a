// Package listening tells, for tests, at which addresses a program listens: whoever reaches one may make it do
// things.
package listening

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Beyond returns the TCP addresses at which a process and those that it has started, in any generation, can be reached
// from other machines. loopback counts the others. Linux alone tells.
func Beyond(pid int) (addresses []string, loopback int) {
	of := family(pid)
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table)) // none of a process that has ended
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != "0A" || !of["socket:["+f[9]+"]"] { // 0A: it listens
				continue
			}
			ip, port, _ := strings.Cut(f[1], ":")
			b, _ := hex.DecodeString(ip)
			for word := range slices.Chunk(b, 4) { // written as numbers of this machine, which has the last byte first
				slices.Reverse(word)
			}
			if net.IP(b).IsLoopback() {
				loopback++
				continue
			}
			n, _ := strconv.ParseUint(port, 16, 16)
			addresses = append(addresses, net.JoinHostPort(net.IP(b).String(), fmt.Sprint(n)))
		}
	}
	return addresses, loopback
}

// family returns the open files of a process and of all that come from it.
func family(pid int) map[string]bool {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		var child, parent int
		name := strings.LastIndexByte(string(text), ')') // which may have anything in it
		if _, err := fmt.Sscan(string(text), &child); err != nil || name < 0 {
			continue
		}
		var state string
		if _, err := fmt.Sscan(string(text[name+1:]), &state, &parent); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	files := map[string]bool{}
	for all := []int{pid}; len(all) > 0; {
		pid, all = all[0], append(all[1:], children[all[0]]...)
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			if to, err := os.Readlink(fd); err == nil {
				files[to] = true
			}
		}
	}
	return files
}
