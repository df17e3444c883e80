package peer

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/redis/rueidis"

	"callerd/bench/internal/proc"
)

const redisAbout = "appendonly, appendfsync always, no snapshots, Unix socket; rueidis, which pipelines concurrent calls over one connection by itself; one Lua script an operation: INCR, HSET, RPUSH; HSET, LPOP, HSET"

func redis() System {
	return System{Name: "gRPC + Redis", About: redisAbout, Start: func(ctx context.Context, e Env) (Instance, error) {
		s, addr, version, err := startRedis(ctx, e)
		if err != nil {
			return nil, err
		}
		r, err := behind(ctx, e, "redis", addr, s, version)
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
		return &local{store: st, server: &s, version: version, current: make([]uint64, e.Counters)}, nil
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
	return served{p, syscall.SIGTERM}, addr, version + ", rueidis 1.0", err
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
	client      rueidis.Client
	issue, call *rueidis.Lua
}

func openRedis(_ context.Context, addr string) (store, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true, ForceSingleClient: true,
		DialCtxFn: func(ctx context.Context, path string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return d.DialContext(ctx, "unix", path)
		}})
	if err != nil {
		return nil, err
	}
	return redisStore{c, rueidis.NewLuaScript(redisIssue), rueidis.NewLuaScript(redisCall)}, nil
}

func (s redisStore) Issue(ctx context.Context) (uint64, error) {
	n, err := s.issue.Exec(ctx, s.client, []string{"issued:" + category, "waiting:" + category, "ticket:" + category + ":"}, []string{now()}).AsInt64()
	return uint64(n), err
}

func (s redisStore) CallNext(ctx context.Context, counter uint32, complete uint64) (uint64, error) {
	n, err := s.call.Exec(ctx, s.client, []string{"waiting:" + category, "ticket:" + category + ":"},
		[]string{strconv.FormatUint(complete, 10), strconv.FormatUint(uint64(counter), 10), now()}).AsInt64()
	return uint64(n), err
}

func (s redisStore) Close() error {
	s.client.Close()
	return nil
}
