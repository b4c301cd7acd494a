// Package listening tells, for tests, what of a program other users of the machine and other machines have: at which
// addresses it listens, where whoever reaches one may make it do things, and with which arguments it starts others.
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
	of := map[string]bool{} // their open files
	for _, pid := range family(pid) {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			if to, err := os.Readlink(fd); err == nil {
				of[to] = true
			}
		}
	}
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

// Arguments returns those of the processes that a process has started, in any generation, which every user of the
// machine sees. Linux alone tells.
func Arguments(pid int) (all []string) {
	for _, child := range family(pid)[1:] {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)) // none of a process that has ended
		all = append(all, strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")...)
	}
	return all
}

// family returns a process and all that come from it.
func family(pid int) (all []int) {
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
	all = []int{pid}
	for k := 0; k < len(all); k++ {
		all = append(all, children[all[k]]...)
	}
	return all
}
