//! Speaks the harness's protocol: commands on stdin and events on stdout, one a line.
//!
//! `expect N R`, `totals` and `latencies` come in; `first`, `done`, `totals` and `latencies` go out. The end of stdin stops the
//! operator.
use std::{
    io::{self, BufRead, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::widget::WidgetSpec;

/// What reconciles have done, and what the harness waits for.
pub struct Protocol {
    begun: AtomicBool,
    reconciles: AtomicU64,
    errors: AtomicU64,
    writes: AtomicU64,
    progress: Mutex<Progress>,
    timings: Mutex<Timings>,
}

/// The last revision that was finished of each index, and how many of them are as new as expected.
struct Progress {
    finished: Vec<i32>,
    objects: usize,
    revision: i32,
    met: usize,
    done: bool,
}

/// The last revision that was timed of each index, and the times since the latest answer.
#[derive(Default)]
struct Timings {
    timed: Vec<i32>,
    milliseconds: Vec<f64>,
}

fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs_f64() * 1000.0
}

fn emit(event: &Value) {
    let mut out = io::stdout().lock();
    // The harness that no longer reads is gone; the end of stdin stops the operator.
    let _ = writeln!(out, "{event}").and_then(|()| out.flush());
}

/// Raises the entry of an index; answers with the one before, or nothing when it is as new already.
fn raise(revisions: &mut Vec<i32>, index: u32, revision: i32) -> Option<i32> {
    let index = index as usize;
    if index >= revisions.len() {
        revisions.resize(index + 1, 0);
    }
    let before = revisions[index];
    if revision <= before {
        return None;
    }
    revisions[index] = revision;
    Some(before)
}

impl Progress {
    fn expect(&mut self, objects: usize, revision: i32) {
        self.objects = objects;
        self.revision = revision;
        self.met = self.finished.iter().filter(|each| **each >= revision).count();
        self.done = false;
        self.check();
    }

    fn finish(&mut self, index: u32, revision: i32) {
        if let Some(before) = raise(&mut self.finished, index, revision)
            && before < self.revision
            && revision >= self.revision
        {
            self.met += 1;
            self.check();
        }
    }

    fn check(&mut self) {
        if !self.done && self.met >= self.objects {
            self.done = true;
            emit(&json!({ "event": "done", "objects": self.objects, "revision": self.revision, "at": now() }));
        }
    }
}

impl Protocol {
    /// Listens for commands; cancels `stop` at the end of stdin.
    pub fn start(objects: usize, revision: i32, stop: CancellationToken) -> Arc<Self> {
        let protocol = Arc::new(Self {
            begun: AtomicBool::new(false),
            reconciles: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            progress: Mutex::new(Progress {
                finished: vec![0; objects],
                objects,
                revision,
                met: 0,
                done: objects == 0,
            }),
            timings: Mutex::default(),
        });
        // A thread of its own: a read of tokio's stdin would hold up the end of the runtime.
        thread::spawn({
            let protocol = protocol.clone();
            move || {
                for line in io::stdin().lock().lines().map_while(Result::ok) {
                    protocol.answer(&line);
                }
                stop.cancel();
            }
        });
        protocol
    }

    /// Notes that a reconcile starts.
    pub fn started(&self, spec: &WidgetSpec) {
        self.reconciles.fetch_add(1, Relaxed);
        if !self.begun.load(Relaxed) && !self.begun.swap(true, Relaxed) {
            emit(&json!({ "event": "first", "at": now() }));
        }
        if spec.sent > 0.0 {
            let mut timings = self.timings.lock().unwrap();
            if raise(&mut timings.timed, spec.index, spec.revision).is_some() {
                timings.milliseconds.push(now() - spec.sent);
            }
        }
    }

    /// Notes that a reconcile finished, its writes answered.
    pub fn finished(&self, spec: &WidgetSpec) {
        self.progress.lock().unwrap().finish(spec.index, spec.revision);
    }

    /// Notes that a reconcile failed.
    pub fn failed(&self) {
        self.errors.fetch_add(1, Relaxed);
    }

    /// Notes that the reconciler writes.
    pub fn writes(&self) {
        self.writes.fetch_add(1, Relaxed);
    }

    /// Answers with the totals since the start, by name.
    pub fn totals(&self) -> [(&'static str, u64); 3] {
        [
            ("reconciles", self.reconciles.load(Relaxed)),
            ("errors", self.errors.load(Relaxed)),
            ("writes", self.writes.load(Relaxed)),
        ]
    }

    fn answer(&self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["expect", objects, revision] => match (objects.parse(), revision.parse()) {
                (Ok(objects), Ok(revision)) => self.progress.lock().unwrap().expect(objects, revision),
                _ => error!("Cannot expect {objects} {revision}: both must be integers"),
            },
            ["totals"] => {
                let mut event = json!({ "event": "totals" });
                for (name, total) in self.totals() {
                    event[name] = total.into();
                }
                emit(&event);
            }
            ["latencies"] => {
                let milliseconds = std::mem::take(&mut self.timings.lock().unwrap().milliseconds);
                emit(&json!({ "event": "latencies", "ms": milliseconds }));
            }
            _ => error!("Cannot answer a command that is not known: {line}"),
        }
    }
}
