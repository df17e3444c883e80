package main

import (
	"testing"
	"time"
)

// A category that the file no longer names is under the policies of all.
func TestACategoryThatIsNotNamedIsUnderTheDefaults(t *testing.T) {
	t.Parallel()
	c, err := parseConfig("hall.yaml", []byte("branch: {time_zone: UTC}\ndefaults: {max_overtakes: 7}\ncategories: [{id: vip, prefix: V, max_overtakes: 3}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.branch().Unnamed; got.MaxOvertakes != 7 || got.MaxWait != time.Hour {
		t.Errorf("got %d overtakes and %v, want 7 of the file and the built-in hour", got.MaxOvertakes, got.MaxWait)
	}
}
