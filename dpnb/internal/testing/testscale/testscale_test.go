package testscale

import "testing"

func TestSkipUnlessFull(t *testing.T) {
	for value, skips := range map[string]bool{"": true, "1": false} {
		t.Run("DPNB_FULL="+value, func(t *testing.T) {
			t.Setenv(full, value)
			defer func() {
				if t.Skipped() != skips || Full() == skips {
					t.Errorf("skipped %v, full %v", t.Skipped(), Full())
				}
			}()
			SkipUnlessFull(t)
		})
	}
}

func TestSome(t *testing.T) {
	for value, want := range map[string]int{"": 2, "1": 4} {
		t.Setenv(full, value)
		if got := Some(7, 8, 9, 10); len(got) != want || got[0] != 7 {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// A test has its turn in one of four runs, and whenever all are asked for; tests of other names have it in others.
func TestHasTurn(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"TestA", "TestB", "TestC", "TestD", "TestE", "TestF", "TestG", "TestH"} {
		had := ""
		for _, turn := range []string{"0", "1", "2", "3", "5444", "5445", "5446", "5447"} {
			if hasTurn(name, turn) {
				had += turn + " "
			}
		}
		seen[had] = true
		if len(had) != len("0 5444 ") || had[0] != had[5]-4 || hasTurn(name, "") || !hasTurn(name, every) {
			t.Errorf("%s has %q", name, had)
		}
	}
	if len(seen) < 2 {
		t.Errorf("all have their turn at a time")
	}
}
