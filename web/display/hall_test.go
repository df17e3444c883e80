package display

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHall drives the page with the real daemon: what kiosks and consoles do over gRPC must be what
// the hall sees.
func TestHall(t *testing.T) {
	b := openBrowser(t)
	d := openDaemon(t)
	hall := b.open(t, d.url(""), 1920, 1080)
	desk := b.open(t, d.url("?counter=3"), 1280, 720)
	hall.until(isLive)
	desk.until(isLive + ` && document.querySelector('#current[data-counter-state="closed"]')`)
	for counter := range uint32(4) {
		d.open(counter + 1)
	}

	t.Run("a counter that is not configured is said not to exist", func(t *testing.T) {
		for _, counter := range []string{"77", "10000"} { // 404, and 400
			s := b.open(t, d.url("?counter="+counter), 1280, 720)
			s.until(`document.body.classList.contains('unknown') && document.getElementById('state-zh').textContent === '没有该窗口'`)
		}
	})

	t.Run("who takes a number is seen to wait", func(t *testing.T) {
		hall.t, desk.t, d.t = t, t, t
		for range 4 {
			d.issue("personal")
		}
		d.issue("corporate")
		hall.until(waits("personal", 4) + " && " + waits("corporate", 1))
	})

	t.Run("a call appears", func(t *testing.T) {
		hall.t, desk.t, d.t = t, t, t
		if got := d.call(3); got != "A001" {
			t.Errorf("called %s, want A001", got)
		}
		hall.until(shows("A001", 3) + " && " + announced(1) + " && window.flashes === 1 && " + waits("personal", 3))
		desk.until(`document.querySelector('#current[data-number="A001"][data-counter-state="open"]') && window.flashes === 1`)
		if got, want := hall.seen()[0].Spoken, "请A001号到3号窗口办理业务 Ticket A001, please go to counter 3"; got != want {
			t.Errorf("told to screen readers: %q, want %q", got, want)
		}
	})

	t.Run("a recall flashes again", func(t *testing.T) {
		hall.t, desk.t, d.t = t, t, t
		d.recall(3)
		hall.until(shows("A001", 3) + " && " + announced(2) + " && window.flashes === 2")
		desk.until("window.flashes === 2")
		if got := eval[string](hall, numbers); got != "A001" {
			t.Errorf("the list is %q, want A001 once", got)
		}
	})

	t.Run("case 31: two counters call within 50 ms: two whole announcements, one after the other", func(t *testing.T) {
		hall.t, desk.t, d.t = t, t, t
		start := time.Now()
		first, second := d.call(1), d.call(2)
		took := time.Since(start)
		hall.until(announced(4))
		got := hall.seen()[2:]
		for i, want := range []string{first + " 1", second + " 2"} {
			if got[i].Text != want || got[i].Number+" "+got[i].Counter != want || !strings.Contains(got[i].Spoken, strings.Fields(want)[0]) {
				t.Errorf("announcement %d is %+v, want %s", i+1, got[i], want)
			}
		}
		if apart := got[1].At - got[0].At; apart < 1000 {
			t.Errorf("the second came %.0f ms after the first, which nobody could read", apart)
		}
		t.Logf("called within %v, shown %.0f ms apart", took, got[1].At-got[0].At)
	})

	t.Run("case 34: a notice with markup is text", func(t *testing.T) {
		hall.t, desk.t, d.t = t, t, t
		const markup = `<img src=x onerror="window.hurt=1">`
		d.notice(markup, "<b>closed</b>")
		hall.until(`document.getElementById('notice-en').textContent === '<b>closed</b>'`)
		if got := eval[string](hall, `document.getElementById('notice-zh').textContent`); got != markup {
			t.Errorf("the notice is %q, want %q", got, markup)
		}
		if eval[bool](hall, `'hurt' in window || !!document.querySelector('#notice img, #notice b')`) {
			t.Error("the notice has become markup")
		}
		d.notice("", "")
		hall.until(`!document.body.classList.contains('noticed')`)
	})

	t.Run("case 35: a paused counter says so, and has its ticket after", func(t *testing.T) {
		hall.t, desk.t, d.t = t, t, t
		d.complete(3)
		d.pause(3)
		desk.until(`document.querySelector('#current[data-counter-state="paused"]') && document.getElementById('state-zh').textContent === '暂停服务'`)
		d.resume(3)
		desk.until(`document.querySelector('#current[data-counter-state="open"]')`)
		number := d.call(3)
		desk.until(fmt.Sprintf(`document.querySelector('#current[data-number="%s"]')`, number))
	})

	t.Run("case 29: the server stops and comes back", func(t *testing.T) {
		hall.t, desk.t, d.t = t, t, t
		for name, end := range map[string]func(){"stopped": d.stop, "killed": d.kill} {
			before := eval[string](hall, numbers)
			end()
			hall.until(isLost + ` && document.body.classList.contains('stale') && document.getElementById('lost-zh').textContent === '信号中断'`)
			desk.until(isLost)
			if got := eval[string](hall, numbers); got != before {
				t.Errorf("%s: the list is %q, want %q as it was", name, got, before)
			}
			at := eval[float64](hall, "performance.now()")
			d.start()
			served := eval[float64](hall, "performance.now()")
			d.issue("personal")
			number := d.call(4)
			hall.until(isLive)
			desk.until(isLive)
			if back := eval[float64](hall, "states[states.length - 1].at"); back > served+3000 { // 2 s, and one for a busy machine
				t.Errorf("%s: back %.0f ms after the server, want 2 s", name, back-served)
			} else {
				t.Logf("%s: back %.0f ms after the start, which took %.0f", name, back-at, served-at)
			}
			hall.until(shows(number, 4) + fmt.Sprintf(" && seen.some(function (a) { return a.text === '%s 4'; })", number))
			if got, want := eval[string](hall, numbers), strings.TrimSpace(number+" "+before); !strings.HasPrefix(want, got) {
				t.Errorf("%s: the list is %q, want %q", name, got, want)
			}
		}
	})

	t.Run("case 29: the server hangs", func(t *testing.T) {
		hall.t, desk.t, d.t = t, t, t
		changes := eval[int](hall, "states.length")
		from := eval[float64](hall, "performance.now()")
		d.signal(syscall.SIGSTOP)
		hall.until(isLost)
		if after := eval[float64](hall, fmt.Sprintf("states[%d].at", changes)) - from; after > 12000 { // 10 s, and two for a busy machine
			t.Errorf("said after %.0f ms, want two heartbeats", after)
		}
		d.signal(syscall.SIGCONT)
		hall.until(isLive)
		d.issue("personal")
		number := d.call(1)
		hall.until(shows(number, 1))
	})

	t.Run("case 29: the server is away for long, and browsers slow down WebSockets that fail", func(t *testing.T) {
		hall.t, desk.t, d.t = t, t, t
		if testing.Short() {
			t.Skip("takes half a minute")
		}
		asked := eval[int](hall, "window.asked")
		d.stop()
		hall.until(fmt.Sprintf("window.asked >= %d", asked+24))
		d.start()
		served := eval[float64](hall, "performance.now()")
		hall.until(isLive)
		if back := eval[float64](hall, "states[states.length - 1].at"); back > served+3000 {
			t.Errorf("back %.0f ms after the server, want 2 s", back-served)
		}
	})

	t.Run("pictures", func(t *testing.T) {
		hall.t, desk.t, d.t = t, t, t
		d.notice("温馨提示：对公业务今日办理至 16:30", "Corporate services are open until 16:30 today")
		for range 9 {
			d.issue("personal")
		}
		for range 4 {
			d.issue("corporate")
		}
		for _, counter := range []uint32{2, 4, 1, 3} {
			d.call(counter)
		}
		for _, size := range [][2]int64{{1920, 1080}, {3840, 2160}, {1080, 1920}} {
			s := b.open(t, d.url(""), size[0], size[1])
			s.until(isLive)
			if out := eval[string](s, overflow); out != "" {
				t.Errorf("does not fit: %s", out)
			}
			s.picture(fmt.Sprintf("hall-%dx%d", size[0], size[1]))
		}
		desk.picture("counter-1280x720")
	})
}

// numbers are those in the list of calls.
const numbers = `[].map.call(document.querySelectorAll('#calls li'), function (r) { return r.getAttribute('data-number'); }).join(' ').trim()`

func waits(category string, n int) string {
	return fmt.Sprintf(`document.querySelector('[data-category="%s"][data-waiting="%d"]')`, category, n)
}
