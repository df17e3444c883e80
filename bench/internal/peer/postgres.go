package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callerd/bench/internal/proc"
)

// postgresConns is the pool's size. The counter's row is locked from its update until its commit, so more sessions only wait for it
// inside PostgreSQL instead of in the pool, which costs more.
const postgresConns = 16

func postgres() System {
	return System{
		Name: "gRPC + PostgreSQL",
		About: fmt.Sprintf("fsync and synchronous_commit on, shared_buffers 256 MB, Unix socket, pgx pool of %d, prepared statements; issue: one statement and so one transaction updates the counter row and inserts the ticket row; "+
			"call next: one statement completes, and takes the oldest with FOR UPDATE SKIP LOCKED over a partial index", postgresConns),
		Start: func(ctx context.Context, e Env) (Instance, error) { return startPostgres(ctx, e, postgresConns) },
	}
}

// postgresEach is the same as it often is without a thought for the pool: nobody waits for a connection, all for the row.
func postgresEach() System {
	return System{
		Name:  "gRPC + PostgreSQL, a connection a caller",
		About: "the same with a pool of as many connections as there are callers at most, all open before the first call, and max_connections raised to that",
		Start: func(ctx context.Context, e Env) (Instance, error) { return startPostgres(ctx, e, e.Counters) },
	}
}

const postgresSchema = `
CREATE TABLE counter (category text PRIMARY KEY, issued bigint NOT NULL) WITH (fillfactor = 10);
CREATE TABLE ticket (category text NOT NULL, number bigint NOT NULL, state smallint NOT NULL DEFAULT 0, counter int, issued timestamptz NOT NULL DEFAULT now(),
	called timestamptz, ended timestamptz, PRIMARY KEY (category, number)) WITH (fillfactor = 50);
CREATE INDEX waiting ON ticket (category, number) WHERE state = 0;
INSERT INTO counter VALUES ('personal', 0);`

const postgresIssue = `
WITH n AS (UPDATE counter SET issued = issued + 1 WHERE category = $1 RETURNING issued)
INSERT INTO ticket (category, number) SELECT $1, issued FROM n RETURNING number`

// postgresCall completes first, which the look at done is for: SKIP LOCKED locks, and keeps, also a ticket that somebody has called since
// the statement began, and who held one such and then waited to complete his own ticket, locked by another one, would be in a deadlock.
const postgresCall = `
WITH done AS (UPDATE ticket SET state = 2, ended = now() WHERE category = $1 AND number = $3 AND state = 1 RETURNING number),
next AS (SELECT number FROM ticket WHERE category = $1 AND state = 0 AND (SELECT count(*) FROM done) >= 0 ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE ticket t SET state = 1, counter = $2, called = now() FROM next WHERE t.category = $1 AND t.number = next.number RETURNING t.number`

// startPostgres makes a cluster of its own and serves it to a pool of so many connections; as root, as the user of Debian's package, for it refuses to run as root.
func startPostgres(ctx context.Context, e Env, conns int) (Instance, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	as, err := postgresUser()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(e.Dir, "pg")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	if as != nil {
		if err := errors.Join(os.Chown(data, int(as.Uid), int(as.Gid)), os.Chown(e.Sockets, int(as.Uid), int(as.Gid))); err != nil {
			return nil, err
		}
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = "/", &syscall.SysProcAttr{Credential: as}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: initdb: %w: %s (can the user postgres reach the folder? else name another one with --dir)", ErrAbsent, err, lastLine(out))
	}
	server := filepath.Join(bin, "postgres")
	p, err := proc.Start(ctx, proc.Options{User: as, Dir: "/", Args: []string{server, "-D", data, "-k", e.Sockets, "-c", "listen_addresses=", "-c", "shared_buffers=256MB",
		"-c", "fsync=on", "-c", "synchronous_commit=on", "-c", fmt.Sprintf("max_connections=%d", max(100, conns+20)), "-c", "max_wal_size=4GB"}})
	if err != nil {
		return nil, err
	}
	addr := "host=" + e.Sockets + " user=bench dbname=postgres"
	version, err := preparePostgres(ctx, addr)
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("%w: %s", err, p.Log())
	}
	return behind(ctx, e, "postgres", fmt.Sprintf("%s pool_max_conns=%d pool_min_conns=%d", addr, conns, conns), served{p, syscall.SIGINT}, "PostgreSQL "+version+", pgx 5")
}

// preparePostgres waits until the server answers and makes the tables.
func preparePostgres(ctx context.Context, addr string) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var c *pgx.Conn
	if err := until(ctx, func() (err error) { c, err = pgx.Connect(ctx, addr); return err }); err != nil {
		return "", err
	}
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := c.Exec(ctx, postgresSchema); err != nil {
		return "", err
	}
	err = c.QueryRow(ctx, "SHOW server_version").Scan(&version)
	return version, err
}

// until tries f again until it succeeds or ctx ends.
func until(ctx context.Context, f func() error) error {
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return err
		}
	}
}

// postgresBin finds the server's programs: the newest of Debian's, or those in the path.
func postgresBin() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is well formed
	if len(found) > 0 {
		version := func(path string) int { n, _ := strconv.Atoi(strings.Split(path, "/")[4]); return n }
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", fmt.Errorf("%w: apt-get install postgresql", ErrAbsent)
}

// postgresUser is who runs the server; nil: we.
func postgresUser() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w: PostgreSQL does not run as root, and there is no user postgres: apt-get install postgresql", ErrAbsent)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

func lastLine(out []byte) string {
	s := strings.TrimSpace(string(out))
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// pgStore is the front end's side.
type pgStore struct{ pool *pgxpool.Pool }

// openPostgres opens a pool, of as many connections as its address says, and waits until all of them are there and have their statements.
func openPostgres(ctx context.Context, addr string) (store, error) {
	c, err := pgxpool.ParseConfig(addr)
	if err != nil {
		return nil, err
	}
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		for _, sql := range [...]string{postgresIssue, postgresCall} {
			if _, err := conn.Prepare(ctx, sql, sql); err != nil {
				return err
			}
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	if err := until(ctx, func() error {
		if n := pool.Stat().IdleConns(); n < c.MinConns {
			return fmt.Errorf("%d of %d connections are open", n, c.MinConns)
		}
		return nil
	}); err != nil {
		pool.Close()
		return nil, err
	}
	return pgStore{pool}, nil
}

func (s pgStore) Issue(ctx context.Context) (n uint64, err error) {
	err = s.pool.QueryRow(ctx, postgresIssue, category).Scan(&n)
	return n, err
}

func (s pgStore) CallNext(ctx context.Context, counter uint32, complete uint64) (n uint64, err error) {
	err = s.pool.QueryRow(ctx, postgresCall, category, counter, complete).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

func (s pgStore) Close() error {
	s.pool.Close()
	return nil
}
