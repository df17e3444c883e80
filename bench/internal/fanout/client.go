package fanout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"callerd/bench/internal/proc"
	"callerd/bench/internal/result"
	pb "callerd/proto/callerd/v1"
)

// Client is all displays of one run, and the teller whose calls they see. It is a process of its own.
type Client struct {
	Web      string `help:"Address of the WebSockets."`
	GRPC     string `help:"Address of the daemon's gRPC services; none: the server is the bare loop."`
	Pid      int    `help:"The server's process."`
	Displays int
	Dead     int `help:"Displays that never read, beside the others."`
	Calls    int `help:"How often is published."`
	Size     int `help:"Bytes of a frame of the bare loop."`

	mu       sync.Mutex // guards the rest
	conns    []*websocket.Conn
	waited   uint64 // the sequence that is being delivered
	left     int    // displays that have not seen it
	first    time.Time
	last     time.Time
	complete chan struct{} // closed when all have it
	most     int           // bytes of a frame
}

// Figures are what one run gave; times in ms.
type Figures struct {
	Displays   int     `json:"displays"`
	Dead       int     `json:"dead"`
	Calls      int     `json:"calls"`
	Bytes      int     `json:"frame_bytes"`
	LastP50    float64 `json:"call_to_last_p50_ms"`
	LastP99    float64 `json:"call_to_last_p99_ms"`
	SpreadP50  float64 `json:"first_to_last_p50_ms"`
	SpreadP99  float64 `json:"first_to_last_p99_ms"`
	CPU        float64 `json:"server_cpu_us_per_delivery"`
	Memory     float64 `json:"server_resident_bytes_per_connection"`
	DeadClosed int     `json:"dead_closed"`
	DeadLogged int     `json:"dead_counted_in_the_log"`
}

// Run connects everybody, publishes, and measures.
func (c *Client) Run(ctx context.Context) (f Figures, err error) {
	publish, done, err := c.publisher(ctx)
	if err != nil {
		return f, err
	}
	defer done()
	empty, err := proc.Of(c.Pid)
	if err != nil {
		return f, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer func() {
		for _, conn := range c.conns {
			_ = conn.Close()
		}
	}()
	if err := c.connect(ctx, cancel, c.Dead, true); err != nil {
		return f, err
	}
	for n := 0; n < ballast && c.Dead > 0; n++ {
		if c.waited, err = publish(); err != nil {
			return f, err
		}
	}
	if err := c.connect(ctx, cancel, c.Displays, false); err != nil {
		return f, err
	}
	full, err := proc.Of(c.Pid)
	if err != nil {
		return f, err
	}
	before := sockets(c.Pid)
	var last, spread []float64
	until := time.Now().Add(25 * time.Second) // the dead are closed after 5 s in which they took nothing
	for n := 0; n < c.Calls || c.Dead > 0 && before-sockets(c.Pid) < c.Dead && time.Now().Before(until); n++ {
		began := time.Now()
		if err := c.once(ctx, publish); err != nil {
			return f, fmt.Errorf("publication %d: %w", n, err)
		}
		last, spread = append(last, ms(c.last.Sub(began))), append(spread, ms(c.last.Sub(c.first)))
	}
	after, err := proc.Of(c.Pid)
	if err != nil {
		return f, err
	}
	f = Figures{Displays: c.Displays, Dead: c.Dead, Calls: len(last), Bytes: c.most, DeadClosed: max(0, before-sockets(c.Pid)),
		LastP50: result.Quantile(last, 0.5), LastP99: result.Quantile(last, 0.99), SpreadP50: result.Quantile(spread, 0.5), SpreadP99: result.Quantile(spread, 0.99),
		CPU: float64(after.CPU-full.CPU) / float64(time.Microsecond) / float64(len(last)*c.Displays), Memory: float64(full.RSS-empty.RSS) / float64(c.Displays+c.Dead)}
	return f, nil
}

// once publishes and waits until all have it.
func (c *Client) once(ctx context.Context, publish func() (uint64, error)) error {
	c.mu.Lock()
	c.waited++ // whatever comes next is it: nothing else publishes
	c.left, c.complete, c.first = c.Displays, make(chan struct{}), time.Time{}
	c.mu.Unlock()
	sequence, err := publish()
	if err != nil {
		return err
	}
	within := time.NewTimer(20 * time.Second)
	defer within.Stop()
	select {
	case <-c.complete:
	case <-within.C:
		return fmt.Errorf("%d displays did not get it", c.left)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waited = sequence
	return nil
}

// got is told of each frame that a display has.
func (c *Client) got(frame []byte) {
	now := time.Now()
	sequence := sequenceOf(frame)
	c.mu.Lock()
	defer c.mu.Unlock()
	if sequence < c.waited || c.left == 0 { // a heartbeat repeats the last
		return
	}
	if c.first.IsZero() {
		c.first = now
	}
	c.most = max(c.most, len(frame))
	if c.left--; c.left == 0 {
		c.last = now
		close(c.complete)
	}
}

// ballast is how many frames the dead get before the others come. It nearly fills what the kernel holds for them, about 130 frames of
// 700 bytes with the 64 KiB that the daemon allows, so that they take nothing more while the others are measured.
const ballast = 110

// connect connects so many displays, many at a time; each of the living has had its first frame when it returns.
func (c *Client) connect(ctx context.Context, failed context.CancelCauseFunc, displays int, dead bool) error {
	var left atomic.Int64
	left.Store(int64(displays))
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				conn, err := c.display(ctx, dead)
				if err != nil {
					failed(fmt.Errorf("connect a display: %w", err))
					return
				}
				c.mu.Lock()
				c.conns = append(c.conns, conn)
				c.mu.Unlock()
				if !dead {
					go c.read(conn, failed)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// read takes a living display's frames until it is closed.
func (c *Client) read(conn *websocket.Conn, failed context.CancelCauseFunc) {
	for {
		_, frame, err := conn.ReadMessage()
		if err != nil {
			failed(err)
			return
		}
		c.got(frame)
	}
}

// display connects one. A dead one gives the kernel next to no room.
func (c *Client) display(ctx context.Context, dead bool) (*websocket.Conn, error) {
	d := websocket.Dialer{ReadBufferSize: 1 << 10, WriteBufferSize: 256, HandshakeTimeout: 20 * time.Second}
	if dead {
		d.NetDialContext = (&net.Dialer{Control: func(_, _ string, raw syscall.RawConn) (err error) {
			return errors.Join(raw.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) }), err)
		}}).DialContext
	}
	conn, _, err := d.DialContext(ctx, "ws://"+c.Web+"/ws/display?view=hall", nil)
	if err != nil || dead {
		return conn, err
	}
	_, _, err = conn.ReadMessage()
	return conn, err
}

// publisher returns what publishes one frame and tells its sequence.
func (c *Client) publisher(ctx context.Context) (publish func() (uint64, error), done func(), err error) {
	if c.GRPC == "" {
		web := &http.Client{}
		return func() (uint64, error) {
			r, err := web.Post(fmt.Sprintf("http://%s/publish?size=%d", c.Web, c.Size), "", nil)
			if err != nil {
				return 0, err
			}
			defer r.Body.Close()
			b, err := io.ReadAll(r.Body)
			if err != nil {
				return 0, err
			}
			return strconv.ParseUint(string(b), 10, 64)
		}, web.CloseIdleConnections, nil
	}
	conn, err := grpc.NewClient(c.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, err
	}
	kiosk, teller := pb.NewKioskServiceClient(conn), pb.NewCounterServiceClient(conn)
	if err := c.fill(ctx, kiosk); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	s, err := teller.OpenCounter(ctx, &pb.OpenCounterRequest{RequestId: uuid.NewString(), Counter: 1, Teller: "t1"})
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	current := ""
	c.waited = s.Sequence
	return func() (uint64, error) {
		r, err := teller.CallNext(ctx, &pb.CallNextRequest{RequestId: uuid.NewString(), SessionToken: s.SessionToken, CompleteTicket: current})
		if err == nil {
			current = r.Ticket.GetId()
		}
		return r.GetSequence(), err
	}, func() { _ = conn.Close() }, nil
}

// fill issues more tickets than the dead can make us call.
func (c *Client) fill(ctx context.Context, kiosk pb.KioskServiceClient) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var left atomic.Int64
	left.Store(int64(c.Calls + 15000*min(1, c.Dead)))
	var all sync.WaitGroup
	for range 256 {
		all.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				if _, err := kiosk.IssueTicket(ctx, &pb.IssueTicketRequest{RequestId: uuid.NewString(), Category: "personal"}); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// sockets counts the open files of a process.
func sockets(pid int) int {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0
	}
	return len(files)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
