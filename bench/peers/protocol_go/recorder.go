// Package protocol is what the peers in Go share with each other and with the harness. This file counts reconciles and prints
// events, one line of JSON each.
package protocol

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Recorder knows the last finished revision of each object, and what the harness waits for. It may be used by many at once.
type Recorder struct {
	mutex sync.Mutex
	out   io.Writer

	// finished has the last finished revision at the index of each object.
	finished []int32
	// objects and revision are the expectation, and there are missing objects to go until it holds.
	objects, revision, missing int32

	reconciles, errors, writes int64
	latencies                  []float64
}

// NewRecorder makes a recorder with a first expectation, which prints to out.
func NewRecorder(out io.Writer, settings Settings) *Recorder {
	return &Recorder{
		out: out, finished: make([]int32, settings.Objects),
		objects: settings.Objects, revision: settings.Revision, missing: settings.Objects,
		latencies: []float64{},
	}
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
	if sent <= 0 {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if revision > r.last(index) {
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
	last := r.last(index)
	if revision <= last {
		return
	}
	if more := int(index) + 1 - len(r.finished); more > 0 {
		r.finished = append(r.finished, make([]int32, more)...)
	}
	r.finished[index] = revision
	if index < r.objects && last < r.revision && revision >= r.revision {
		if r.missing--; r.missing == 0 {
			r.done()
		}
	}
}

func (r *Recorder) last(index int32) int32 {
	if int(index) < len(r.finished) {
		return r.finished[index]
	}
	return 0
}

// expect replaces the expectation.
func (r *Recorder) expect(objects, revision int32) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.objects, r.revision, r.missing = objects, revision, 0
	for index := range objects {
		if r.last(index) < revision {
			r.missing++
		}
	}
	if r.missing == 0 {
		r.done()
	}
}

func (r *Recorder) done() {
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
