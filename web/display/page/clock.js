// The server's clock. The display's own is never shown: it may be years off.
(function (callerd) {
  'use strict';

  var performance = window.performance;

  // elapsed is a local count of milliseconds that no clock setting moves.
  callerd.elapsed = performance && performance.now
    ? function () { return performance.now(); }
    : function () { return new Date().getTime(); };

  var base = null; // the server's time, in ms, when elapsed was at
  var at = 0;
  var offset = 0;  // of the branch's zone, in ms

  var stamp = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|([+-])(\d\d):(\d\d))$/;

  // parse returns {ms, offset} of an RFC 3339 time, or null. Old browsers differ in their own.
  function parse(text) {
    var m = stamp.exec(text);
    if (!m) { return null; }
    var zone = m[8] === 'Z' ? 0 : (m[9] === '-' ? -1 : 1) * (m[10] * 60 + +m[11]) * 60000;
    var ms = Date.UTC(+m[1], m[2] - 1, +m[3], +m[4], +m[5], +m[6]) + Math.floor((m[7] || 0) * 1000);
    return { ms: ms - zone, offset: zone };
  }

  function two(n) { return n < 10 ? '0' + n : '' + n; }

  var daysZH = ['日', '一', '二', '三', '四', '五', '六'];
  var daysEN = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
  var monthsEN = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

  callerd.clock = {
    // sync takes the server's time as of now.
    sync: function (text) {
      var t = parse(text);
      if (t) { base = t.ms; offset = t.offset; at = callerd.elapsed(); }
    },

    // now returns the server's time in ms, or null before the first sync.
    now: function () { return base === null ? null : base + callerd.elapsed() - at; },

    // age returns how long ago, in ms, the server says something was; 0 if that cannot be told.
    age: function (text) {
      var t = parse(text);
      return t && base !== null ? this.now() - t.ms : 0;
    },

    time: function (ms) {
      var d = new Date(ms + offset);
      return two(d.getUTCHours()) + ':' + two(d.getUTCMinutes()) + ':' + two(d.getUTCSeconds());
    },

    date: function (ms) {
      var d = new Date(ms + offset);
      return (d.getUTCMonth() + 1) + '月' + d.getUTCDate() + '日 星期' + daysZH[d.getUTCDay()] + '  ' +
        daysEN[d.getUTCDay()] + ' ' + d.getUTCDate() + ' ' + monthsEN[d.getUTCMonth()];
    }
  };
})(window.callerd = window.callerd || {});
