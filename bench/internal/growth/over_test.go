package growth

import "testing"

func TestAClientsRatiosAreOfEachAlternationAndToTheFirstOfTheOperation(t *testing.T) {
	rows := []*ClientRow{
		{Op: opIssue, Waiting: 100, P50: []float64{1, 2, 4}, Mean: []float64{1, 1, 1}}, {Op: opIssue, Waiting: 1000, P50: []float64{1.5, 3, 4}, Mean: []float64{2, 3, 4}},
		{Op: opCancel, Waiting: 100, P50: []float64{2}, Mean: []float64{2}}, {Op: opCancel, Waiting: 1000, P50: []float64{3}, Mean: []float64{1}},
	}
	clientRatios(rows)
	for i, want := range [][2]float64{{1, 1}, {1.5, 3}, {1, 1}, {1.5, .5}} {
		if r := rows[i]; r.P50Ratio != want[0] || r.MeanRatio != want[1] {
			t.Errorf("%s, %d waiting: got %v and %v, want %v", r.Op, r.Waiting, r.P50Ratio, r.MeanRatio, want)
		}
	}
}

func TestMean(t *testing.T) {
	if got := mean([]float64{1, 2, 6}); got != 3 {
		t.Errorf("got %v, want 3", got)
	}
}
