package journal

import (
	"errors"
	"os"
	"testing"
)

// A file that was moved or removed while it was open would take what is told from then on with it.
func TestAMovedFileIsNoticedBeforeAnythingIsTold(t *testing.T) {
	t.Parallel()
	moves := map[string]func(t *testing.T, path string) error{
		"removed": func(_ *testing.T, path string) error { return os.Remove(path) },
		"renamed": func(_ *testing.T, path string) error { return os.Rename(path, path+".old") },
		"moved and copied": func(t *testing.T, path string) error {
			err := os.Rename(path, path+".old")
			copyFile(t, path+".old", path)
			return err
		},
		"replaced by another": func(_ *testing.T, path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600))
		},
	}
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := mustOpen(t, t.TempDir())
			mustAppend(t, j, days(1, 5))
			if err := move(t, j.Path()); err != nil {
				t.Fatal(err)
			}
			for range 2 { // and it does not go on
				if err := j.Append(issues(6, 2)); !errors.Is(err, ErrMoved) {
					t.Errorf("got %v, want %v", err, ErrMoved)
				}
			}
		})
	}
}

func TestAJournalIsIdentifiedWhileItIsOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	mustAppend(t, j, days(1, 5))
	got, err := Identify(dir)
	if err != nil || got.Epoch != j.Meta().Epoch {
		t.Errorf("got epoch %q, %v, want %q", got.Epoch, err, j.Meta().Epoch)
	}
}
