// The voice: speaks a call in the languages asked for, as far as the browser has voices for them;
// else a chime; else nothing. A hall without sound is a hall all the same.
(function (callerd) {
  'use strict';

  // voice(languages) returns speak(call, most, done): it speaks the call in at most so many
  // languages (none: only a chime) and calls done once, at the end.
  callerd.voice = function (languages) {
    var synthesis = window.speechSynthesis;
    var Context = window.AudioContext || window.webkitAudioContext;
    var audio = null;
    var keep = null; // the utterance being spoken: some browsers lose its end when it is collected

    function find(language) {
      var voices = synthesis && window.SpeechSynthesisUtterance ? synthesis.getVoices() : [];
      var short = language.split('-')[0];
      var near = null;
      for (var i = 0; i < voices.length; i++) {
        var has = voices[i].lang.replace('_', '-');
        if (has === language) { return voices[i]; }
        if (!near && has.split('-')[0] === short) { near = voices[i]; }
      }
      return near;
    }

    // tone sounds one soft note.
    function tone(pitch, start) {
      var o = audio.createOscillator();
      var g = audio.createGain();
      o.frequency.value = pitch;
      g.gain.setValueAtTime(0.0001, start);
      g.gain.linearRampToValueAtTime(0.4, start + 0.02);
      g.gain.exponentialRampToValueAtTime(0.0001, start + 0.7);
      o.connect(g);
      g.connect(audio.destination);
      o.start(start);
      o.stop(start + 0.75);
      o.onended = function () { g.disconnect(); };
    }

    function chime() {
      try {
        audio = audio || new Context();
        if (audio.state && audio.state !== 'running') { // the browser wants a touch first
          var r = audio.resume && audio.resume();
          if (r && r['catch']) { r['catch'](function () {}); }
          return;
        }
        tone(880, audio.currentTime);
        tone(659.26, audio.currentTime + 0.35);
      } catch (e) { /* no sound here */ }
    }

    function say(call, language, voice, done) {
      var tokens = call.spoken && call.spoken[language];
      if (!tokens) { done(); return; }
      var u = new window.SpeechSynthesisUtterance(tokens.join(language.indexOf('zh') === 0 ? '' : ' '));
      u.lang = language;
      u.voice = voice;
      u.rate = 0.9;
      u.onend = u.onerror = function () { if (keep === u) { keep = null; done(); } };
      keep = u;
      synthesis.speak(u);
    }

    return function (call, most, done) {
      var able = [];
      if (keep) { keep = null; synthesis.cancel(); }
      for (var i = 0; i < languages.length && able.length < most; i++) {
        var voice = find(languages[i]);
        if (voice) { able.push({ language: languages[i], voice: voice }); }
      }
      if (languages.length > 0) { chime(); }
      function next() {
        var one = able.shift();
        if (!one) { done(); return; }
        try { say(call, one.language, one.voice, next); } catch (e) { done(); }
      }
      next();
    };
  };
})(window.callerd = window.callerd || {});
