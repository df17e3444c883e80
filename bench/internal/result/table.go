package result

import (
	"fmt"
	"math"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table is rows under a title, printed with numbers at the right.
type Table struct {
	w       table.Writer
	columns int
}

// NewTable begins a table; its first column is text.
func NewTable(title string, columns ...string) *Table {
	t := &Table{w: table.NewWriter(), columns: len(columns)}
	t.w.SetStyle(table.StyleLight)
	t.w.Style().Format.Header = text.FormatDefault
	t.w.Style().Title.Format = text.FormatDefault
	t.w.SetTitle("%s", title)
	head := make(table.Row, len(columns))
	configs := []table.ColumnConfig{}
	for i, c := range columns {
		head[i] = c
		if i > 0 {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.w.AppendHeader(head)
	t.w.SetColumnConfigs(configs)
	return t
}

// Row adds a row.
func (t *Table) Row(cells ...any) { t.w.AppendRow(table.Row(cells)) }

// Merge adds a row whose cells behind the first are one text.
func (t *Table) Merge(first, rest string) {
	row := table.Row{first}
	for range t.columns - 1 {
		row = append(row, rest)
	}
	t.w.AppendRow(row, table.RowConfig{AutoMerge: true, AutoMergeAlign: text.AlignLeft})
}

// Line adds a line between rows.
func (t *Table) Line() { t.w.AppendSeparator() }

// String renders the table.
func (t *Table) String() string { return t.w.Render() }

// Num writes a figure with three digits that count; NaN is a dash.
func Num(x float64) string {
	a := math.Abs(x)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "-"
	case a >= 1000:
		return group(int64(math.Round(x)))
	case a >= 100:
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	case a >= 1 || a == 0:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

// group writes a number of four digits and more with commas.
func group(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
