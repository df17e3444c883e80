// The connection: keeps one WebSocket open, checks that frames follow each other without a hole,
// and says when nothing can be trusted any more.
(function (callerd) {
  'use strict';

  var SILENCE = 9500;   // ms without a frame: two heartbeats of 5 s, less the time it takes to say so
  var PATIENCE = 5000;  // ms for a connection and its first frame
  var FIRST = 500;      // ms: the shortest pause before coming back
  var LONGEST = 1800;   // ms: the longest, so that a server is found within 2 s
  var SLOW = 10000;     // ms, and up to half as much again: the pause where there is no such counter
  var LAGGING = 4001;
  var NOT_ALLOWED = 4002;

  // link(query, receive, tell) connects for ever. receive(frame) gets each frame once, in order;
  // tell(live) is called when that changes: with true, false, or null if the server has no such counter.
  callerd.link = function (query, receive, tell) {
    var socket = null;
    var epoch = '';     // of what is shown; empty: nothing to resume from
    var last = 0;       // its sequence
    var heard = 0;      // when the last frame came
    var live = false;
    var attempts = 0;   // since the last heartbeat
    var pending = null; // the timer of the next attempt
    var refused = false; // the last connection ended before its first frame

    function path() {
      return '/ws/display?' + query +
        (epoch ? '&epoch=' + encodeURIComponent(epoch) + '&after=' + last : '');
    }

    function setLive(value) {
      if (live !== value) { live = value; tell(value); }
    }

    function drop() {
      if (!socket) { return; }
      var s = socket;
      socket = null; // its handlers look at this first
      try { s.close(); } catch (e) { /* it was not open */ }
    }

    function open() {
      drop();
      var s;
      try {
        s = new WebSocket((location.protocol === 'https:' ? 'wss://' : 'ws://') + location.host + path());
      } catch (e) {
        later();
        return;
      }
      socket = s;
      heard = callerd.elapsed() - SILENCE + PATIENCE;
      var answered = false;
      s.onmessage = function (message) { answered = true; if (s === socket) { take(message.data); } };
      s.onclose = function (event) {
        if (s !== socket) { return; }
        socket = null;
        refused = !answered;
        if (event.code === LAGGING && attempts === 0) {
          attempts++;
          open();
        } else if (event.code === NOT_ALLOWED) {
          setLive(false);
        } else {
          later();
        }
      };
    }

    // later comes back after a pause that grows, and differs from one display to the next.
    function later() {
      setLive(false);
      attempts++;
      var span = Math.min(LONGEST, FIRST * Math.pow(2, Math.min(attempts, 8))) - FIRST;
      clearTimeout(pending);
      pending = setTimeout(probe, FIRST + Math.random() * span);
    }

    // head asks over plain HTTP, and passes on the request when it has ended; its status is 0 without an answer.
    function head(address, then) {
      var request = new XMLHttpRequest();
      var done = false;
      function answer() {
        if (!done) { done = true; then(request); }
      }
      request.onload = request.onerror = request.ontimeout = answer;
      try {
        request.open('HEAD', address, true);
        request.timeout = 3000;
        request.send();
      } catch (e) {
        answer();
      }
    }

    // probe asks whether there is anything to connect to. Browsers slow down a page whose WebSockets
    // fail again and again, by up to five seconds a time; plain requests they do not. A server that
    // has brought another page is given its way.
    function probe() {
      head(location.pathname, function (request) {
        var version = request.status === 200 && request.getResponseHeader('ETag');
        if (version && version.indexOf(document.body.getAttribute('data-version')) < 0) {
          location.reload();
        } else if (request.status !== 200) {
          later();
        } else if (refused && query.indexOf('counter=') >= 0) {
          head(path(), judge);
        } else {
          open();
        }
      });
    }

    // judge tells a counter that does not exist (404; 400 for one that cannot) from other refusals: a
    // WebSocket does not say why. One that exists answers 400 too, but asks for a WebSocket.
    function judge(request) {
      if (request.status === 404 || request.status === 400 && !request.getResponseHeader('Sec-WebSocket-Version')) {
        epoch = '';
        if (live !== null) { setLive(null); }
        clearTimeout(pending);
        pending = setTimeout(probe, SLOW * (1 + Math.random() / 2));
      } else {
        open();
      }
    }

    // fits reports whether a frame is the one after what is shown.
    function fits(frame) {
      var first = frame.events.length > 0 ? frame.events[0].type : '';
      if (first === 'snapshot') { return true; }
      if (frame.epoch !== epoch) { return false; }
      if (first === 'heartbeat') { return frame.sequence === last; }
      return frame.previous === last && frame.sequence > last;
    }

    function take(data) {
      var frame;
      try {
        frame = JSON.parse(data);
        if (!fits(frame)) { frame = null; }
      } catch (e) {
        frame = null;
      }
      if (!frame) {
        forget();
        return;
      }
      heard = callerd.elapsed();
      epoch = frame.epoch;
      last = frame.sequence;
      if (frame.events.length > 0 && frame.events[0].type === 'heartbeat') { attempts = 0; }
      receive(frame);
      setLive(true);
    }

    // forget starts again from a snapshot: at once, but not twice in a row.
    function forget() {
      epoch = '';
      if (attempts === 0) {
        attempts++;
        open();
      } else {
        drop();
        later();
      }
    }

    // look notices silence, and a machine that has slept or had its clock set: then nobody knows
    // how old a missed call is, so none is resumed.
    var looked = callerd.elapsed();
    var date = new Date().getTime();
    function look() {
      var e = callerd.elapsed();
      var d = new Date().getTime();
      var slept = Math.abs(d - date - (e - looked)) > 2000;
      looked = e;
      date = d;
      if (slept && live) {
        forget();
      } else if (slept) {
        epoch = '';
      } else if (socket && e - heard > SILENCE) {
        drop();
        later();
      }
    }

    setInterval(look, 250);
    open();
  };
})(window.callerd = window.callerd || {});
