package peer

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"callerd/bench/internal/proc"
)

const redisAbout = "appendonly, appendfsync always, no snapshots, Unix socket; rueidis, which pipelines concurrent calls over one connection by itself; one Lua script an operation: INCR, HSET, RPUSH; HSET, LPOP, HSET"

func redis() System {
	return redisBehind("gRPC + Redis", redisAbout, "redis", "rueidis 1.0", func(socket string, _ int) string { return socket })
}

// redisPooled is the same with the client that most programs have: a call holds a connection until its answer is there.
func redisPooled() System {
	return redisBehind("gRPC + Redis, go-redis", "the same server and scripts (EVALSHA); go-redis with its defaults, but a pool of as many connections as there are callers", "redis-pooled", "go-redis 9",
		func(socket string, callers int) string {
			u := url.URL{Scheme: "unix", Path: socket, RawQuery: "pool_size=" + strconv.Itoa(callers)}
			return u.String()
		})
}

// redisBehind is Redis behind a front end, which is told by addr where the server is and how many callers come.
func redisBehind(name, about, frontEnd, client string, addr func(socket string, callers int) string) System {
	return System{Name: name, About: about, Start: func(ctx context.Context, e Env) (Instance, error) {
		s, socket, version, err := startRedis(ctx, e)
		if err != nil {
			return nil, err
		}
		r, err := behind(ctx, e, frontEnd, addr(socket, e.Counters), s, version+", "+client)
		if err != nil {
			return nil, err
		}
		return r, nil
	}}
}

// redisBare is Redis without an RPC layer before it: what an application on the same machine could have that embeds the client.
func redisBare() System {
	return System{Name: "Redis, bare", About: "the same without gRPC: the callers are the client's", Start: func(ctx context.Context, e Env) (Instance, error) {
		s, addr, version, err := startRedis(ctx, e)
		if err != nil {
			return nil, err
		}
		st, err := openRedis(ctx, addr)
		if err != nil {
			s.Kill()
			return nil, err
		}
		return &local{store: st, server: &s, version: version + ", rueidis 1.0", current: make([]uint64, e.Counters)}, nil
	}}
}

func startRedis(ctx context.Context, e Env) (s served, addr, version string, err error) {
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		return s, "", "", fmt.Errorf("%w: apt-get install redis-server", ErrAbsent)
	}
	out, err := exec.CommandContext(ctx, bin, "--version").Output()
	if err != nil {
		return s, "", "", err
	}
	version = "Redis"
	for _, w := range strings.Fields(string(out)) {
		if v, ok := strings.CutPrefix(w, "v="); ok {
			version += " " + v
		}
	}
	addr = filepath.Join(e.Sockets, "redis")
	p, err := proc.Start(ctx, proc.Options{
		Args:  []string{bin, "--port", "0", "--unixsocket", addr, "--dir", e.Dir, "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--daemonize", "no"},
		Ready: func(line string) bool { return strings.Contains(strings.ToLower(line), "ready to accept connections") },
	})
	return served{p, syscall.SIGTERM}, addr, version, err
}

const redisIssue = `
local n = redis.call('INCR', KEYS[1])
redis.call('HSET', KEYS[3] .. n, 'state', 'waiting', 'issued', ARGV[1])
redis.call('RPUSH', KEYS[2], n)
return n`

const redisCall = `
if ARGV[1] ~= '0' then redis.call('HSET', KEYS[2] .. ARGV[1], 'state', 'completed', 'ended', ARGV[3]) end
local n = redis.call('LPOP', KEYS[1])
if not n then return 0 end
redis.call('HSET', KEYS[2] .. n, 'state', 'called', 'counter', ARGV[2], 'called', ARGV[3])
return tonumber(n)`

// redisStore keeps the tickets in Redis.
type redisStore struct {
	issue, call redisScript
	close       func() error
}

// redisScript carries a script out, whatever the client is.
type redisScript func(ctx context.Context, keys, args []string) (int64, error)

func openRedis(_ context.Context, addr string) (store, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true, ForceSingleClient: true,
		DialCtxFn: func(ctx context.Context, path string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return d.DialContext(ctx, "unix", path)
		}})
	if err != nil {
		return nil, err
	}
	script := func(text string) redisScript {
		l := rueidis.NewLuaScript(text)
		return func(ctx context.Context, keys, args []string) (int64, error) {
			return l.Exec(ctx, c, keys, args).AsInt64()
		}
	}
	return redisStore{script(redisIssue), script(redisCall), func() error { c.Close(); return nil }}, nil
}

// openRedisPooled opens it with go-redis; the address is a URL, as that client reads it.
func openRedisPooled(_ context.Context, addr string) (store, error) {
	o, err := goredis.ParseURL(addr)
	if err != nil {
		return nil, err
	}
	c := goredis.NewClient(o)
	script := func(text string) redisScript {
		l := goredis.NewScript(text)
		return func(ctx context.Context, keys, args []string) (int64, error) {
			values := make([]any, len(args))
			for i, a := range args {
				values[i] = a
			}
			return l.Run(ctx, c, keys, values...).Int64()
		}
	}
	return redisStore{script(redisIssue), script(redisCall), c.Close}, nil
}

func (s redisStore) Issue(ctx context.Context) (uint64, error) {
	n, err := s.issue(ctx, []string{"issued:" + category, "waiting:" + category, "ticket:" + category + ":"}, []string{now()})
	return uint64(n), err
}

func (s redisStore) CallNext(ctx context.Context, counter uint32, complete uint64) (uint64, error) {
	n, err := s.call(ctx, []string{"waiting:" + category, "ticket:" + category + ":"},
		[]string{strconv.FormatUint(complete, 10), strconv.FormatUint(uint64(counter), 10), now()})
	return uint64(n), err
}

func (s redisStore) Close() error { return s.close() }
