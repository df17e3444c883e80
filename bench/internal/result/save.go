package result

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Save writes a value as indented JSON into a folder, made if it is missing.
func Save(dir, name string, value any) error {
	b, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), append(b, '\n'), 0o644)
}
