package structure_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source is one Go file of the module, without what is generated.
type source struct {
	path    string // within the module
	file    *ast.File
	fset    *token.FileSet
	test    bool
	imports []string
	pkg     []*source // the files of its directory
}

// ban is something that is not written in some files, and why.
type ban struct {
	what string
	why  string
	// in says in which files it is banned.
	in func(*source) bool
	// finds reports whether a node is it.
	finds func(*source, ast.Node) bool
}

var bans = []ban{
	{"time.Now()", "the clock comes through Options, so that tests can set it; what measures time needs it",
		func(s *source) bool {
			return !s.test && !under(s, "cmd") && !under(s, "bench") && s.path != "internal/arch/calibrate.go"
		}, calls("time", "Now")},
	{"time.After()", "its timer outlives who waited; a Timer can be stopped",
		func(s *source) bool { return !s.test }, calls("time", "After")},
	{"time.Sleep()", "a sleep obeys no context",
		func(s *source) bool { return !s.test }, calls("time", "Sleep")},
	{"time.Sleep()", "a test that sleeps is slow or flaky; in a synctest bubble it is neither",
		func(s *source) bool { return s.test && !slices.Contains(s.imports, "testing/synctest") }, calls("time", "Sleep")},
	{"context.Background()", "every wait has a caller who may give up",
		func(s *source) bool { return !s.test && s.file.Name.Name != "main" }, calls("context", "Background", "TODO")},
	{"fmt.Print", "what a package has to say goes to its Logger",
		func(s *source) bool { return !s.test && under(s, "internal") }, calls("fmt", "Print", "Printf", "Println")},
	{"the log package", "what a package has to say goes to its slog.Logger",
		func(s *source) bool { return under(s, "internal") }, importsLog},
	{"bbolt's Batch", "it runs its function again: an operation would be decided twice",
		func(s *source) bool { return slices.Contains(s.imports, "go.etcd.io/bbolt") }, calls("", "Batch")},
	{"Tx.OnCommit", "it runs after the unlock, so out of order",
		func(s *source) bool { return true }, calls("", "OnCommit")},
	{"panic", "input must not end the process; what shows a fault of the program is in arch and verify.go",
		func(s *source) bool {
			return !s.test && !under(s, "internal/arch") && s.path != "internal/branch/verify.go"
		}, isPanic},
	{"a channel with a size of more than 1 and no comment", "a buffer hides who waits for whom; its size wants a reason",
		func(s *source) bool { return true }, unexplainedChannel},
}

func TestTheBans(t *testing.T) {
	files := sources(t)
	if len(files) < 50 {
		t.Fatalf("got %d files, want the whole module", len(files))
	}
	for _, s := range files {
		for _, b := range bans {
			if !b.in(s) {
				continue
			}
			ast.Inspect(s.file, func(n ast.Node) bool {
				if n != nil && b.finds(s, n) {
					t.Errorf("%s:%d: %s: %s", s.path, s.fset.Position(n.Pos()).Line, b.what, b.why)
				}
				return true
			})
		}
	}
}

// sources reads every Go file of the module that a person wrote.
func sources(t *testing.T) (files []*source) {
	t.Helper()
	const root = "../.."
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && at != root && (name[0] == '.' || name == "testdata" || name == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() && at != root && isModule(at): // the benchmarks: they read clocks, and are no part of the product
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		s := &source{fset: token.NewFileSet(), test: strings.HasSuffix(name, "_test.go")}
		if s.file, err = parser.ParseFile(s.fset, at, nil, parser.ParseComments); err != nil {
			return err
		}
		if ast.IsGenerated(s.file) {
			return nil
		}
		for _, i := range s.file.Imports {
			s.imports = append(s.imports, strings.Trim(i.Path.Value, `"`))
			// Helpers of tests that are not test files themselves.
			s.test = s.test || i.Path.Value == `"testing"`
		}
		rel, err := filepath.Rel(root, at)
		s.path = filepath.ToSlash(rel)
		files = append(files, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string][]*source{}
	for _, s := range files {
		dirs[path.Dir(s.path)] = append(dirs[path.Dir(s.path)], s)
	}
	for _, s := range files {
		s.pkg = dirs[path.Dir(s.path)]
	}
	return files
}

// isModule reports whether a folder is a module of its own.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func under(s *source, dir string) bool { return strings.HasPrefix(s.path, dir+"/") }

// calls finds calls of functions of a package, or, without one, of methods.
func calls(pkg string, names ...string) func(*source, ast.Node) bool {
	return func(_ *source, n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains(names, sel.Sel.Name) {
			return false
		}
		x, ok := sel.X.(*ast.Ident)
		return pkg == "" || ok && x.Name == pkg
	}
}

func importsLog(_ *source, n ast.Node) bool {
	i, ok := n.(*ast.ImportSpec)
	return ok && i.Path.Value == `"log"`
}

func isPanic(_ *source, n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.Ident)
	return ok && f.Name == "panic"
}

// unexplainedChannel finds make(chan T, n) with n other than 0 and 1 and no comment on its line or the one above, nor at the
// field that it is for.
func unexplainedChannel(s *source, n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return false
	}
	f, ok := call.Fun.(*ast.Ident)
	if !ok || f.Name != "make" {
		return false
	}
	if _, isChan := call.Args[0].(*ast.ChanType); !isChan {
		return false
	}
	if size, ok := call.Args[1].(*ast.BasicLit); ok && (size.Value == "0" || size.Value == "1") {
		return false
	}
	line := s.fset.Position(call.Pos()).Line
	for _, c := range s.file.Comments {
		if end := s.fset.Position(c.End()).Line; end == line || end == line-1 {
			return false
		}
	}
	return !commented(s, fieldOf(s, call))
}

// fieldOf returns the name of the field that an expression is given to in a composite literal, "" if it is to none.
func fieldOf(s *source, e ast.Expr) (name string) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok && kv.Value == e {
			if key, ok := kv.Key.(*ast.Ident); ok {
				name = key.Name
			}
		}
		return true
	})
	return name
}

// commented reports whether a field of a struct in the package has a comment.
func commented(s *source, field string) (found bool) {
	for _, other := range s.pkg {
		ast.Inspect(other.file, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok && (f.Doc != nil || f.Comment != nil) {
				found = found || slices.ContainsFunc(f.Names, func(i *ast.Ident) bool { return i.Name == field })
			}
			return true
		})
	}
	return found
}
