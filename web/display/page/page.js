// The page: the hall's display, or with ?counter=3 the one over counter 3. It shows what the frames
// say and keeps nothing else. Every node is there from the start or is used again.
(function (callerd) {
  'use strict';

  var FRESH = 20000; // ms after which a missed call is only listed, not announced as if it were new
  var LAST = 6;      // calls in the list

  function parameter(name) {
    var m = new RegExp('[?&]' + name + '=([^&]*)').exec(location.search);
    return m ? decodeURIComponent(m[1]) : '';
  }

  var body = document.body;
  var own = /^\d{1,9}$/.test(parameter('counter')) ? +parameter('counter') : 0;
  var hall = null;     // the last snapshot, kept up to date
  var heard = null;    // the server's time of the last frame, in ms
  var sequence = 0;
  var epoch = '';
  var announced = 0;
  var announcing = null;
  var TURN = 7000;   // ms for a part of what does not fit at once
  var turn = 0;      // of the categories
  var arranged = ''; // what the names' sizes were chosen for
  var nextPart = null;

  function $(id) { return document.getElementById(id); }

  // put writes text as text, into the node's one text node.
  function put(node, text) {
    text = '' + (text === undefined || text === null ? '' : text);
    if (!node.firstChild) { node.appendChild(document.createTextNode('')); }
    if (node.firstChild.nodeValue !== text) { node.firstChild.nodeValue = text; return true; }
    return false;
  }

  function mark(node, name, value) {
    if (node.getAttribute('data-' + name) !== '' + value) { node.setAttribute('data-' + name, value); }
  }

  function both(id, text) {
    var changed = put($(id + '-zh'), text && text['zh-CN']);
    return put($(id + '-en'), text && text.en) || changed;
  }

  function toggle(node, name, on) {
    if (on) { node.classList.add(name); } else { node.classList.remove(name); }
  }

  var fit = callerd.fit;
  var panel = own ? $('current') : $('now');
  var panelNumber = panel.querySelector('.number span');
  var panelCounter = panel.querySelector('.counter');
  var panelLabel = panel.querySelector('.label');
  var ownCounter = $('own').querySelector('.counter');
  var rows = $('calls').querySelectorAll('li');
  var lines = $('waiting');

  // showNumber fills the large card; a number of '' empties it.
  function showNumber(number, counter) {
    mark(panel, 'number', number);
    mark(panel, 'counter', number ? counter : '');
    if (put(panelNumber, number)) { fit.number(panelNumber); }
    if (panelCounter && put(panelCounter, number ? counter : '')) { fit.place(panelCounter, panelLabel); }
    toggle(panel, 'empty', !number);
  }

  // flash begins the card's animation anew.
  function flash() {
    panel.classList.remove('flash');
    void panel.offsetWidth;
    panel.classList.add('flash');
  }

  function same(a, b) { return a && b && a.ticket === b.ticket && a.counter === b.counter; }

  function showCalls() {
    var shown = announcing || hall.calls[0];
    for (var i = 0; i < LAST; i++) {
      var c = hall.calls[i];
      var cells = rows[i].children;
      mark(rows[i], 'number', c ? c.number : '');
      mark(rows[i], 'counter', c ? c.counter : '');
      var changed = put(cells[0], c ? c.number : '');
      if (put(cells[1], c ? c.counter : '') || changed) { fit.row(rows[i]); }
      toggle(rows[i], 'on', !!c && same(c, shown));
    }
  }

  var states = {
    paused: ['暂停服务', 'Paused'],
    closed: ['窗口关闭', 'Closed'],
    called: ['请到本窗口', 'Please come to this counter'],
    serving: ['正在办理', 'Now serving'],
    open: ['请稍候', 'Please wait']
  };

  // showCounter is the counter's own view: its state, and its ticket if it has one.
  function showCounter() {
    var c = hall.counters[0] || { counter: own, state: 'closed' };
    var say = c.state === 'open' ? c.number ? c.ticket_state : 'open' : c.state;
    var text = states[say] || ['', ''];
    mark(panel, 'counter-state', c.state);
    showNumber(c.number || '', own);
    put($('state-zh'), text[0]);
    put($('state-en'), text[1]);
    toggle(panel, 'off', c.state !== 'open');
  }

  function showLast() {
    if (own) {
      showCounter();
    } else {
      var c = announcing || hall.calls[0];
      showNumber(c ? c.number : '', c ? c.counter : '');
      showCalls();
    }
  }

  // line returns the i-th category's nodes, made if there were never so many.
  function line(i) {
    while (lines.children.length <= i) {
      var li = document.createElement('li');
      li.innerHTML = '<div class="name"><span></span><span lang="en"></span></div><b class="count"></b>' +
        '<div class="unit"><span></span><span lang="en"></span></div>';
      lines.appendChild(li);
    }
    return lines.children[i];
  }

  // showWaiting measures only when a name, or the room for one, has changed.
  function showWaiting() {
    var page = fit.page(hall.categories.length, turn);
    var shown = page[1] - page[0];
    var key = [window.innerWidth, window.innerHeight];
    for (var i = 0; i < shown; i++) {
      var c = hall.categories[page[0] + i];
      key.push(c.name['zh-CN'], c.name.en, c.open, ('' + c.waiting).length);
    }
    key = key.join('\n');
    for (i = 0; i < shown; i++) {
      c = hall.categories[page[0] + i];
      var li = line(i);
      var name = li.children[0].children;
      var unit = li.children[2].children;
      mark(li, 'category', c.category);
      mark(li, 'waiting', c.waiting);
      if (key !== arranged) {
        put(name[0], c.name['zh-CN']);
        put(name[1], c.name.en);
      }
      put(li.children[1], c.waiting);
      put(unit[0], c.open ? '人等候' : '停止取号');
      put(unit[1], c.open ? 'waiting' : 'closed');
      li.style.display = '';
    }
    for (; i < lines.children.length; i++) { lines.children[i].style.display = 'none'; }
    if (key !== arranged) {
      arranged = key;
      if (!own) { fit.waiting(lines, shown); }
      fitNotice();
    }
  }

  // fitNotice gives the notice its room, and the card what is left.
  function fitNotice() {
    nextPart = body.classList.contains('noticed') ? fit.notice($('notice'), lines) : null;
    fit.number(panelNumber);
  }

  function showNotice() {
    var n = hall.notice || {};
    var is = !!(n['zh-CN'] || n.en);
    var changed = is !== body.classList.contains('noticed');
    toggle(body, 'noticed', is);
    if (both('notice', n) || changed) { fitNotice(); }
  }

  function showBranch() {
    var name = hall.branch || {};
    put($('branch-zh'), name['zh-CN']);
    put($('branch-en'), name.en);
    fit.branch($('branch'));
  }

  function showAll() {
    showBranch();
    showWaiting();
    showNotice();
    showLast();
  }

  // The newest is in front; a ticket called again at its counter moves up.
  function list(call) {
    var calls = [call];
    for (var i = 0; i < hall.calls.length && calls.length < LAST; i++) {
      if (!same(hall.calls[i], call)) { calls.push(hall.calls[i]); }
    }
    hall.calls = calls;
  }

  function replace(array, key, event) {
    for (var i = 0; i < array.length; i++) {
      if (array[i][key] === event[key]) {
        for (var field in event) { if (field !== 'type') { array[i][field] = event[field]; } }
        return array[i];
      }
    }
    return null;
  }

  // The languages to speak. A hall has one voice: the displays over the counters are silent unless asked.
  var wanted = parameter('voice') || (own ? 'off' : 'zh-CN,en');
  var announcer = callerd.announcer(function (call) {
    announcing = call;
    mark(body, 'announced', ++announced);
    put($('spoken'), (call.text['zh-CN'] || '') + ' ' + (call.text.en || ''));
    showLast();
    flash();
  }, function () {
    announcing = null;
    panel.classList.remove('flash');
    if (hall) { showLast(); }
  }, callerd.voice(wanted === 'off' ? [] : wanted.split(',')));

  function announce(call) {
    if (callerd.clock.age(call.time) <= FRESH) {
      announcer.announce(call);
      mark(body, 'dropped', announcer.dropped());
    }
  }

  var take = {
    snapshot: function (event, frame) {
      var first = epoch !== frame.epoch;
      callerd.clock.sync(event.hall.time);
      if (first) { announcer.clear(); }
      whole(event.hall);
      // What was called while this display was away and is still fresh, the oldest first.
      for (var i = hall.calls.length - 1; i >= 0 && !first; i--) {
        if (hall.calls[i].sequence > sequence) { announce(hall.calls[i]); }
      }
    },
    day: function (event) {
      callerd.clock.sync(event.hall.time);
      // What was still to be announced has expired with its day.
      if (hall && hall.business_day !== event.hall.business_day) { announcer.clear(); }
      whole(event.hall);
    },
    called: function (event) {
      list(event);
      showLast();
      announce(event);
    },
    counter: function (event) {
      // Absent fields are gone: the counter has no ticket any more.
      var state = { counter: event.counter, state: event.state, number: event.number, ticket: event.ticket, ticket_state: event.ticket_state };
      if (!replace(hall.counters, 'counter', state)) { hall.counters.push(state); }
      if (own) { showCounter(); }
    },
    waiting: function (event) {
      if (replace(hall.categories, 'category', event)) { showWaiting(); }
    },
    notice: function (event) {
      hall.notice = event.text;
      showNotice();
    },
    heartbeat: function (event) { callerd.clock.sync(event.time); }
  };
  take.recalled = take.called;

  function whole(h) {
    hall = h;
    hall.categories = hall.categories || [];
    hall.counters = hall.counters || [];
    hall.calls = hall.calls || [];
    showAll();
  }

  function receive(frame) {
    for (var i = 0; i < frame.events.length; i++) {
      var event = frame.events[i];
      if (take.hasOwnProperty(event.type)) { take[event.type](event, frame); }
    }
    epoch = frame.epoch;
    sequence = frame.sequence;
    heard = callerd.clock.now();
    tick();
    mark(body, 'sequence', sequence);
    mark(body, 'epoch', epoch);
  }

  // tell says whether what is shown is true now: live is true, false, or null if the server knows no
  // such counter. Before the first frame there is nothing to be old.
  function tell(live) {
    if (live === null) {
      hall = null;
      heard = null;
      announcer.clear();
      mark(panel, 'counter-state', 'unknown');
      showNumber('', own);
      put($('state-zh'), '没有该窗口');
      put($('state-en'), 'No such counter');
      toggle(panel, 'off', true);
      toggle(body, 'noticed', false);
    }
    if (!live) {
      put($('lost-zh'), live === null ? '没有该窗口' : hall ? '信号中断' : '正在连接');
      put($('lost-en'), live === null ? 'No such counter' : hall ? 'Signal lost' : 'Connecting');
      put($('lost-time'), heard === null ? '' : callerd.clock.time(heard));
    }
    toggle(body, 'stale', !live && !!hall);
    toggle(body, 'unknown', live === null);
    mark(body, 'state', live ? 'live' : 'lost');
  }

  function tick() {
    var now = callerd.clock.now();
    if (now !== null) {
      put($('time'), callerd.clock.time(now));
      put($('date'), callerd.clock.date(now));
    }
  }

  window.addEventListener('resize', function () {
    if (hall) { showBranch(); showWaiting(); }
    if (panelCounter) { fit.place(panelCounter, panelLabel); }
    fit.number(ownCounter);
    fit.number(panelNumber);
    for (var i = 0; i < LAST; i++) { fit.row(rows[i]); }
  });

  mark(body, 'view', own ? 'counter' : 'hall');
  if (own) {
    put(ownCounter, own);
    fit.number(ownCounter);
  }
  setInterval(tick, 250);
  setInterval(function () {
    if (nextPart) { nextPart(); }
    turn++;
    if (hall && !own && hall.categories.length > 12) { showWaiting(); }
  }, TURN);
  callerd.link(own ? 'view=counter&counter=' + own : 'view=hall', receive, tell);
})(window.callerd = window.callerd || {});
