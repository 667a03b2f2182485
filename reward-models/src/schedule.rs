//! One queue a model, shared by all callers, and the workers that empty it.
//!
//! Texts of like length run together: a batch is padded to its longest, and what is padded is
//! computed for nothing. The plan is made anew over everything that waits whenever a worker is
//! free, which costs microseconds where a batch costs milliseconds.

pub mod plan;
pub mod prefix;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_verifiers::Backstop;

use crate::backend::{Session, Stop};
use crate::error::{ModelError, guarded};
use crate::forward::{Forward, Past};
use crate::score::Rows;
use crate::tokens::Tokens;
use plan::{Company, Plan, Waiting};
use prefix::{Prefix, Prefixes};

/// The most texts that wait; a caller with more waits itself.
const WAITING_MAX: usize = 4_096;
/// How often a caller that waits looks at its backstop.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A text that waits for its rows.
struct Job {
    at: usize,
    tokens: Arc<Tokens>,
    /// What it goes on from.
    prefix: Option<Arc<Prefix>>,
    reply: Sender<(usize, Result<Rows, ModelError>)>,
    left: Arc<AtomicBool>,
    /// Batches that were taken before it since it came.
    passed_over: u32,
}

/// Texts that a caller handed in. Dropping it gives them up: what waits is not run, and a batch in
/// which nobody is interested any more is stopped.
pub struct Ticket {
    shared: Arc<Shared>,
    left: Arc<AtomicBool>,
    replies: Receiver<(usize, Result<Rows, ModelError>)>,
    count: usize,
}

impl Ticket {
    /// Waits for all texts: their rows, in order. Those that are not there when `backstop` expires
    /// are [`ModelError::Stopped`].
    pub fn wait(self, backstop: &dyn Backstop) -> Vec<Result<Rows, ModelError>> {
        let mut found: Vec<Result<Rows, ModelError>> =
            (0..self.count).map(|_| Err(ModelError::Stopped)).collect();
        let mut missing = self.count;
        while missing > 0 && !backstop.expired() {
            match self.replies.recv_timeout(LOOK_EVERY) {
                Ok((at, rows)) => {
                    missing -= 1;
                    if let Some(slot) = found.get_mut(at) {
                        *slot = rows;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        found
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.left.store(true, Ordering::Relaxed);
        self.shared.stop_what_nobody_wants();
    }
}

/// What batches may be like.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most tokens of a batch, padding included.
    pub batch_tokens: usize,
    /// Memory for what texts begin with in common, in bytes.
    pub prefix_bytes: usize,
    /// What a text may share a batch with.
    pub company: Company,
}

/// The queue of a model and its workers.
pub struct Queue {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// Something waits, or the end has come.
    ready: Condvar,
    /// There is room.
    room: Condvar,
    forward: Forward,
    /// The most tokens of a batch, padding included.
    budget: usize,
    company: Company,
    /// Beginnings that texts share; `None` where the graph takes no past.
    prefixes: Option<Prefixes>,
}

#[derive(Default)]
struct State {
    waiting: Vec<Job>,
    /// Batches that were too large for the memory, in halves.
    halves: VecDeque<Vec<Job>>,
    /// Along the workers: who waits for the batch that runs, and what stops it.
    running: Vec<Option<Running>>,
    ended: bool,
}

struct Running {
    wanted_by: Vec<Arc<AtomicBool>>,
    stopper: Arc<dyn Stop>,
}

impl Queue {
    /// Starts a worker for each session.
    ///
    /// # Errors
    /// When the operating system refuses a thread.
    pub fn start(
        forward: Forward,
        sessions: Vec<Box<dyn Session>>,
        limits: Limits,
    ) -> std::io::Result<Self> {
        let state = State { running: sessions.iter().map(|_| None).collect(), ..State::default() };
        let keeps = forward.takes_past() && limits.prefix_bytes > 0;
        let prefixes = keeps.then(|| Prefixes::new(limits.prefix_bytes));
        let shared = Arc::new(Shared {
            prefixes,
            state: Mutex::new(state),
            ready: Condvar::new(),
            room: Condvar::new(),
            forward,
            budget: limits.batch_tokens,
            company: limits.company,
        });
        let mut queue = Self { shared, workers: Vec::new() };
        for (at, session) in sessions.into_iter().enumerate() {
            let shared = Arc::clone(&queue.shared);
            let worker = std::thread::Builder::new()
                .name(format!("assay-model-{at}"))
                .spawn(move || shared.work(at, session))?;
            queue.workers.push(worker);
        }
        Ok(queue)
    }

    /// Hands texts in. Waits while too many wait already.
    pub fn submit(&self, texts: Vec<Arc<Tokens>>) -> Ticket {
        let (reply, replies) = channel();
        let left = Arc::new(AtomicBool::new(false));
        let count = texts.len();
        let texts: Vec<(Arc<Tokens>, Option<Arc<Prefix>>)> = match &self.shared.prefixes {
            Some(prefixes) => prefixes.split(texts),
            None => texts.into_iter().map(|text| (text, None)).collect(),
        };
        let mut state = self.shared.lock();
        for (at, (tokens, prefix)) in texts.into_iter().enumerate() {
            while state.waiting.len() >= WAITING_MAX && !state.ended {
                state = self.shared.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let (reply, left) = (reply.clone(), Arc::clone(&left));
            state.waiting.push(Job { at, tokens, prefix, reply, left, passed_over: 0 });
            self.shared.ready.notify_one();
        }
        drop(state);
        Ticket { shared: Arc::clone(&self.shared), left, replies, count }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.ended = true;
            state.waiting.clear();
            state.halves.clear();
        }
        self.shared.ready.notify_all();
        self.shared.room.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, worker: usize, mut session: Box<dyn Session>) {
        let stopper = session.stopper();
        while let Some(batch) = self.next(worker, &stopper) {
            let texts: Vec<&Tokens> = batch.iter().map(|job| &*job.tokens).collect();
            let prefix = batch.first().and_then(|job| job.prefix.as_ref());
            let found = guarded(|| {
                let past = prefix.map(|prefix| prefix.past(&self.forward, &mut *session));
                self.run(&mut *session, &texts, past.transpose()?.as_deref())
            });
            if prefix.is_some() {
                // Whoever waited for the prefix can go on from it.
                self.ready.notify_all();
            }
            if let Some(slot) = self.lock().running.get_mut(worker) {
                *slot = None;
            }
            // Who left when the batch had ended must not stop the next one.
            stopper.rearm();
            self.answer(batch, found);
        }
    }

    fn run(
        &self,
        session: &mut dyn Session,
        texts: &[&Tokens],
        past: Option<&Past>,
    ) -> Result<Vec<Rows>, ModelError> {
        match texts {
            [text] if text.writing.is_some() => Ok(vec![self.forward.write(session, text, past)?]),
            texts => self.forward.run(session, texts, past),
        }
    }

    /// The next batch; `None` at the end.
    fn next(&self, worker: usize, stopper: &Arc<dyn Stop>) -> Option<Vec<Job>> {
        let mut state = self.lock();
        let batch = loop {
            if state.ended {
                return None;
            }
            if let Some(half) = state.halves.pop_front() {
                break half;
            }
            state.waiting.retain(|job| !job.left.load(Ordering::Relaxed));
            if let Some(batch) = state.take(self.budget, self.company) {
                break batch;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        let wanted_by = batch.iter().map(|job| Arc::clone(&job.left)).collect();
        if let Some(slot) = state.running.get_mut(worker) {
            *slot = Some(Running { wanted_by, stopper: Arc::clone(stopper) });
        }
        drop(state);
        self.room.notify_all();
        Some(batch)
    }

    fn answer(&self, mut batch: Vec<Job>, found: Result<Vec<Rows>, ModelError>) {
        match found {
            Ok(rows) => {
                for (job, rows) in batch.into_iter().zip(rows) {
                    // A caller that left does not want its rows.
                    let _ = job.reply.send((job.at, Ok(rows)));
                }
            }
            Err(ModelError::Memory(_)) if batch.len() > 1 => {
                let rest = batch.split_off(batch.len() / 2);
                let mut state = self.lock();
                state.halves.extend([batch, rest]);
                self.ready.notify_all();
            }
            Err(error) => {
                for job in batch {
                    let _ = job.reply.send((job.at, Err(error.clone())));
                }
            }
        }
    }

    /// Stops batches of which every caller has left.
    fn stop_what_nobody_wants(&self) {
        for running in self.lock().running.iter().flatten() {
            if running.wanted_by.iter().all(|left| left.load(Ordering::Relaxed)) {
                running.stopper.stop();
            }
        }
    }
}

impl State {
    /// Plans what waits, and takes one batch out of it.
    fn take(&mut self, budget: usize, company: Company) -> Option<Vec<Job>> {
        let free = |job: &Job| !job.prefix.as_ref().is_some_and(|prefix| prefix.is_under_way());
        let free = self.waiting.iter().enumerate().filter(|(_, job)| free(job));
        let waiting = free.map(|(at, job)| Waiting {
            at,
            length: job.tokens.ids.len(),
            alone: job.prefix.is_some() || job.tokens.writing.is_some(),
            passed_over: job.passed_over,
        });
        let chosen = Plan::of(waiting.collect(), budget, company).first()?;
        let mut taken = Vec::with_capacity(chosen.len());
        // From the back, so that what is swapped in stays in its place.
        let mut order = chosen;
        order.sort_unstable_by(|a, b| b.cmp(a));
        for at in order {
            if at < self.waiting.len() {
                taken.push(self.waiting.swap_remove(at));
            }
        }
        if let Some(prefix) = taken.first().and_then(|job: &Job| job.prefix.as_ref()) {
            prefix.claim();
        }
        for job in &mut self.waiting {
            job.passed_over = job.passed_over.saturating_add(1);
        }
        Some(taken)
    }
}
