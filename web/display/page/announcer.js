// The announcer: calls one after the other, each whole, however close together they come.
//
// An announcement stays for 6 s. When others wait it makes room: 9 s are shared by it and them, but
// nobody has less than 1 s (so 4.5 s when one waits, 3 s when two do), or than the voice takes while
// fewer than four wait. At most 30 wait; then the oldest of them is only in the list, and counted. So
// a page is at most half a minute behind.
(function (callerd) {
  'use strict';

  var LONG = 6000;
  var SHARED = 9000;
  var SHORT = 1000;
  var MOST = 30;
  var SPEECH = 15000; // ms after which a voice that does not end is not waited for

  // announcer(show, calm, speak): show(call) begins an announcement, calm() ends the last one.
  callerd.announcer = function (show, calm, speak) {
    var waiting = [];
    var dropped = 0;
    var current = null;
    var began = 0;
    var spoken = true;
    var timer = null;

    function due() {
      var time = Math.max(SHORT, Math.min(LONG, SHARED / (waiting.length + 1)));
      if (!spoken && waiting.length < 4) { time = SPEECH; }
      return began + time - callerd.elapsed();
    }

    // look ends the current announcement when its time is over, and begins the next.
    function look() {
      clearTimeout(timer);
      timer = null;
      if (current && due() > 0) {
        timer = setTimeout(look, due());
        return;
      }
      var was = current;
      current = waiting.shift() || null;
      if (!current) {
        if (was) { calm(); }
        return;
      }
      began = callerd.elapsed();
      spoken = false;
      show(current);
      var call = current;
      speak(call, waiting.length === 0 ? 2 : waiting.length < 4 ? 1 : 0, function () {
        if (call === current) { spoken = true; if (timer) { look(); } }
      });
      if (!timer) { timer = setTimeout(look, Math.max(0, due())); }
    }

    return {
      announce: function (call) {
        waiting.push(call);
        if (waiting.length > MOST) { waiting.shift(); dropped++; }
        look();
      },

      // clear drops what waits: another day, another history.
      clear: function () {
        waiting.length = 0;
        if (current) { current = null; clearTimeout(timer); timer = null; calm(); }
      },

      dropped: function () { return dropped; }
    };
  };
})(window.callerd = window.callerd || {});
