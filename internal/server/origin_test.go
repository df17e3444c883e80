package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

func TestOnlyAPageOfThisHostMayConnect(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	host, port, _ := strings.Cut(r.web, ":")
	for origin, want := range map[string]int{
		"": http.StatusSwitchingProtocols, "http://" + r.web: http.StatusSwitchingProtocols,
		"https://" + r.web: 403, "http://" + host: 403, "http://evil.example": 403, "http://" + r.web + ".evil.example": 403, "null": 403,
		"http://" + r.web + "/": 403, "http://evil.example:" + port: 403, "http://user@" + r.web: 403, " http://" + r.web + "#": 403,
	} {
		h := http.Header{}
		if origin != "" {
			h["Origin"] = []string{origin}
		}
		conn, resp, err := websocket.DefaultDialer.Dial("ws://"+r.web+"/ws/display", h)
		if conn != nil {
			conn.Close()
		}
		if resp == nil || resp.StatusCode != want {
			t.Errorf("origin %q: got %v, %v, want %d", origin, resp, err, want)
		}
	}
	conn, resp, _ := websocket.DefaultDialer.Dial("ws://"+r.web+"/ws/display", http.Header{"Origin": {"http://" + r.web, "http://" + r.web}})
	if conn != nil || resp == nil || resp.StatusCode != 403 {
		t.Errorf("two origins: got %v, want 403", resp)
	}
}
