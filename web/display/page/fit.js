// What fits where. Sizes are in vh, like the style's; none goes below what can still be read. Where
// even that is too large, names end in an ellipsis and notices take turns; numbers are never cut.
(function (callerd) {
  'use strict';

  var PAGE = 12; // categories at a time

  function portrait() { return window.innerWidth <= window.innerHeight; }

  function vh(n) { return n * window.innerHeight / 100; }

  function style(node, name) { return parseFloat(window.getComputedStyle(node)[name]) || 0; }

  function toggle(node, name, on) {
    if (on) { node.classList.add(name); } else { node.classList.remove(name); }
  }

  // cut shortens a text, with an ellipsis, until fits() holds.
  function cut(node, fits) {
    var text = node.firstChild;
    if (!text || fits()) { return; }
    var full = text.nodeValue;
    var low = 0;
    var high = full.length;
    function keep(n) {
      var code = full.charCodeAt(n - 1);
      if (code >= 0xD800 && code <= 0xDBFF) { n--; } // half a character
      text.nodeValue = full.substring(0, n).replace(/\s+$/, '') + '…';
    }
    while (low + 1 < high) {
      var middle = (low + high) >> 1;
      keep(middle);
      if (fits()) { low = middle; } else { high = middle; }
    }
    keep(low);
  }

  // largest finds the first size, from top down to floor, at which fits() holds, in one line for each
  // language or, where that fails, in several. It reports whether there is one.
  function largest(boxes, top, floor, fits) {
    for (var wrap = 0; wrap < 2; wrap++) {
      for (var i = 0; i < boxes.length; i++) { boxes[i].style.whiteSpace = wrap ? 'normal' : 'nowrap'; }
      for (var step = 0; step <= 10; step++) {
        var size = top - (top - floor) * step / 10;
        for (i = 0; i < boxes.length; i++) { boxes[i].style.fontSize = vh(size) + 'px'; }
        if (fits()) { return true; }
      }
    }
    return false;
  }

  // within reports whether a box of two lines is no wider than it may be, nor higher than height.
  function within(box, height) {
    return box.scrollWidth <= box.clientWidth && box.children[0].offsetHeight + box.children[1].offsetHeight <= height;
  }

  var fit = callerd.fit = {};

  // number makes a number as large as its box allows, however long it is.
  fit.number = function (span) {
    span.style.fontSize = '';
    var box = span.parentNode;
    var least = Math.min(1, box.clientWidth * 0.94 / span.offsetWidth, box.clientHeight / span.offsetHeight);
    if (least < 1) { span.style.fontSize = Math.floor(style(span, 'fontSize') * least) + 'px'; }
  };

  // place does so for a counter between the words around it; label is what may stand beside them.
  fit.place = function (counter, label) {
    counter.style.fontSize = '';
    var around = counter.parentNode.children;
    var room = counter.parentNode.clientWidth * 0.98 - around[0].offsetWidth - around[2].offsetWidth -
      2 * style(counter, 'marginLeft');
    var ends = Math.max(around[0].offsetWidth, around[2].offsetWidth) * 2 - around[0].offsetWidth - around[2].offsetWidth;
    if (portrait()) { room -= 2 * label.offsetWidth + ends; }
    if (counter.offsetWidth > room) {
      counter.style.fontSize = Math.floor(style(counter, 'fontSize') * room / counter.offsetWidth) + 'px';
    }
  };

  // row lets a long number leave room for its counter. Ordinary ones need no measuring.
  fit.row = function (row) {
    var number = row.children[0];
    var counter = row.children[1];
    number.style.fontSize = '';
    if (number.textContent.length + counter.textContent.length < 6) { return; }
    var room = row.clientWidth * 0.84 - counter.offsetWidth;
    if (number.offsetWidth > room) { number.style.fontSize = Math.floor(100 * room / number.offsetWidth) + '%'; }
  };

  // branch fits the branch's name, in both languages, into the head.
  fit.branch = function (box) {
    var height = box.parentNode.clientHeight - vh(portrait() ? 0.3 : 0.6);
    if (largest([box], portrait() ? 2.4 : 4.4, portrait() ? 1.3 : 2.4, function () { return within(box, height); })) { return; }
    cut(box.children[1], function () { return box.children[1].offsetHeight <= height * 0.35; });
    cut(box.children[0], function () { return within(box, height); });
  };

  // page tells which of so many categories are shown in a turn: [from, to).
  fit.page = function (count, turn) {
    var pages = Math.ceil(count / PAGE) || 1;
    var each = Math.ceil(count / pages);
    var from = turn % pages * each;
    return [from, Math.min(count, from + each)];
  };

  function columns(n) {
    if (portrait()) { return n <= 3 ? n : n === 4 ? 2 : n <= 9 ? 3 : 4; }
    if (n <= 4) { return n; }
    if (n <= 8 || window.innerWidth > 1.5 * window.innerHeight) { return Math.ceil(n / 2); }
    return Math.ceil(n / 3);
  }

  // waiting arranges the first n of list in rows, and fits their names beside the counts.
  fit.waiting = function (list, n) {
    var across = Math.max(1, columns(n));
    var rows = Math.max(1, Math.ceil(n / across));
    list.setAttribute('data-rows', rows);
    toggle(list, 'many', n > (portrait() ? 2 : 3));
    var names = [];
    for (var i = 0; i < n; i++) {
      var li = list.children[i];
      li.style.width = 100 / across + '%';
      toggle(li, 'first', i % across === 0);
      toggle(li, 'low', i >= across);
      names.push(li.children[0]);
    }
    if (n === 0) { return; }
    var height = list.children[0].clientHeight - 2;
    var tops = portrait() ? [2.1, 1.7, 1.5] : [n > 3 ? 3 : 3.8, 2.6, 2.3];
    var ok = largest(names, tops[Math.min(rows, 3) - 1], portrait() ? 1.15 : 2, function () {
      for (var i = 0; i < n; i++) { if (!within(names[i], height)) { return false; } }
      return true;
    });
    for (i = 0; i < n && !ok; i++) { shorten(names[i], height); }
  };

  // shorten cuts a name's second language to one line, and the first to what is left.
  function shorten(name, height) {
    var en = name.children[1];
    var line = style(en, 'lineHeight') * 1.5;
    if (within(name, height)) { return; }
    cut(en, function () { return en.offsetHeight <= line; });
    cut(name.children[0], function () { return within(name, height); });
  }

  // notice fits a notice into what the list of those who wait leaves. It returns a function that
  // shows the notice's next part, if it has to be shown in parts.
  fit.notice = function (box, list) {
    var panes = box.children;
    var most = Math.floor(vh(portrait() ? 13.8 : 19.7) - list.offsetHeight);
    var usual = Math.min(most, vh(portrait() ? 4.4 : 9));
    var base = portrait() ? 1.9 : 3.6;
    var floor = portrait() ? 1.2 : 2;
    var room = 0;

    function set(pane, size) {
      var p = pane.children[0];
      var px = vh(p.lang === 'en' ? size * 0.75 : size);
      p.style.fontSize = px + 'px';
      p.style.lineHeight = Math.ceil(px * 1.2) + 'px';
    }

    function plain(pane) {
      pane.style.display = '';
      pane.style.height = '';
      pane.children[0].style.marginTop = '';
    }

    function fits() { return panes[0].offsetHeight + panes[1].offsetHeight <= room; }

    function height(h) {
      box.style.height = h + 'px';
      room = box.clientHeight - style(box, 'paddingTop') - style(box, 'paddingBottom');
    }

    function shrink(some, from, to) {
      for (var step = 0; step <= 10; step++) {
        for (var i = 0; i < some.length; i++) { set(some[i], from - (from - to) * step / 10); }
        if (fits()) { return true; }
      }
      return false;
    }

    box.setAttribute('data-parts', 1);
    box.setAttribute('data-part', 0);
    plain(panes[0]);
    plain(panes[1]);
    height(usual);
    if (shrink(panes, base, base * 0.75)) { return null; }
    height(most);
    if (shrink(panes, base * 0.75, floor)) { return null; }

    var parts = [];
    for (var i = 0; i < 2; i++) {
      var p = panes[i].children[0];
      if (!p.textContent) { continue; }
      panes[i].style.display = '';
      panes[1 - i].style.display = 'none';
      if (shrink([panes[i]], base, floor)) {
        parts.push({ pane: i, top: 0, height: p.offsetHeight });
        continue;
      }
      var line = style(p, 'lineHeight');
      var high = Math.max(1, Math.floor(room / line)) * line;
      for (var top = 0; top < p.offsetHeight; top += high) { parts.push({ pane: i, top: top, height: Math.min(high, p.offsetHeight - top) }); }
    }

    var now = -1;
    function next() {
      now = (now + 1) % parts.length;
      var part = parts[now];
      panes[1 - part.pane].style.display = 'none';
      panes[part.pane].style.display = '';
      panes[part.pane].style.height = part.height + 'px';
      panes[part.pane].children[0].style.marginTop = -part.top + 'px';
      box.setAttribute('data-part', now);
    }
    box.setAttribute('data-parts', parts.length);
    next();
    return parts.length > 1 ? next : null;
  };
})(window.callerd = window.callerd || {});
