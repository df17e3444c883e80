package hub

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
)

// frameText is about as long as a call's frame.
var frameText = []byte(strings.Repeat("x", 600))

// BenchmarkPublish measures from one publication to the last of n displays having it, over real
// sockets: this hub beside the plainest loop that writes to each connection in turn.
func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("hub/displays=%d", n), func(b *testing.B) {
			h := open(b, Options{Encode: func(any) []byte { return frameText }, Lag: 1 << 20, History: 1 << 20})
			st := openSite(b, h)
			got := readers(b, st.URL, n)
			got.Wait()
			var sequence uint64
			b.ReportAllocs()
			for b.Loop() {
				got.Add(n)
				sequence++
				h.Append(hall, sequence, nil)
				got.Wait()
			}
			b.StopTimer()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/delivery")
			h.Close()
		})
		b.Run(fmt.Sprintf("loop/displays=%d", n), func(b *testing.B) {
			var mu sync.Mutex
			var conns []*websocket.Conn
			upgrader := websocket.Upgrader{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, err := upgrader.Upgrade(w, r, nil)
				if err != nil {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				conns = append(conns, conn)
				_ = conn.WriteMessage(websocket.TextMessage, frameText)
			}))
			defer server.Close()
			got := readers(b, server.URL, n)
			got.Wait()
			b.ReportAllocs()
			for b.Loop() {
				got.Add(n)
				frame, err := websocket.NewPreparedMessage(websocket.TextMessage, frameText)
				if err != nil {
					b.Fatal(err)
				}
				mu.Lock() // a first frame may be there before its write has returned
				for _, conn := range conns {
					if err := conn.WritePreparedMessage(frame); err != nil {
						b.Fatal(err)
					}
				}
				mu.Unlock()
				got.Wait()
			}
			b.StopTimer()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/delivery")
			for _, conn := range conns {
				conn.Close()
			}
		})
	}
}

// BenchmarkAppend measures what the publisher itself pays with n watchers waiting: waking them is
// not its work.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{0, 1, 100, 1000} {
		b.Run(fmt.Sprintf("watchers=%d", n), func(b *testing.B) {
			h := open(b, Options{Lag: 1 << 20, History: 1 << 20})
			var got, all sync.WaitGroup
			got.Add(n)
			for range n {
				s := join(b, h, false, 0)
				all.Go(func() {
					for {
						if _, err := s.Next(b.Context()); err != nil {
							return
						}
						got.Done()
					}
				})
			}
			got.Wait()
			var sequence uint64
			b.ReportAllocs()
			for b.Loop() {
				got.Add(n)
				sequence++
				h.Append(hall, sequence, nil)
				if n > 0 {
					b.StopTimer()
					got.Wait()
					b.StartTimer()
				}
			}
			h.Close()
			all.Wait()
		})
	}
}

// readers connects n displays that do nothing but count the frames that reach them, each as long
// as frameText, in the group that is returned. The first frame counts.
func readers(b *testing.B, url string, n int) *sync.WaitGroup {
	b.Helper()
	var got, all sync.WaitGroup
	got.Add(n)
	b.Cleanup(all.Wait)
	address := strings.TrimPrefix(url, "http://")
	for range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", address)
		r := bufio.NewReaderSize(conn, 2048)
		for line := ""; line != "\r\n"; {
			if line, err = r.ReadString('\n'); err != nil {
				b.Fatal(err)
			}
		}
		all.Go(func() {
			for {
				if _, err := io.CopyN(io.Discard, r, int64(4+len(frameText))); err != nil {
					return // also at the close frame, which is shorter
				}
				got.Done()
			}
		})
	}
	return &got
}
