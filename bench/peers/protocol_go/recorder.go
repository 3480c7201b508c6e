// Package protocol is what the peers in Go share with each other and with the harness. This file counts reconciles and prints
// events, one line of JSON each.
package protocol

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Recorder knows how far each object is, and what the harness waits for. It may be used by many at once.
type Recorder struct {
	mutex sync.Mutex
	out   io.Writer

	// begun and finished have the last revision of which a reconcile did so.
	begun, finished column
	// reached is how many objects are at the expected revision.
	objects, revision, reached int32
	// told is true when that has been told to be all.
	told bool

	reconciles, errors, writes int64
	latencies                  []float64
}

// column has a revision at the index of each object, or 0.
type column []int32

func (c column) at(index int32) int32 {
	if int(index) < len(c) {
		return c[index]
	}
	return 0
}

func (c *column) set(index, revision int32) {
	if more := int(index) + 1 - len(*c); more > 0 {
		*c = append(*c, make([]int32, more)...)
	}
	(*c)[index] = revision
}

// NewRecorder makes a recorder with a first expectation, which prints to out.
func NewRecorder(out io.Writer, settings Settings) *Recorder {
	return &Recorder{out: out, objects: settings.Objects, revision: settings.Revision, latencies: []float64{}}
}

// now is the time in epoch milliseconds.
func now() float64 { return float64(time.Now().UnixMicro()) / 1000 }

// Started tells that a reconcile starts, and answers with the time.
func (r *Recorder) Started() float64 {
	at := now()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.reconciles++; r.reconciles == 1 {
		r.print(map[string]any{"event": "first", "at": at})
	}
	return at
}

// Read tells which object the reconcile that started at a time is of.
func (r *Recorder) Read(at float64, index, revision int32, sent float64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if revision <= r.begun.at(index) {
		return
	}
	r.begun.set(index, revision)
	if sent > 0 {
		r.latencies = append(r.latencies, at-sent)
	}
}

// Wrote tells that the reconciler sends a write.
func (r *Recorder) Wrote() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.writes++
}

// Finished tells that a reconcile has ended.
func (r *Recorder) Finished(index, revision int32, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err != nil {
		r.errors++
		return
	}
	before := r.finished.at(index)
	if revision <= before {
		return
	}
	r.finished.set(index, revision)
	if before < r.revision && revision >= r.revision {
		r.reached++
		r.look()
	}
}

// expect replaces the expectation.
func (r *Recorder) expect(objects, revision int32) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.objects, r.revision, r.reached, r.told = objects, revision, 0, false
	for _, finished := range r.finished {
		if finished >= revision {
			r.reached++
		}
	}
	r.look()
}

// look tells once that the expectation holds.
func (r *Recorder) look() {
	if r.told || r.reached < r.objects {
		return
	}
	r.told = true
	r.print(map[string]any{"event": "done", "objects": r.objects, "revision": r.revision, "at": now()})
}

func (r *Recorder) printTotals() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.print(map[string]any{"event": "totals", "reconciles": r.reconciles, "errors": r.errors, "writes": r.writes})
}

func (r *Recorder) printLatencies() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.print(map[string]any{"event": "latencies", "ms": r.latencies})
	r.latencies = r.latencies[:0]
}

// print writes a line at once. Nobody is left to tell when the harness is gone.
func (r *Recorder) print(event map[string]any) {
	line, err := json.Marshal(event)
	if err == nil {
		_, _ = r.out.Write(append(line, '\n'))
	}
}
