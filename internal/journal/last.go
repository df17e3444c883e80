package journal

// Last is the sequence of the last record on disk, 0 if there is none.
func (j *Journal) Last() uint64 { return j.durable.Load() }
