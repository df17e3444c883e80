package queue

import "testing"

func openCategory(t *testing.T) *Category {
	t.Helper()
	c := NewCategory(0, "personal", testDay)
	c.Define(CategoryDefined{ID: "personal", Prefix: "A", Width: 3, Open: true})
	return c
}

// issue hands out the next number and lines it up.
func issue(t *testing.T, c *Category, entry int64) *Live {
	t.Helper()
	id, number := c.NextID()
	v, err := c.Grow(id, number)
	if err != nil {
		t.Fatal(err)
	}
	v.Category, v.State, v.Key = c.ID(), Waiting, OrderKey{Entry: entry}
	c.Enter(v)
	return v
}

func TestNumbersCountUpWithoutGap(t *testing.T) {
	c := openCategory(t)
	for n := uint32(1); n <= 1000; n++ {
		v := issue(t, c, int64(n))
		if v.ID != (TicketID{testDay, "personal", n}) || v.Number != FormatNumber("A", 3, n) || c.Issued() != n {
			t.Fatalf("got %v %s, issued %d, want number %d", v.ID, v.Number, c.Issued(), n)
		}
	}
	if _, err := c.Grow(TicketID{testDay, "personal", 1000}, ""); err == nil {
		t.Error("a number was handed out twice")
	}
	if _, err := c.Grow(TicketID{testDay, "personal", 1002}, ""); err == nil {
		t.Error("a number was left out")
	}
}

func TestServingNeverGoesBack(t *testing.T) {
	c := openCategory(t)
	for _, test := range []struct {
		id   TicketID
		want uint32
	}{
		{TicketID{testDay, "personal", 3}, 3},
		{TicketID{testDay, "personal", 2}, 3},
		{TicketID{DayOf(2026, 11, 29), "personal", 9}, 3},
		{TicketID{testDay, "personal", 4}, 4},
	} {
		c.RaiseServing(test.id)
		if got := c.Serving(); got != test.want {
			t.Errorf("after %v: got %d, want %d", test.id, got, test.want)
		}
	}
}

func TestANewDayExpiresWhatIsOpenAndKeepsItReadable(t *testing.T) {
	c := openCategory(t)
	var of [numStates]*Live
	for s := Reserved; s < numStates; s++ {
		v := issue(t, c, int64(s))
		if s != Waiting {
			c.Leave(v)
		}
		v.State, of[s] = s, v
	}
	next := DayOf(2026, 12, 1)
	c.Served(1000)
	c.OpenDay(next, DayCategory{CategoryDefined: c.Definition(), ServiceMean: c.ServiceMean()}, 77, 50)
	for s := Reserved; s < numStates; s++ {
		want := Expired
		if s.Final() || s == Serving {
			want = s
		}
		v := c.Find(TicketID{testDay, "personal", uint32(s)})
		if v != of[s] || v.State != want {
			t.Errorf("%v: got %v, want %v", s, v.State, want)
		}
		if expired := !s.Final() && want == Expired; expired != (v.Times().Ended == 77 && v.Version == 50) {
			t.Errorf("%v: got ended %d, version %d", s, v.Times().Ended, v.Version)
		}
	}
	if c.Issued() != 0 || c.Serving() != 0 || c.Waiting() != 0 || c.First() != nil || c.ServiceMean() != 1000 {
		t.Errorf("got issued %d, serving %d, waiting %d, mean %d, want a new day with the old mean", c.Issued(), c.Serving(), c.Waiting(), c.ServiceMean())
	}
	if v := issue(t, c, 60); v.Number != "A001" || v.ID.Day != next {
		t.Errorf("got %v, want A001 of the new day", v.ID)
	}
	c.OpenDay(DayOf(2026, 12, 2), DayCategory{CategoryDefined: c.Definition()}, 99, 70)
	if v := c.Find(TicketID{testDay, "personal", 1}); v != nil {
		t.Errorf("got %v after two days, want none", v.ID)
	}
}

func TestTheServiceMeanForgets(t *testing.T) {
	c := openCategory(t)
	for _, test := range []struct{ ns, want int64 }{{800, 800}, {1600, 900}, {900, 900}, {100, 800}} {
		c.Served(test.ns)
		if got := c.ServiceMean(); got != test.want {
			t.Errorf("after %d: got %d, want %d", test.ns, got, test.want)
		}
	}
	c = openCategory(t)
	if c.Served(0); c.ServiceMean() != 1 {
		t.Errorf("got %d after a service of no time, want 1: 0 stands for nothing served", c.ServiceMean())
	}
}

func TestEachKnowsTwoDays(t *testing.T) {
	c := openCategory(t)
	for n := range 5 {
		issue(t, c, int64(n))
	}
	c.OpenDay(DayOf(2026, 12, 1), DayCategory{CategoryDefined: c.Definition()}, 1, 1)
	count := func(d Day, from uint32) (n int, ok bool) {
		ok = c.Each(d, from, func(*Live) bool { n++; return n < 4 })
		return n, ok
	}
	for _, test := range []struct {
		day  Day
		from uint32
		n    int
		ok   bool
	}{{testDay, 0, 4, true}, {testDay, 4, 2, true}, {testDay, 6, 0, true}, {DayOf(2026, 12, 1), 1, 0, true}, {DayOf(2026, 11, 29), 1, 0, false}} {
		if n, ok := count(test.day, test.from); n != test.n || ok != test.ok {
			t.Errorf("%v from %d: got %d, %t, want %d, %t", test.day, test.from, n, ok, test.n, test.ok)
		}
	}
}
