package display

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// quick makes what takes turns do so four times a second.
const quick = `(function () { var real = window.setInterval; window.setInterval = function (f, ms) { return real(f, ms === 7000 ? 250 : ms); }; })()`

// rectangles names what overlaps, leaves its box or is too small, "" if nothing.
const rectangles = `(function () {
  var out = [], portrait = innerWidth <= innerHeight;
  function all(selector) {
    return [].filter.call(document.querySelectorAll(selector), function (e) { var r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0; });
  }
  function name(e) { return (e.id || e.className || e.tagName) + ' "' + e.textContent.slice(0, 12) + '"'; }
  // The text's own rectangle, not that of its box. Digits and capitals fill less than the font's line.
  function box(e) {
    var range = document.createRange(), r, spare;
    if (e.children.length) { return e.getBoundingClientRect(); }
    range.selectNodeContents(e);
    r = range.getBoundingClientRect();
    spare = e.tagName === 'B' || e.parentNode.className === 'number' ? (r.height - parseFloat(getComputedStyle(e).fontSize)) / 2 : 0;
    return { left: r.left, right: r.right, top: r.top + spare, bottom: r.bottom - spare };
  }
  function inside(e, parent) {
    var r = box(e), q = parent.getBoundingClientRect();
    if (r.left < q.left - 1 || r.right > q.right + 1 || r.top < q.top - 1.5 || r.bottom > q.bottom + 1.5) { out.push(name(e) + ' leaves ' + name(parent)); }
  }
  function apart(list) {
    list.forEach(function (a, i) { list.slice(i + 1).forEach(function (b) {
      var r = box(a), q = box(b);
      if (r.left < q.right - 1 && q.left < r.right - 1 && r.top < q.bottom - 1.5 && q.top < r.bottom - 1.5) { out.push(name(a) + ' overlaps ' + name(b)); }
    }); });
  }
  function small(e, landscape, upright) {
    var size = parseFloat(getComputedStyle(e).fontSize) / innerHeight * 100;
    if (size < (portrait ? upright : landscape) - .01) { out.push(name(e) + ' is only ' + size.toFixed(2) + ' vh'); }
  }
  apart(all('#branch h1, #branch p, #time, #date'));
  all('header *').forEach(function (e) { inside(e, document.querySelector('header')); });
  apart(all('header, main, footer'));
  apart(all('#now .label, #now .number span, #now .place .go, #now .place .counter'));
  all('#now .number span').forEach(function (e) { inside(e, e.parentNode); small(e, 10, 7); });
  all('#now .place *').forEach(function (e) { inside(e, document.querySelector('#now .place')); });
  all('#calls li').forEach(function (li) {
    if (li.getBoundingClientRect().height < innerHeight * .0999) { out.push('a row is too low'); }
    [].forEach.call(li.children, function (e) { inside(e, li); });
    apart([].slice.call(li.children));
  });
  apart(all('#waiting li'));
  apart(all('#waiting, #notice'));
  inside(document.querySelector('footer'), document.body);
  all('#waiting li, #notice').forEach(function (e) { inside(e, document.querySelector('footer')); });
  all('#waiting li').forEach(function (li) {
    inside(li, document.getElementById('waiting'));
    apart([].filter.call(li.querySelectorAll('span, .count'), function (e) { return e.offsetWidth; }));
    [].forEach.call(li.querySelectorAll('.name, .name span, .count, .unit, .unit span'), function (e) { if (e.offsetWidth) { inside(e, li); } });
    [].forEach.call(li.querySelectorAll('.name span'), function (e) { inside(e, e.parentNode); });
    var zh = li.querySelector('.name span'), en = li.querySelector('.name [lang]');
    if (!zh.offsetWidth || zh.textContent.length < 2) { out.push('no name: ' + name(li)); }
    small(zh, 2, 1.15); small(en, 1.4, .82);
    // The count is whole, and on top.
    var count = li.querySelector('.count'), r = box(count);
    if (count.textContent !== li.getAttribute('data-waiting')) { out.push('the count is ' + count.textContent); }
    small(count, 3.9, 2.6);
    [r.left + 2, (r.left + r.right) / 2, r.right - 2].forEach(function (x) {
      if (document.elementFromPoint(x, (r.top + r.bottom) / 2) !== count) { out.push(name(count) + ' is covered'); }
    });
  });
  var notice = document.getElementById('notice'), parts = +notice.getAttribute('data-parts');
  apart(all('#notice .pane'));
  all('#notice .pane').forEach(function (pane) {
    inside(pane, notice);
    var p = pane.children[0], line = parseFloat(getComputedStyle(p).lineHeight), from = pane.getBoundingClientRect().top - p.getBoundingClientRect().top;
    small(p, p.lang ? 1.5 : 2, p.lang ? .9 : 1.2);
    if (parts <= 1) { inside(p, pane); }
    if (Math.abs(pane.clientHeight / line - Math.round(pane.clientHeight / line)) > .05 || Math.abs(from / line - Math.round(from / line)) > .05) {
      out.push('the notice has half a line'); }
    if (p.scrollWidth > pane.clientWidth) { out.push('the notice is too wide'); }
  });
  return out.join('; ');
})()`

// part describes the part of a notice that is shown: the language, the pixels from and to, and of how many.
const part = `(function () {
  var pane = [].filter.call(document.querySelectorAll('#notice .pane'), function (p) { return p.offsetHeight; })[0], p = pane.children[0];
  var from = Math.round(pane.getBoundingClientRect().top - p.getBoundingClientRect().top);
  return JSON.stringify({ Name: p.id, From: from, To: from + pane.clientHeight, All: p.offsetHeight });
})()`

// TestFit shows the page all that the daemon accepts: names of 40 characters, notices of 500 bytes.
func TestFit(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	ordinary := [][2]string{{"个人业务", "Personal"}, {"对公业务", "Corporate"}, {"贵宾理财", "Wealth management"}, {"外汇业务", "Foreign exchange"},
		{"个人贷款", "Personal loans"}, {"信用卡", "Credit cards"}, {"社保医保", "Social security"}, {"电子银行", "Online banking"},
		{"开户销户", "Accounts"}, {"现金业务", "Cash"}, {"综合咨询", "Enquiries"}, {"爱心窗口", "Priority"}}
	cut := func(s string, runes int) string { return string([]rune(s)[:runes]) }
	zh40 := cut(strings.Repeat("个人贵宾客户理财及外汇结售汇综合业务办理", 3), 40)
	en40 := cut(strings.Repeat("Personal wealth and foreign exchange ", 2), 40)
	lines := func(n int, kind string) (all []object) {
		for i := range n {
			name := ordinary[i%len(ordinary)]
			switch kind {
			case "long":
				name = [2]string{cut(fmt.Sprint(i+1, zh40), 40), cut(fmt.Sprint(i+1, " ", en40), 40)}
			case "wide": // no place to break it
				name = [2]string{strings.Repeat("W", 40), strings.Repeat("M", 40)}
			}
			all = append(all, line(fmt.Sprint("c", i), name[0], name[1], []int{3, 188, 27, 0, 1088}[i%5]))
		}
		return all
	}
	notices := []struct{ name, zh, en string }{
		{"none", "", ""},
		{"short", "今日对公业务办理至下午四点", "Corporate services are open until four today"},
		{"500", cut(strings.Repeat("因系统升级，今日对公业务于下午三点停止办理，请您谅解。", 9), 166), cut(strings.Repeat("Corporate services close at three today. ", 20), 500)},
		{"wide", strings.Repeat("W", 500), strings.Repeat("M", 500)},
	}
	for _, size := range [][2]int64{{1920, 1080}, {1080, 1920}, {3840, 2160}, {1024, 768}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			f := openFake(t)
			for i, number := range []string{"A007", "B003", "A008", "A009", "B004", "AB1234"} {
				f.call("called", number, []int{1, 2, 3, 4, 5, 9999}[i], 0)
			}
			s := b.open(t, f.url("?voice=off"), size[0], size[1], quick)
			s.until(isLive)
			for _, n := range []int{1, 2, 3, 4, 5, 6, 8, 12, 14} {
				for _, kind := range []string{"ordinary", "long", "wide"} {
					branch := object{"zh-CN": "城东支行", "en": "Chengdong Branch"}
					switch kind {
					case "long":
						branch = object{"zh-CN": cut(strings.Repeat("中国某某银行股份有限公司城东高新技术开发区支行", 2), 36), "en": "Chengdong High-Tech Zone Branch, Unit 12"}
					case "wide":
						branch = object{"zh-CN": strings.Repeat("W", 40), "en": strings.Repeat("M", 40)}
					}
					for _, notice := range notices {
						if testing.Short() && n != 1 && n != 2 && n != 6 && n != 12 && (kind != "long" || notice.name != "500") {
							continue
						}
						f.mu.Lock()
						f.branch, f.lines, f.notice = branch, lines(n, kind), object{"zh-CN": notice.zh, "en": notice.en}
						f.append(0, object{"type": "day", "hall": f.hall("")})
						f.mu.Unlock()
						s.until(at(f.sequence))
						name := fmt.Sprintf("fit-%dx%d-%d-%s-%s", size[0], size[1], n, kind, notice.name)
						if out := eval[string](s, rectangles); out != "" {
							t.Errorf("%s: %s", name, out)
						}
						if kind == "ordinary" && n <= 12 {
							if out := eval[string](s, `[].map.call(document.querySelectorAll('#waiting .name'), function (e) { return e.textContent; }).join()`); strings.Contains(out, "…") {
								t.Errorf("%s: an ordinary name is cut: %s", name, out)
							}
						}
						if size[0] < 3000 {
							s.picture(name)
						}
						if notice.name != "500" {
							continue
						}
						if out := eval[string](s, contrast); out != "" {
							t.Errorf("%s: contrast under 7:1: %s", name, out)
						}
					}
				}
			}
			// What is shown in parts is shown whole, in both languages.
			f.mu.Lock()
			f.lines = lines(12, "long")
			f.notice = object{"zh-CN": notices[3].zh, "en": notices[2].en}
			f.append(0, object{"type": "day", "hall": f.hall("")})
			f.mu.Unlock()
			s.until(at(f.sequence))
			ends := map[string]int{}
			parts := eval[int](s, `+document.getElementById('notice').getAttribute('data-parts')`)
			for i := range parts {
				s.until(fmt.Sprintf(`document.getElementById('notice').getAttribute('data-part') === '%d'`, i))
				var p struct {
					Name          string
					From, To, All int
				}
				if err := json.Unmarshal([]byte(eval[string](s, part)), &p); err != nil {
					t.Fatal(err)
				}
				if p.From != ends[p.Name] {
					t.Errorf("part %d of %s begins at %d, want %d", i, p.Name, p.From, ends[p.Name])
				}
				ends[p.Name] = p.To
				if last := ends[p.Name] == p.All; (i == parts-1) && (!last || len(ends) != 2) {
					t.Errorf("after the last part: %v, want both to their ends, %+v", ends, p)
				}
			}
			// Turned by a quarter, it is arranged anew.
			eval[any](s, `addEventListener('resize', function () { window.turned = true; }), null`) // after the page's own
			s.do(chromedp.EmulateViewport(size[1], size[0]))
			s.until("window.turned")
			s.picture(fmt.Sprintf("fit-turned-%dx%d", size[1], size[0]))
			if out := eval[string](s, rectangles); out != "" {
				t.Errorf("turned to %dx%d: %s", size[1], size[0], out)
			}
		})
	}

	t.Run("more categories than there is room for take turns", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		f.lines = lines(14, "ordinary")
		s := b.open(t, f.url("?voice=off"), 1920, 1080, quick)
		s.until(isLive + ` && document.querySelector('[data-category="c0"]')`)
		s.until(`document.querySelector('[data-category="c13"]')`)
		s.until(`document.querySelector('[data-category="c0"]')`)
	})

	t.Run("a counter that is not configured", func(t *testing.T) {
		t.Parallel()
		f := openFake(t)
		for _, size := range [][2]int64{{1080, 1920}, {1024, 768}, {1920, 1080}} {
			s := b.open(t, f.url("?counter=7777"), size[0], size[1])
			s.until(`document.body.classList.contains('unknown')`)
			for _, id := range []string{"state", "lost"} {
				if got := eval[string](s, fmt.Sprintf(`document.getElementById('%s-zh').textContent + ' ' + document.getElementById('%s-en').textContent`, id, id)); got != "没有该窗口 No such counter" {
					t.Errorf("%s: it says %q", id, got)
				}
			}
			for name, script := range map[string]string{"does not fit": overflow, "contrast": contrast} {
				if out := eval[string](s, script); out != "" {
					t.Errorf("%dx%d: %s: %s", size[0], size[1], name, out)
				}
			}
			s.picture(fmt.Sprintf("unknown-%dx%d", size[0], size[1]))
		}
		s := b.open(t, f.url("?counter=5"), 1920, 1080)
		s.until(`document.body.classList.contains('unknown')`)
		asked, since := eval[int](s, "window.asked"), eval[float64](s, "performance.now()")
		f.mu.Lock()
		f.counters = append(f.counters, object{"counter": 5, "state": "open"})
		f.mu.Unlock()
		s.until(isLive + ` && !document.body.classList.contains('unknown') && document.querySelector('#current[data-counter-state="open"]')`)
		if took, more := eval[float64](s, "performance.now()")-since, eval[int](s, "window.asked")-asked; took < 8000 || more != 2 {
			t.Errorf("it asked %d times in %.0f ms before it found its counter, want twice after 10 s", more, took)
		}
	})
}
