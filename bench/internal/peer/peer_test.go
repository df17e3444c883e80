package peer

import "testing"

func TestATallyAcceptsEachNumberOnceInAnyOrder(t *testing.T) {
	var ok Tally
	for _, n := range []uint64{3, 1, 2, 4} {
		ok.Add(n)
	}
	if err := ok.Check(); err != nil {
		t.Errorf("got %v", err)
	}
	for name, numbers := range map[string][]uint64{"one twice": {1, 2, 2}, "one missing": {1, 2, 4}, "one from elsewhere": {0, 1, 2}} {
		var bad Tally
		for _, n := range numbers {
			bad.Add(n)
		}
		if bad.Check() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestTheNumberIsTheLastPartOfTheId(t *testing.T) {
	if n, err := numberOf("2026-11-30/personal/12"); n != 12 || err != nil {
		t.Errorf("got %d, %v, want 12", n, err)
	}
	if _, err := numberOf("2026-11-30/personal/"); err == nil {
		t.Error("an id without a number was taken")
	}
}
