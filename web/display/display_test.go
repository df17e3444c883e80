package display

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/robertkrimen/otto/parser"
)

func get(tb testing.TB, method, path string, header http.Header) *http.Response {
	tb.Helper()
	r := httptest.NewRequest(method, "http://hall.bank.local:8080"+path, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func TestHandler(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/":             "text/html; charset=utf-8",
		"/?counter=3":   "text/html; charset=utf-8",
		"/display.css":  "text/css; charset=utf-8",
		"/page.js":      "text/javascript; charset=utf-8",
		"/icon.svg":     "image/svg+xml",
		"/index.html":   "",
		"/page/page.js": "",
		"/nothing":      "",
	} {
		r := get(t, http.MethodGet, path, nil)
		if want == "" {
			if r.StatusCode != http.StatusNotFound {
				t.Errorf("%s: status %d, want 404", path, r.StatusCode)
			}
			continue
		}
		if got := r.Header.Get("Content-Type"); r.StatusCode != http.StatusOK || got != want {
			t.Errorf("%s: status %d, type %q, want 200 and %q", path, r.StatusCode, got, want)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff",
			"Cache-Control":          "no-cache",
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
				"connect-src 'self' ws://hall.bank.local:8080 wss://hall.bank.local:8080; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		again := get(t, http.MethodGet, path, http.Header{"If-None-Match": {r.Header.Get("ETag")}})
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: status %d for one who has it, want 304", path, again.StatusCode)
		}
	}
	if r := get(t, http.MethodPost, "/", nil); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d, want 405", r.StatusCode)
	}
}

func TestPolicyNamesOnlyHosts(t *testing.T) {
	t.Parallel()
	for host, named := range map[string]bool{
		"hall:8080":              true,
		"10.0.0.1":               true,
		"[::1]:8080":             true,
		"x; script-src *":        false,
		"x;script-src":           false,
		"x,y":                    false,
		"":                       false,
		"x:80 https://elsewhere": false,
	} {
		if got := strings.Contains(policy(host), "ws://"); got != named {
			t.Errorf("policy(%q) = %q; the host is named: %v, want %v", host, policy(host), got, named)
		}
	}
}

// Browsers on walls are old. otto's parser knows ECMAScript 5 and nothing after it.
func TestScriptsAreECMAScript5(t *testing.T) {
	t.Parallel()
	// What ES5 engines and browsers of 2015 do not have, though it parses.
	younger := regexp.MustCompile(`\b(fetch|Promise|Symbol|Map|Set|WeakMap|Proxy|Intl|URLSearchParams|AbortController|ResizeObserver)\b|` +
		`\.(padStart|padEnd|includes|startsWith|endsWith|repeat|find|findIndex|fill|assign|entries|values|closest|matches|append|prepend|remove|replaceWith|flat|at)\(`)
	for _, name := range files(t, ".js") {
		source := read(t, name)
		if _, err := parser.ParseFile(nil, name, source, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, line := range strings.Split(source, "\n") {
			code, _, _ := strings.Cut(line, "//")
			if word := younger.FindString(strings.ReplaceAll(code, "classList.remove(", "")); word != "" {
				t.Errorf("%s:%d uses %q, which an old browser does not have", name, i+1, word)
			}
			if strings.Contains(code, "innerHTML") && !strings.Contains(code, `innerHTML = '<`) {
				t.Errorf("%s:%d writes markup that is no constant", name, i+1)
			}
		}
	}
}

func TestStylesAreOld(t *testing.T) {
	t.Parallel()
	younger := regexp.MustCompile(`\b(grid|gap|inset|aspect-ratio:|clamp|min|max|env|var|sticky|backdrop-filter|:is|:where|:has|dvh|@layer|@container)\b\(?`)
	allowed := regexp.MustCompile(`(min|max)-(width|height|aspect-ratio)|[a-z-]*reduced-motion`)
	comment := regexp.MustCompile(`(?s)/\*.*?\*/`)
	for _, name := range files(t, ".css") {
		source := comment.ReplaceAllString(read(t, name), "")
		for i, line := range strings.Split(source, "\n") {
			if word := younger.FindString(allowed.ReplaceAllString(line, "")); word != "" {
				t.Errorf("%s, line %d without comments, uses %q: %s", name, i+1, word, line)
			}
		}
	}
}

func TestThePageAsksNobodyElse(t *testing.T) {
	t.Parallel()
	elsewhere := regexp.MustCompile(`(https?:)?//[a-z0-9.]+\.[a-z]{2,}`)
	for _, ending := range []string{".html", ".css", ".js", ".svg"} {
		for _, name := range files(t, ending) {
			source := strings.ReplaceAll(read(t, name), `xmlns="http://www.w3.org/2000/svg"`, "")
			if found := elsewhere.FindString(source); found != "" {
				t.Errorf("%s names %q", name, found)
			}
			if ending == ".html" && regexp.MustCompile(`(?i) style=| on[a-z]+=|<script>|<style`).MatchString(source) {
				t.Errorf("%s has inline script or style, which its policy forbids", name)
			}
		}
	}
}

func files(tb testing.TB, ending string) []string {
	tb.Helper()
	names, err := fs.Glob(embedded, "page/*"+ending)
	if err != nil || len(names) == 0 {
		tb.Fatalf("files ending in %s: %v, %v", ending, names, err)
	}
	return names
}

func read(tb testing.TB, name string) string {
	tb.Helper()
	content, err := embedded.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(content)
}
