package display

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits for what must come. Nothing passes by its being long.
const patience = 60 * time.Second

// browser is one headless Chromium with a profile of its own.
type browser struct{ ctx context.Context }

// openBrowser starts Chromium, or skips the test if there is none; with CALLERD_REQUIRE_BROWSER=1
// it fails instead.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if os.Getenv("CALLERD_REQUIRE_BROWSER") == "1" {
			t.Fatal("no chromium found, and CALLERD_REQUIRE_BROWSER=1")
		}
		t.Skip("no chromium found: the page is not tested")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("autoplay-policy", "no-user-gesture-required"),
	)
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...) // t's ends before its cleanups
	t.Cleanup(cancel)
	ctx, cancelBrowser := chromedp.NewContext(allocator)
	t.Cleanup(cancelBrowser)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits until the process has ended
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	return &browser{ctx: ctx}
}

// screen is one tab that shows the page.
type screen struct {
	t   *testing.T
	ctx context.Context
}

// watch is put into every page before its own scripts: it keeps what the card showed, in order, and
// counts what its user would see flash.
const watch = `(function () {
  var seen = window.seen = [], log = window.errors = [], states = window.states = [];
  window.flashes = 0; window.asked = 0; window.worst = 0;
  addEventListener('error', function (e) { log.push(e.message); });
  addEventListener('securitypolicyviolation', function (e) { log.push('policy: ' + e.violatedDirective + ' ' + e.blockedURI); });
  var send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function () { window.asked++; return send.apply(this, arguments); };
  addEventListener('DOMContentLoaded', function () {
    var body = document.body, panel = document.querySelector('.card');
    addEventListener('animationstart', function (e) { if (e.animationName === 'flash') { window.flashes++; } });
    new MutationObserver(function () {
      states.push({ state: body.getAttribute('data-state'), at: performance.now() });
    }).observe(body, { attributes: true, attributeFilter: ['data-state'] });
    new MutationObserver(function () {
      var n = body.getAttribute('data-announced'), last = seen[seen.length - 1];
      if (n === '0' || last && last.n === n) { return; }
      var card = body.getAttribute('data-view') === 'hall' ? document.getElementById('now') : document.getElementById('current');
      var shown = card.querySelector('.number span').textContent, place = card.querySelector('.counter');
      seen.push({ n: n, number: card.getAttribute('data-number'), counter: card.getAttribute('data-counter'), at: performance.now(),
        text: shown + ' ' + (place ? place.textContent : ''), spoken: document.getElementById('spoken').textContent });
    }).observe(body, { attributes: true, subtree: true, attributeFilter: ['data-announced', 'data-number', 'class'] });
  });
})();`

// open shows a page in a tab of its own. Scripts are run before those of the page.
func (b *browser) open(t *testing.T, url string, width, height int64, scripts ...string) *screen {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	t.Cleanup(cancel)
	s := &screen{t: t, ctx: ctx}
	s.do(chromedp.EmulateViewport(width, height), chromedp.Func(addScript(watch+strings.Join(scripts, ";"))), chromedp.Navigate(url))
	t.Cleanup(func() {
		s.t = t // a subtest may have had it
		if t.Failed() {
			return
		}
		if log := eval[[]string](s, "window.errors"); len(log) > 0 {
			t.Errorf("the page complained: %q", log)
		}
	})
	return s
}

func (s *screen) do(steps ...chromedp.Action[chromedp.Void]) {
	s.t.Helper()
	if err := chromedp.Do(s.ctx, steps...); err != nil {
		s.t.Fatal(err)
	}
}

// eval returns what an expression in the page comes to.
func eval[T any](s *screen, expression string) T {
	s.t.Helper()
	v, err := chromedp.Run(s.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		s.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits in the page until the condition holds. (chromedp's own polling makes a function from
// text, which the page's policy forbids.)
func (s *screen) until(condition string) {
	s.t.Helper()
	const wait = `new Promise(function (ok) {
	  (function look() { var v; try { v = %s; } catch (e) { v = false; } if (v) { ok(true); } else { setTimeout(look, 10); } })();
	})`
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	look := chromedp.Evaluate[bool](fmt.Sprintf(wait, condition), chromedp.EvalAwaitPromise)
	_, err := chromedp.Run(ctx, look)
	for err != nil && (strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context was destroyed")) {
		_, err = chromedp.Run(ctx, look) // the page has loaded itself again
	}
	if err != nil {
		s.t.Fatalf("waiting for %s: %v\nthe page: %s", condition, err, s.state())
	}
}

// state describes the page for a failing test.
func (s *screen) state() string {
	v, err := chromedp.Run(s.ctx, chromedp.Evaluate[string](`JSON.stringify({
	  body: [].map.call(document.body.attributes, function (a) { return a.name + '=' + a.value; }),
	  card: document.querySelector('.card').outerHTML, seen: window.seen, errors: window.errors })`))
	if err != nil {
		return err.Error()
	}
	return v
}

// announcement is what the card showed when it was announced.
type announcement struct {
	N       string  `json:"n"`
	Number  string  `json:"number"`
	Counter string  `json:"counter"`
	At      float64 `json:"at"` // ms
	Text    string  `json:"text"`
	Spoken  string  `json:"spoken"`
}

func (s *screen) seen() []announcement {
	s.t.Helper()
	var list []announcement
	if err := json.Unmarshal([]byte(eval[string](s, "JSON.stringify(window.seen)")), &list); err != nil {
		s.t.Fatal(err)
	}
	return list
}

// picture writes a screenshot into the folder named by CALLERD_SCREENSHOTS, if there is one.
func (s *screen) picture(name string) {
	s.t.Helper()
	folder := os.Getenv("CALLERD_SCREENSHOTS")
	if folder == "" {
		return
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		s.t.Fatal(err)
	}
	picture, err := chromedp.Run(s.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// heap returns the bytes that the page's scripts hold, garbage collected before.
func (s *screen) heap() float64 {
	s.t.Helper()
	if _, err := chromedp.Call(s.ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
		s.t.Fatal(err)
	}
	usage, err := chromedp.Call(s.ctx, runtime.GetHeapUsage, cdp.Empty{})
	if err != nil {
		s.t.Fatal(err)
	}
	return usage.UsedSize
}

// addScript has a script run in every page before the page's own.
func addScript(source string) func(context.Context, *chromedp.Target) error {
	return func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source})
		return err
	}
}
