// The connection: keeps one WebSocket open, checks that frames follow each other without a hole,
// and says when nothing can be trusted any more.
(function (callerd) {
  'use strict';

  var SILENCE = 9500;   // ms without a frame: two heartbeats of 5 s, less the time it takes to say so
  var PATIENCE = 5000;  // ms for a connection and its first frame
  var FIRST = 500;      // ms: the shortest pause before coming back
  var LONGEST = 1800;   // ms: the longest, so that a server is found within 2 s
  var LAGGING = 4001;
  var NOT_ALLOWED = 4002;

  // link(query, receive, tell) connects for ever. receive(frame) gets each frame once, in order;
  // tell(live) is called when that changes.
  callerd.link = function (query, receive, tell) {
    var socket = null;
    var epoch = '';     // of what is shown; empty: nothing to resume from
    var last = 0;       // its sequence
    var heard = 0;      // when the last frame came
    var live = false;
    var attempts = 0;   // since the last heartbeat
    var pending = null; // the timer of the next attempt

    function path() {
      return location.host + '/ws/display?' + query +
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
        s = new WebSocket((location.protocol === 'https:' ? 'wss://' : 'ws://') + path());
      } catch (e) {
        later();
        return;
      }
      socket = s;
      heard = callerd.elapsed() - SILENCE + PATIENCE;
      s.onmessage = function (message) { if (s === socket) { take(message.data); } };
      s.onclose = function (event) {
        if (s !== socket) { return; }
        socket = null;
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

    // probe asks over plain HTTP whether there is anything to connect to. Browsers slow down a page
    // whose WebSockets fail again and again, by up to five seconds a time; plain requests they do not.
    // A server that has brought another page is given its way.
    function probe() {
      var request = new XMLHttpRequest();
      var done = false;
      function answer() {
        if (done) { return; }
        done = true;
        var version = request.status === 200 && request.getResponseHeader('ETag');
        if (version && version.indexOf(document.body.getAttribute('data-version')) < 0) {
          location.reload();
        } else if (request.status === 200) {
          open();
        } else {
          later();
        }
      }
      request.onload = request.onerror = request.ontimeout = answer;
      try {
        request.open('HEAD', location.pathname, true);
        request.timeout = 3000;
        request.send();
      } catch (e) {
        answer();
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
