package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The costs of a line by how many wait in it. The tickets lie in call order in memory, and those who are looked for are anywhere.
func BenchmarkLine(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		l, tickets := fullLine(n)
		next := int64(n)
		random := rand.New(rand.NewPCG(1, 2))
		any := func() *Live { return tickets[random.IntN(n)] }
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s, %d waiting", name, n), func(b *testing.B) {
				for b.Loop() {
					f()
				}
			})
		}
		run("ahead", func() { l.Ahead(any().Key) })
		run("settle", func() { l.Settle(any()) })
		run("pass over", func() { l.PassOver(any().Key) })
		run("first", func() { l.First() })
		run("leave and come back", func() {
			t := any()
			l.Leave(t)
			l.Enter(t)
		})
		run("leave anywhere, enter at the end", func() {
			t := any()
			l.Leave(t)
			next++
			t.Key = OrderKey{Entry: next}
			l.Enter(t)
		})
		run("take the first, enter at the end", func() {
			t := l.First()
			l.Leave(t)
			next++
			t.Key = OrderKey{Entry: next}
			l.Enter(t)
		})
	}
}
