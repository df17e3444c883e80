package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"callerd/bench/internal/proc"
)

func etcd() System {
	return System{
		Name: "gRPC + etcd",
		About: "one node, default options; the front end is the one leader, fenced by a key that every transaction compares, and gives numbers and takes the head of the line in its memory: " +
			"one transaction an operation and never a conflict, as many at a time as there are callers",
		Start: startEtcd,
	}
}

func startEtcd(ctx context.Context, e Env) (Instance, error) {
	bin, err := exec.LookPath("etcd")
	if err != nil {
		return nil, fmt.Errorf("%w: apt-get install etcd-server", ErrAbsent)
	}
	client, err1 := freePort()
	peers, err2 := freePort()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	p, err := proc.Start(ctx, proc.Options{Args: []string{bin, "--name", "bench", "--data-dir", filepath.Join(e.Dir, "etcd"), "--log-level", "error", "--quota-backend-bytes", "8000000000",
		"--listen-client-urls", "http://" + client, "--advertise-client-urls", "http://" + client, "--listen-peer-urls", "http://" + peers,
		"--initial-advertise-peer-urls", "http://" + peers, "--initial-cluster", "bench=http://" + peers}})
	if err != nil {
		return nil, err
	}
	version, err := prepareEtcd(ctx, client)
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("%w: %s", err, p.Log())
	}
	return behind(ctx, e, "etcd", client, served{p, syscall.SIGTERM}, "etcd "+version+", client "+"3.7")
}

// prepareEtcd waits until the node serves.
func prepareEtcd(ctx context.Context, addr string) (version string, err error) {
	c, err := dialEtcd(addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err = until(ctx, func() error {
		s, err := c.Status(ctx, addr)
		if err == nil {
			version = s.Version
			_, err = c.Get(ctx, "leader")
		}
		return err
	})
	return version, err
}

func dialEtcd(addr string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: []string{addr}, DialTimeout: 20 * time.Second, Logger: zap.NewNop()})
}

// freePort finds an address that nobody listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// etcdStore is the leader: what it decided is true when etcd has it. A transaction that fails leaves a gap, so its error ends the row.
type etcdStore struct {
	client *clientv3.Client
	fence  clientv3.Cmp

	mu      sync.Mutex // guards the rest
	issued  uint64
	ready   uint64          // all up to here are on disk: nobody is called who is not, nor before one who came earlier
	beyond  map[uint64]bool // on disk, above ready
	serving uint64          // the last that was called
}

func openEtcd(ctx context.Context, addr string) (store, error) {
	c, err := dialEtcd(addr)
	if err != nil {
		return nil, err
	}
	put, err := c.Put(ctx, "leader", now())
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &etcdStore{client: c, fence: clientv3.Compare(clientv3.ModRevision("leader"), "=", put.Header.Revision), beyond: map[uint64]bool{}}, nil
}

func etcdTicket(n uint64) string { return fmt.Sprintf("ticket/"+category+"/%020d", n) }

func (s *etcdStore) Issue(ctx context.Context) (uint64, error) {
	s.mu.Lock()
	s.issued++
	n := s.issued
	s.mu.Unlock()
	if err := s.commit(ctx, clientv3.OpPut(etcdTicket(n), "waiting "+now())); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beyond[n] = true
	for s.beyond[s.ready+1] {
		s.ready++
		delete(s.beyond, s.ready)
	}
	return n, nil
}

func (s *etcdStore) CallNext(ctx context.Context, counter uint32, complete uint64) (uint64, error) {
	var ops []clientv3.Op
	if complete != 0 {
		ops = append(ops, clientv3.OpPut(etcdTicket(complete), "completed "+now()))
	}
	var n uint64
	s.mu.Lock()
	if s.serving < s.ready {
		s.serving++
		n = s.serving
		ops = append(ops, clientv3.OpPut(etcdTicket(n), "called "+now()+" "+strconv.FormatUint(uint64(counter), 10)))
	}
	s.mu.Unlock()
	return n, s.commit(ctx, ops...)
}

func (s *etcdStore) commit(ctx context.Context, ops ...clientv3.Op) error {
	r, err := s.client.Txn(ctx).If(s.fence).Then(ops...).Commit()
	if err == nil && !r.Succeeded {
		err = errors.New("another leader has come")
	}
	return err
}

func (s *etcdStore) Close() error { return s.client.Close() }
