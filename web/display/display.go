// Package display is the page that a hall's screens show. It is plain HTML, CSS and JavaScript of
// the year 2015, embedded in the program: a screen's browser may be years old, and nothing is ever
// fetched from elsewhere.
//
// The page at / is the hall's display; with ?counter=3 it is the one over counter 3. With
// ?voice=zh-CN,en or ?voice=off it speaks, or not: by default the hall speaks and the counters are
// silent. It speaks the protocol of docs/display-protocol.md.
//
// For whoever drives it from outside, the body says what is shown: data-state (live or lost; with the
// class "unknown" if there is no such counter),
// data-sequence and data-epoch of the last frame, data-announced, which counts announcements;
// #now, #current and the rows of #calls have data-number and data-counter.
package display

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"time"
)

//go:embed page
var embedded embed.FS

// types are the files that are served, by their ending. Nothing is guessed.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// site is the page's files in memory, and one version for all of them.
type site struct {
	files   map[string][]byte
	version string
}

// Handler serves the page at / and its files beside it.
func Handler() http.Handler {
	s := &site{files: make(map[string][]byte)}
	sum := sha256.New()
	pages, err := fs.Sub(embedded, "page")
	if err != nil {
		return unreadable(err)
	}
	err = fs.WalkDir(pages, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(pages, name)
		s.files["/"+name] = content
		sum.Write(content)
		return err
	})
	if err != nil {
		return unreadable(err)
	}
	s.version = hex.EncodeToString(sum.Sum(nil)[:8])
	// The page knows its version, so that it can notice another one behind a restarted server.
	s.files["/"] = bytes.Replace(s.files["/index.html"], []byte("{{version}}"), []byte(s.version), 1)
	delete(s.files, "/index.html")
	return s
}

// unreadable cannot happen: the files are part of the program.
func unreadable(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	})
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	ending := path.Ext(r.URL.Path)
	if ending == "" {
		ending = ".html"
	}
	h := w.Header()
	h.Set("Content-Type", types[ending])
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", policy(r.Host))
	h.Set("Cache-Control", "no-cache") // to be asked for each time, and mostly answered with 304
	h.Set("ETag", `"`+s.version+`"`)
	http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(content))
}

var plainHost = regexp.MustCompile(`^[A-Za-z0-9.\-]+(:[0-9]+)?$|^\[[0-9A-Fa-f:.]+\](:[0-9]+)?$`)

// policy is the page's content security policy. To older browsers 'self' does not include
// WebSockets, so the host is named, unless it is of a form that could say more than a host.
func policy(host string) string {
	connect := "'self'"
	if plainHost.MatchString(host) {
		connect += " ws://" + host + " wss://" + host
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src " + connect +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
