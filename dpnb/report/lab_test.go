package report

import "testing"

// TestLabIsNotOpenToTheNetwork: but in a container, whose host publishes the port or does not.
func TestLabIsNotOpenToTheNetwork(t *testing.T) {
	for ip, open := range map[string]bool{"localhost": false, "127.0.0.1": false, "::1": false, "0.0.0.0": true,
		"::": true, "": true, "*": true, "192.0.2.7": true, "example.org": true} {
		o := LabOptions{IP: ip}
		if err := o.reachable(false); (err != nil) != open {
			t.Errorf("%q: %v", ip, err)
		}
		if err := o.reachable(true); err != nil {
			t.Errorf("%q in a container: %v", ip, err)
		}
	}
}
