package display

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"

	"callerd/internal/hub"
)

const (
	isLive = `document.body.getAttribute('data-state') === 'live'`
	isLost = `document.body.getAttribute('data-state') === 'lost'`
)

func at(sequence uint64) string {
	return fmt.Sprintf(`document.body.getAttribute('data-sequence') === '%d'`, sequence)
}

func shows(number string, counter int) string {
	return fmt.Sprintf(`document.querySelector('#now[data-number="%s"][data-counter="%d"]')`, number, counter)
}

func announced(n int) string {
	return fmt.Sprintf(`document.body.getAttribute('data-announced') === '%d'`, n)
}

// TestPage drives the page with a server that can do what a sound one does not.
func TestPage(t *testing.T) {
	b := openBrowser(t)
	const width, height = 1280, 720

	t.Run("case 33: 60,000 updates leave the page as large as it was", func(t *testing.T) {
		updates := 60000
		if testing.Short() {
			updates = 6000
		}
		f := openFake(t)
		s := b.open(t, f.url(""), width, height)
		s.until(isLive)
		const step = 1000
		var nodes, heap float64
		for done := 0; done < updates; done += step {
			for i := range step {
				n := done + i
				switch i % 5 {
				case 0:
					f.call("called", fmt.Sprintf("A%03d", n%1200), n%4+1, 0)
				case 1:
					f.setCounter(n%4+1, []string{"open", "paused"}[n/5%2], fmt.Sprintf("A%03d", n%1200), "called")
				case 2:
					f.call("recalled", fmt.Sprintf("A%03d", n%1200), n%4+1, time.Minute)
				case 3:
					f.setNotice(fmt.Sprint("通知", n), fmt.Sprint("notice ", n))
				default:
					f.send(object{"type": "waiting", "category": "personal", "waiting": n, "issued": n, "serving": n})
				}
			}
			s.until(at(f.sequence))
			if done == step {
				nodes, heap = s.nodes(), s.heap()
			}
		}
		if got := s.nodes(); got != nodes {
			t.Errorf("the page has %v nodes, want %v as after the first updates", got, nodes)
		}
		if got := s.heap(); got > heap*1.2+200e3 {
			t.Errorf("its scripts hold %.0f bytes, want about %.0f as after the first updates", got, heap)
		}
		t.Logf("%d updates: %v nodes, heap %.0f, then %.0f bytes", updates, nodes, heap, s.heap())
	})

	// The rest is mostly waiting, and so runs side by side.
	t.Run("a frame is missing: a snapshot is fetched", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url(""), width, height)
		s.until(isLive)
		f.call("called", "A001", 1, 0)
		s.until(shows("A001", 1))
		f.mu.Lock()
		f.lines[0]["waiting"] = 77 // told only by the snapshot
		f.append(5, object{"type": "unknown to this page"})
		f.mu.Unlock()
		s.until(`document.querySelector('[data-category="personal"]').getAttribute('data-waiting') === '77'`)
		s.until(isLive + " && " + at(f.sequence))
		f.mu.Lock()
		defer f.mu.Unlock()
		if got := f.resumed[1:]; len(got) != 1 || got[0] != "" {
			t.Errorf("it came back with after = %q, want once, without", got)
		}
		if got := s.seen(); len(got) != 1 {
			t.Errorf("announced %v, want A001 once", got)
		}
	})

	t.Run("case 28: back from a cut with what was missed; the fresh calls are announced, the old ones only listed", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url(""), width, height)
		s.until(isLive)
		f.call("called", "A001", 1, 0)
		s.until(shows("A001", 1))
		f.mu.Lock()
		f.refuse = true
		f.mu.Unlock()
		f.stop()
		s.until(isLost)
		// The hub comes back with this history, in which the display was away for three calls.
		f.mu.Lock()
		last := f.sequence
		f.mu.Unlock()
		f.start()
		f.call("called", "A002", 2, 40*time.Second)
		f.call("called", "A003", 3, 21*time.Second)
		f.call("called", "A004", 4, time.Second)
		f.mu.Lock()
		f.refuse = false
		f.mu.Unlock()
		s.until(shows("A004", 4))
		rows := eval[string](s, `[].map.call(document.querySelectorAll('#calls li'), function (r) { return r.getAttribute('data-number'); }).join(' ')`)
		if want := "A004 A003 A002 A001  "; rows != want {
			t.Errorf("the list is %q, want %q", rows, want)
		}
		if got := s.seen(); len(got) != 2 || got[1].Number != "A004" {
			t.Errorf("announced %v, want A001 and A004", got)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if want := fmt.Sprint(last); f.resumed[len(f.resumed)-1] != want {
			t.Errorf("it came back after %q, want %s", f.resumed, want)
		}
	})

	t.Run("case 28: another epoch is another history", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url(""), width, height)
		s.until(isLive)
		f.call("called", "A001", 1, 0)
		f.setNotice("旧通知", "old notice")
		s.until(shows("A001", 1) + " && document.body.classList.contains('noticed')")
		f.stop()
		f.mu.Lock()
		f.epoch, f.sequence, f.calls = "second", 3, nil
		f.notice = object{"zh-CN": "", "en": ""}
		f.mu.Unlock()
		f.start()
		s.until(isLive + " && " + at(3))
		if eval[bool](s, `!!document.querySelector('#now[data-number="A001"], li[data-number="A001"], .noticed')`) {
			t.Error("something of the old history is left")
		}
		f.call("called", "A001", 2, 0)
		s.until(shows("A001", 2) + " && " + announced(2))
	})

	t.Run("case 30: told to come back, it comes at once and misses nothing", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url(""), width, height)
		s.until(isLive)
		f.call("called", "A001", 1, 0)
		s.until(shows("A001", 1))
		f.mu.Lock()
		last := f.sequence
		// The hub owns the connection and lets the library write nothing; it is silent just now, and can write nothing after this.
		closing := append([]byte{0x80 | websocket.CloseMessage, 2}, websocket.FormatCloseMessage(hub.CloseLagging, "")...)
		conn := f.conns[0].NetConn()
		if _, err := conn.Write(closing); err != nil {
			t.Error(err)
		}
		if err := conn.SetWriteDeadline(time.Unix(1, 0)); err != nil {
			t.Error(err)
		}
		f.mu.Unlock()
		f.call("called", "A002", 2, 0)
		f.call("called", "A003", 3, 0)
		s.until(at(f.sequence) + " && " + announced(2))
		if got := eval[int](s, "window.states.length"); got != 1 {
			t.Errorf("the state changed %d times, want once, to live", got)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if got := f.resumed[1:]; len(got) != 1 || got[0] != fmt.Sprint(last) {
			t.Errorf("it came back after %q, want once, after %d", got, last)
		}
	})

	t.Run("case 32: a server that cannot read its store answers 503: the last good state stays, marked", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url(""), width, height)
		s.until(isLive)
		f.call("called", "A001", 1, 0)
		s.until(shows("A001", 1))
		f.stop()
		f.mu.Lock()
		f.refuse = true
		f.mu.Unlock()
		f.start()
		s.until(isLost + " && window.asked >= 2") // it has tried
		if !eval[bool](s, shows("A001", 1)+` && document.body.classList.contains('stale') && getComputedStyle(document.getElementById('lost')).display !== 'none' &&
			/^\d\d:\d\d:\d\d$/.test(document.getElementById('lost-time').textContent)`) {
			t.Errorf("the last state is not there, or not marked: %s", s.state())
		}
		f.mu.Lock()
		f.refuse = false
		f.mu.Unlock()
		s.until(isLive)
	})

	t.Run("a server that says nothing is lost within two heartbeats", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		f.stop()
		f.silent = true
		f.start()
		s := b.open(t, f.url(""), width, height)
		s.until(isLive)
		s.until(isLost)
		if after := eval[float64](s, "states[1].at - states[0].at"); after > 12000 { // 10 s, and two for a busy machine
			t.Errorf("said after %.0f ms, want 10 s at most", after)
		}
		s.until(isLive) // it has asked again, and there is an answer
	})

	t.Run("case 10: long numbers fit", func(t *testing.T) {
		t.Parallel()
		for _, size := range [][2]int64{{1920, 1080}, {1080, 1920}, {1024, 768}, {1280, 1024}} {
			f := openFake(t)
			s := b.open(t, f.url(""), size[0], size[1])
			for i, number := range []string{"A999", "A1000", "AB12345", "W88888888", "MW100000000", "WWWWW1234567"} {
				f.call("called", number, i+124, 0)
				s.do(chromedp.Navigate(f.url(""))) // a new page shows the last call at once
				s.until(isLive + " && " + shows(number, i+124))
				if out := eval[string](s, overflow); out != "" {
					t.Errorf("%dx%d, %s: does not fit: %s", size[0], size[1], number, out)
				}
			}
			s.picture(fmt.Sprintf("long-%dx%d", size[0], size[1]))
		}
	})

	t.Run("case 34: markup in a notice is text", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url(""), width, height)
		s.until(isLive)
		const markup = `<img src=x onerror="window.hurt=1"><script>window.hurt=2</script>&amp;`
		f.setNotice(markup, markup)
		s.until(`document.getElementById('notice-zh').textContent.length > 0`)
		if got := eval[string](s, `document.getElementById('notice-zh').textContent`); got != markup {
			t.Errorf("the notice is %q, want %q", got, markup)
		}
		if eval[bool](s, `!!document.querySelector('#notice img, #notice script') || 'hurt' in window`) {
			t.Error("the notice has become markup")
		}
		f.setNotice(strings.Repeat("因系统升级，今日对公业务于下午三点停止办理。", 8), strings.Repeat("Corporate services close at three today. ", 8))
		s.until(`document.getElementById('notice-en').textContent.length > 100`)
		if out := eval[string](s, overflow); out != "" {
			t.Errorf("a long notice does not fit: %s", out)
		}
		s.picture("notice-long")
		f.setNotice("", "")
		s.until(`!document.body.classList.contains('noticed')`)
	})

	t.Run("case 35: a paused counter", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url("?counter=3"), width, height)
		s.until(isLive + ` && document.querySelector('#current[data-counter-state="open"]')`)
		for _, step := range []struct{ state, number, ticketState, want string }{
			{"open", "", "", "请稍候 Please wait"},
			{"open", "A012", "called", "请到本窗口 Please come to this counter"},
			{"open", "A012", "serving", "正在办理 Now serving"},
			{"paused", "A012", "serving", "暂停服务 Paused"},
			{"paused", "", "", "暂停服务 Paused"},
			{"closed", "", "", "窗口关闭 Closed"},
		} {
			f.setCounter(3, step.state, step.number, step.ticketState)
			s.until(at(f.sequence))
			got := eval[string](s, `document.getElementById('state-zh').textContent + ' ' + document.getElementById('state-en').textContent`)
			if number := eval[string](s, `document.getElementById('current').getAttribute('data-number')`); got != step.want || number != step.number {
				t.Errorf("%s, %s %s: shows %q with number %q, want %q", step.state, step.number, step.ticketState, got, number, step.want)
			}
			if out := eval[string](s, overflow); out != "" {
				t.Errorf("%+v does not fit: %s", step, out)
			}
			s.picture(fmt.Sprintf("counter-%s-%s%s", step.state, step.number, step.ticketState))
		}
	})

	t.Run("a burst is announced whole, in order, and is over within a minute", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url("?voice=off"), width, height)
		s.until(isLive)
		const calls = 100
		for i := range calls {
			f.call("called", fmt.Sprintf("A%03d", i), i%4+1, 0)
		}
		s.until(at(f.sequence))
		if got := eval[string](s, `document.body.getAttribute('data-dropped')`); got != fmt.Sprint(calls-31) {
			t.Errorf("%s calls are only listed, want %d", got, calls-31)
		}
		s.until(announced(12)) // the first, and those that wait from the 70th on
		for i, a := range s.seen()[1:12] {
			if want := fmt.Sprintf("A%03d", calls-30+i); a.Number != want || a.Text != fmt.Sprintf("%s %d", want, (calls-30+i)%4+1) {
				t.Errorf("announcement %d is %q, want %s", i, a.Text, want)
			}
		}
		got := s.seen()
		if each := (got[11].At - got[1].At) / 10; each < 950 || each > 3000 {
			t.Errorf("each is shown for %.0f ms, want about a second", each)
		}
	})

	t.Run("it speaks token by token, in the languages it has voices for, and chimes", func(t *testing.T) {
		t.Parallel()
		const stub = `window.said = []; window.tones = 0;
		  Object.defineProperty(window, 'speechSynthesis', { value: { cancel: function () {}, getVoices: function () { return window.voices; },
		    speak: function (u) { said.push(u.lang + ': ' + u.text); setTimeout(u.onend, 0); } } });
		  window.SpeechSynthesisUtterance = function (text) { this.text = text; };
		  var create = AudioContext.prototype.createOscillator;
		  AudioContext.prototype.createOscillator = function () { window.tones++; return create.call(this); };
		  Object.defineProperty(AudioContext.prototype, 'state', { value: 'running' });`
		const zh, en = "zh-CN: 请A零一二号到三号窗口办理业务", "en: Ticket A zero one two please go to counter three"
		for _, test := range []struct{ query, voices, want string }{
			{"", "zh-CN en-US", zh + "; " + en},
			{"", "de-DE en-GB", en},
			{"", "zh_CN", zh},
			{"?voice=en", "zh-CN en-US", en},
			{"?voice=off", "zh-CN en-US", ""},
			{"", "", ""},
			{"?counter=3", "zh-CN", ""},
			{"?counter=3&voice=zh-CN", "zh-CN", zh},
		} {
			f := openFake(t)
			s := b.open(t, f.url(test.query), width, height, stub,
				fmt.Sprintf(`window.voices = '%s'.split(' ').map(function (l) { return { lang: l }; })`, test.voices))
			s.until(isLive)
			f.call("called", "A012", 3, 0)
			s.until(announced(1) + fmt.Sprintf(" && said.join('; ') === %q", test.want))
			tones := 2
			if strings.Contains(test.query, "off") || test.query == "?counter=3" {
				tones = 0
			}
			if got := eval[int](s, "tones"); got != tones {
				t.Errorf("%s with voices %q: %d tones, want %d", test.query, test.voices, got, tones)
			}
		}
	})

	t.Run("a machine that has slept knows no times, and asks for a snapshot", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url(""), width, height,
			`window.slept = 0; var time = Date.prototype.getTime; Date.prototype.getTime = function () { return time.call(this) + window.slept; }`)
		s.until(isLive)
		f.call("called", "A001", 3, 0)
		s.until(announced(1))
		eval[any](s, "window.slept = 3600e3, null")
		f.awaitDisplays(2)
		f.mu.Lock()
		defer f.mu.Unlock()
		if got := f.resumed[1]; got != "" {
			t.Errorf("it came back after %s, want without", got)
		}
	})

	t.Run("a page whose server has another one loads itself again", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url(""), width, height)
		s.until(isLive)
		eval[any](s, "window.before = 1, null")
		f.stop()
		f.mu.Lock()
		f.etag = `"another"`
		f.mu.Unlock()
		f.start()
		s.until("!window.before && " + isLive)
	})

	for _, size := range [][2]int64{{1920, 1080}, {3840, 2160}, {1080, 1920}, {1366, 768}, {1024, 768}} {
		t.Run(fmt.Sprintf("legible at %dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			f := openFake(t)
			for i, number := range []string{"A007", "B003", "A008", "A009", "B004", "A010"} {
				f.call("called", number, i%4+1, 0)
			}
			f.setNotice("今日对公业务办理至下午四点", "Corporate services are open until four today")
			s := b.open(t, f.url(""), size[0], size[1])
			s.until(isLive)
			for name, look := range map[string]string{"hall": "", "hall, flashing": "A011"} {
				if look != "" {
					f.call("called", look, 2, 0)
					s.until(shows(look, 2))
				}
				if out := eval[string](s, overflow); out != "" {
					t.Errorf("%s: does not fit: %s", name, out)
				}
				if out := eval[string](s, contrast); out != "" {
					t.Errorf("%s: contrast under 7:1: %s", name, out)
				}
			}
			if low := eval[float64](s, `Math.min.apply(null, [].map.call(document.querySelectorAll('#calls li'), function (r) {
				return r.getBoundingClientRect().height / innerHeight * 100; }))`); low < 9.99 {
				t.Errorf("the lowest row is %.2f vh, want 10", low)
			}
			f.stop()
			s.until(isLost)
			if out := eval[string](s, overflow); out != "" {
				t.Errorf("lost: does not fit: %s", out)
			}
			s.picture(fmt.Sprintf("lost-%dx%d", size[0], size[1]))
		})
	}

	t.Run("who wants less motion gets none, and flashes are few", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		s := b.open(t, f.url(""), width, height)
		s.until(isLive)
		f.call("called", "A001", 1, 0)
		s.until("window.flashes === 1")
		if got := eval[string](s, `var c = getComputedStyle(document.getElementById('now')); c.animationDuration + ' x ' + c.animationIterationCount`); got != "1s x 3" {
			t.Errorf("the flash is %s, want one a second, three times", got)
		}
		if _, err := chromedp.Call(s.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}}); err != nil {
			t.Fatal(err)
		}
		s.until(`getComputedStyle(document.getElementById('now')).animationName === 'none'`)
	})
}

// nodes counts elements and texts.
func (s *screen) nodes() float64 {
	s.t.Helper()
	return eval[float64](s, `(function count(n) { var c = 1; for (var k = n.firstChild; k; k = k.nextSibling) { c += count(k); } return c; })(document)`)
}

// overflow names what is cut off or sticks out, "" if nothing.
const overflow = `(function () {
  var out = [];
  if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight) { out.push('the page itself'); }
  [].forEach.call(document.querySelectorAll('body *'), function (e) {
    var r = e.getBoundingClientRect();
    if (!r.width || !r.height || e.parentElement.className === 'pane' || e.closest('#spoken') || e.closest('.empty .number')) { return; }
    var name = (e.id || e.className || e.tagName) + ' "' + e.textContent.slice(0, 20) + '"';
    if (r.left < -1 || r.top < -1 || r.right > innerWidth + 1 || r.bottom > innerHeight + 1) { out.push(name + ' is off the screen'); }
    for (var p = e.parentElement; p && p !== document.body; p = p.parentElement) {
      var q = p.getBoundingClientRect();
      if (r.left < q.left - 2 || r.right > q.right + 2 || (p.tagName === 'SECTION' || p.tagName === 'MAIN' || p.id === 'notice') && (r.top < q.top - 2 || r.bottom > q.bottom + 2)) {
        out.push(name + ' sticks out of ' + (p.id || p.className || p.tagName)); break;
      }
    }
    var next = e.nextElementSibling;
    if (next && e.parentElement.tagName === 'LI' && r.right > next.getBoundingClientRect().left + 1) { out.push(name + ' meets its neighbour'); }
  });
  return out.join('; ');
})()`

// contrast names texts that do not differ from their ground by 7:1, "" if none. While the card
// flashes its ground is whatever it is at that moment.
const contrast = `(function () {
  function parse(c) { var m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? m.concat(1) : m; }
  function light(c) { var v = c.slice(0, 3).map(function (x) { x /= 255; return x <= .03928 ? x / 12.92 : Math.pow((x + .055) / 1.055, 2.4); });
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; }
  var out = [];
  [].forEach.call(document.querySelectorAll('body *'), function (e) {
    var own = [].some.call(e.childNodes, function (n) { return n.nodeType === 3 && n.nodeValue.trim(); });
    if (!own || !e.getBoundingClientRect().width || e.closest('script')) { return; }
    var ground = [255, 255, 255, 1];
    for (var p = e; p; p = p.parentElement) { var c = parse(getComputedStyle(p).backgroundColor); if (c[3] === 1) { ground = c; break; } }
    var a = light(parse(getComputedStyle(e).color)), b = light(ground);
    var ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 7) { out.push((e.id || e.className || e.tagName) + ' "' + e.textContent.slice(0, 20) + '" ' + ratio.toFixed(1)); }
  });
  return out.join('; ');
})()`
