package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// get asks the web port; it returns the status and the body.
func (r *rig) get(t *testing.T, path string) (int, string) {
	t.Helper()
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + r.web + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestAWrongQueryIsAnsweredInWords(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	for query, want := range map[string]struct {
		status int
		words  string
	}{
		"view=lobby":                                   {400, "neither hall nor counter"},
		"view=HALL":                                    {400, "neither hall nor counter"},
		"view=counter":                                 {400, "counter=3"},
		"view=counter&counter=0":                       {400, "counter=3"},
		"view=counter&counter=-1":                      {400, "counter=3"},
		"view=counter&counter=99999999999999999":       {400, "counter=3"},
		"view=counter&counter=10000":                   {400, "counter=3"},
		"view=counter&counter=%3Cb%3E":                 {400, "counter=3"},
		"view=counter&counter=7":                       {404, "no counter 7"},
		"view=hall&after=x":                            {400, "not a sequence"},
		"view=hall&after=-1":                           {400, "not a sequence"},
		"view=hall&epoch=0&after=18446744073709551616": {400, "not a sequence"},
	} {
		status, body := r.get(t, "/ws/display?"+query)
		if status != want.status || !strings.Contains(body, want.words) {
			t.Errorf("%s: got %d %q, want %d with %q", query, status, body, want.status, want.words)
		}
	}
	if status, _ := r.get(t, "/ws/display?view=hall"); status != 400 {
		t.Errorf("got %d for a request that is no WebSocket, want 400", status)
	}
}

func TestTheWebPortServesThePageAndItsHealth(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	for path, want := range map[string]string{"/": "the page\n", "/healthz": "ok\n", "/readyz": "ok\n"} {
		if status, body := r.get(t, path); status != 200 || body != want {
			t.Errorf("%s: got %d %q, want 200 %q", path, status, body, want)
		}
	}
}

func TestTheWebPortSpeaksOnlyHTTP1(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	for what, request := range map[string]string{
		"prior knowledge": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"an upgrade":      "GET /healthz HTTP/1.1\r\nHost: " + r.web + "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", r.web)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, request)
		line, err := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		if !strings.HasPrefix(line, "HTTP/1.1 ") || strings.HasPrefix(line, "HTTP/1.1 101") {
			t.Errorf("%s: got %q, %v, want an answer in HTTP/1.1", what, line, err)
		}
	}
}

func TestThePeersOfTheWebPortMayNotDawdle(t *testing.T) {
	t.Parallel()
	h := unserved(t, Options{}).http
	if h.ReadHeaderTimeout <= 0 || h.ReadTimeout <= 0 || h.WriteTimeout <= 0 || h.IdleTimeout <= 0 || h.MaxHeaderBytes <= 0 || h.ErrorLog == nil {
		t.Errorf("got %v %v %v %v %d, want a limit on each", h.ReadHeaderTimeout, h.ReadTimeout, h.WriteTimeout, h.IdleTimeout, h.MaxHeaderBytes)
	}
	if upgrader.EnableCompression || upgrader.HandshakeTimeout <= 0 {
		t.Error("want no compression, and a limit on the handshake")
	}
}
