package peer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver
)

func sqlite() System {
	return System{
		Name:  "SQLite, in process",
		About: "WAL, synchronous FULL, one writing connection (SQLite has one writer), prepared statements, one transaction an operation; no gRPC: the callers are in its process",
		Start: startSQLite,
	}
}

const sqliteSchema = `
CREATE TABLE counter (category TEXT PRIMARY KEY, issued INTEGER NOT NULL);
CREATE TABLE ticket (number INTEGER PRIMARY KEY, state INTEGER NOT NULL DEFAULT 0, counter INTEGER, issued INTEGER, called INTEGER, ended INTEGER);
CREATE INDEX waiting ON ticket (number) WHERE state = 0;
INSERT INTO counter VALUES ('personal', 0);`

// sqliteStore keeps the tickets in a file.
type sqliteStore struct {
	db                                   *sql.DB
	increment, insert, oldest, call, end *sql.Stmt
}

func startSQLite(ctx context.Context, e Env) (Instance, error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(e.Dir, "sqlite.db")+"?_journal_mode=WAL&_synchronous=FULL&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &sqliteStore{db: db}
	version, err := s.prepare(ctx)
	if err != nil {
		if strings.Contains(err.Error(), "CGO_ENABLED=0") {
			err = fmt.Errorf("%w: the driver needs a C compiler: apt-get install gcc", ErrAbsent)
		}
		return nil, errors.Join(err, db.Close())
	}
	return &local{store: s, version: "SQLite " + version + ", mattn/go-sqlite3", current: make([]uint64, e.Counters)}, nil
}

func (s *sqliteStore) prepare(ctx context.Context) (version string, err error) {
	if _, err := s.db.ExecContext(ctx, sqliteSchema); err != nil {
		return "", err
	}
	for _, p := range [...]struct {
		to  **sql.Stmt
		sql string
	}{
		{&s.increment, "UPDATE counter SET issued = issued + 1 WHERE category = ? RETURNING issued"},
		{&s.insert, "INSERT INTO ticket (number, issued) VALUES (?, ?)"},
		{&s.oldest, "SELECT number FROM ticket WHERE state = 0 ORDER BY number LIMIT 1"},
		{&s.call, "UPDATE ticket SET state = 1, counter = ?, called = ? WHERE number = ?"},
		{&s.end, "UPDATE ticket SET state = 2, ended = ? WHERE number = ? AND state = 1"},
	} {
		if *p.to, err = s.db.PrepareContext(ctx, p.sql); err != nil {
			return "", err
		}
	}
	err = s.db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version)
	return version, err
}

// within carries f out in one transaction.
func (s *sqliteStore) within(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s *sqliteStore) Issue(ctx context.Context) (n uint64, err error) {
	err = s.within(ctx, func(tx *sql.Tx) error {
		if err := tx.StmtContext(ctx, s.increment).QueryRowContext(ctx, category).Scan(&n); err != nil {
			return err
		}
		_, err := tx.StmtContext(ctx, s.insert).ExecContext(ctx, n, now())
		return err
	})
	return n, err
}

func (s *sqliteStore) CallNext(ctx context.Context, counter uint32, complete uint64) (n uint64, err error) {
	err = s.within(ctx, func(tx *sql.Tx) error {
		if complete != 0 {
			if _, err := tx.StmtContext(ctx, s.end).ExecContext(ctx, now(), complete); err != nil {
				return err
			}
		}
		err := tx.StmtContext(ctx, s.oldest).QueryRowContext(ctx).Scan(&n)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			_, err = tx.StmtContext(ctx, s.call).ExecContext(ctx, counter, now(), n)
		}
		return err
	})
	return n, err
}

func (s *sqliteStore) Close() error { return s.db.Close() }
