//! The scheduler of a model: one queue, shared by all callers, and the workers that empty it by dynamic
//! batching.
//!
//! Texts of like length run together: a batch is padded to its longest, and what is padded is
//! computed for nothing. The plan is made anew over a window of what waits whenever a worker is
//! free, which costs microseconds where a batch costs milliseconds.
//!
//! Only the workers block: a submitted text is a future. A text that equals one that waits, runs or was
//! computed shortly before is not computed again. Dropping the last waiter cancels the request.

mod memo;
pub mod plan;
pub mod prefix;
mod ticket;

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use futures_channel::oneshot::Receiver;

use crate::backend::{Interrupt, Session};
use crate::compatibility::Compatibility;
use crate::error::{ModelError, guarded};
use crate::forward::{Forward, Past};
use crate::score::ModelOutput;
use crate::tokens::Tokens;
use memo::{Key, Memo};
use plan::{BatchRules, Waiting, Window};
use prefix::{Prefix, Prefixes};
pub use ticket::Ticket;
use ticket::{Cancellable, Found, Waiters};

/// What a token takes to be read, and much less than what it takes to be computed.
const READING_TIME: Duration = Duration::from_micros(10);
/// Tokens below which a batch is not shared among the workers that are idle.
const SHARE_MIN: usize = 128;
/// The most texts that an idle worker lets come before it begins.
const GATHERED_MAX: usize = 64;

/// A text that waits for its rows.
struct Job {
    text: Arc<Tokens>,
    /// What it goes on from; the rest is run.
    prefix: Option<Arc<Prefix>>,
    /// `None` where equal texts are computed each.
    key: Option<Key>,
    waiters: Arc<Waiters>,
    /// Batches that were taken before it since it came.
    passed_over: u32,
    /// The window that it came into.
    window: u64,
}

impl Job {
    /// What is run of the text.
    fn rest(&self) -> Arc<Tokens> {
        match &self.prefix {
            Some(prefix) => Arc::new(prefix.rest(&self.text)),
            None => Arc::clone(&self.text),
        }
    }

    /// Its tokens.
    fn length(&self) -> usize {
        let before = self.prefix.as_ref().map_or(0, |prefix| prefix.length());
        self.text.ids.len().saturating_sub(before)
    }
}

/// What batches may be like.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// The most tokens of a batch, padding included.
    pub batch_tokens: usize,
    /// Memory for what texts begin with in common, in bytes.
    pub prefix_bytes: usize,
    /// Memory for the rows of texts that were computed, in bytes; 0 computes every text, also
    /// those that are equal.
    pub memo_bytes: usize,
    /// What a text may share a batch with.
    pub compatibility: Compatibility,
}

/// The queue of a model and its workers. Dropping it stops what runs and what waits.
pub struct Queue {
    shared: Arc<Scheduler>,
    workers: Vec<JoinHandle<()>>,
}

struct Scheduler {
    state: Mutex<State>,
    /// Something waits, or the end has come.
    ready: Condvar,
    forward: Forward,
    rules: BatchRules,
    /// Beginnings that texts share; `None` where the graph takes no past.
    prefixes: Option<Prefixes>,
    /// Equal texts are computed once.
    keyed: bool,
    /// Texts that were computed.
    computed: AtomicU64,
}

#[derive(Default)]
struct State {
    waiting: Vec<Job>,
    /// Which of them are planned.
    window: Window,
    /// Batches that failed, in halves.
    halves: VecDeque<Vec<Job>>,
    /// Along the workers: the waiters of the running batch, and what cancels it.
    running: Vec<Option<Running>>,
    /// The waiters of texts that wait or run, by key.
    open: HashMap<Key, Arc<Waiters>>,
    /// What was computed; `None` where equal texts are computed each.
    memo: Option<Memo>,
    /// A text came since the last plan: it may share its beginning with others.
    fresh: bool,
    /// A waiter was dropped since the last plan.
    left: bool,
    ended: bool,
}

struct Running {
    wanted_by: Vec<Arc<Waiters>>,
    stopper: Arc<dyn Interrupt>,
}

impl Queue {
    /// Starts a worker for each session.
    ///
    /// # Errors
    /// When the operating system refuses a thread.
    pub fn start(
        forward: Forward,
        sessions: Vec<Box<dyn Session>>,
        limits: QueueLimits,
    ) -> std::io::Result<Self> {
        let keyed = limits.memo_bytes > 0;
        let state = State {
            running: sessions.iter().map(|_| None).collect(),
            memo: keyed.then(|| Memo::new(limits.memo_bytes)),
            ..State::default()
        };
        let keeps = forward.takes_past() && limits.prefix_bytes > 0;
        let shared = Arc::new(Scheduler {
            prefixes: keeps.then(|| Prefixes::new(limits.prefix_bytes)),
            rules: BatchRules {
                budget: limits.batch_tokens,
                copied: limits.prefix_bytes / forward.past_bytes().max(1),
                compatibility: limits.compatibility,
            },
            state: Mutex::new(state),
            ready: Condvar::new(),
            forward,
            keyed,
            computed: AtomicU64::new(0),
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

    /// Submits texts, and gives a future for each. Never waits: the caller bounds what is in flight.
    pub fn submit(&self, texts: Vec<Arc<Tokens>>) -> Vec<Ticket> {
        let shared = &self.shared;
        let keys: Vec<Option<Key>> =
            texts.iter().map(|text| shared.keyed.then(|| Key::of(text))).collect();
        let mut state = shared.lock();
        let mut enter = |(text, key)| {
            let (found, is_new) = state.enter(text, key);
            if is_new {
                shared.ready.notify_one();
            }
            let shared = Arc::downgrade(shared);
            Ticket::new(found, shared)
        };
        texts.into_iter().zip(keys).map(&mut enter).collect()
    }

    /// How many texts were computed so far: those that equal another one are not.
    pub fn computed(&self) -> u64 {
        self.shared.computed.load(Ordering::Relaxed)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let given_up = {
            let mut state = self.shared.lock();
            state.ended = true;
            for running in state.running.iter().flatten() {
                running.stopper.stop();
            }
            (
                mem::take(&mut state.waiting),
                mem::take(&mut state.halves),
                mem::take(&mut state.open),
            )
        };
        self.shared.ready.notify_all();
        // Waiters are answered without the lock.
        drop(given_up);
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

impl Scheduler {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, worker: usize, mut session: Box<dyn Session>) {
        let stopper = session.stopper();
        while let Some(batch) = self.next(worker, &stopper) {
            let texts: Vec<Arc<Tokens>> = batch.iter().map(Job::rest).collect();
            let texts: Vec<&Tokens> = texts.iter().map(|text| &**text).collect();
            let prefix = batch.first().and_then(|job| job.prefix.as_ref());
            let found = guarded(|| {
                let past = prefix.map(|prefix| prefix.past(&self.forward, &mut *session));
                self.run(&mut *session, &texts, past.transpose()?.as_deref())
            });
            if let Some(slot) = self.lock().running.get_mut(worker) {
                *slot = None;
            }
            if prefix.is_some() {
                // Texts that waited for the prefix can go on from it.
                self.ready.notify_all();
            }
            // A waiter that was dropped after the end of the batch must not cancel the next one.
            stopper.rearm();
            self.answer(batch, found);
        }
    }

    fn run(
        &self,
        session: &mut dyn Session,
        texts: &[&Tokens],
        past: Option<&Past>,
    ) -> Result<Vec<ModelOutput>, ModelError> {
        match texts {
            [text] if text.sampling.is_some() => {
                Ok(vec![self.forward.generate(session, text, past)?])
            }
            texts => self.forward.run(session, texts, past),
        }
    }

    /// The next batch; `None` at the end.
    fn next(&self, worker: usize, stopper: &Arc<dyn Interrupt>) -> Option<Vec<Job>> {
        let mut state = self.lock();
        let batch = loop {
            if state.ended {
                return None;
            }
            state.drop_cancelled();
            if let Some(half) = state.halves.pop_front() {
                break half;
            }
            if let Some(prefixes) = &self.prefixes {
                state.split(prefixes);
            }
            if let Some(batch) = state.take(self.rules) {
                break batch;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            if self.prefixes.is_some() {
                state = self.gathered(state);
            }
        };
        if self.prefixes.is_some() && !state.waiting.is_empty() {
            // Who gathered took the calls of several texts.
            self.ready.notify_one();
        }
        let wanted_by = batch.iter().map(|job| Arc::clone(&job.waiters)).collect();
        if let Some(slot) = state.running.get_mut(worker) {
            *slot = Some(Running { wanted_by, stopper: Arc::clone(stopper) });
        }
        Some(batch)
    }

    /// Waits until no more texts come: the criteria of a sample are handed in one by one, and the first of
    /// them would be run whole before another one shares its prefix.
    fn gathered<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        for _ in 0..GATHERED_MAX {
            let known = state.waiting.len();
            let longest = state.waiting.iter().map(Job::length).max().unwrap_or(0);
            let lull = READING_TIME * u32::try_from(longest).unwrap_or(u32::MAX);
            let waited = self.ready.wait_timeout(state, lull);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.ended || state.waiting.len() == known {
                break;
            }
        }
        state
    }

    fn answer(&self, mut batch: Vec<Job>, found: Result<Vec<ModelOutput>, ModelError>) {
        let mut state = self.lock();
        match found {
            // Too much for the memory, or a text among them that the model cannot take: it must not
            // cost the others their scores.
            Err(ref error) if batch.len() > 1 && *error != ModelError::Stopped => {
                let rest = batch.split_off(batch.len() / 2);
                state.halves.extend([batch, rest]);
                self.ready.notify_all();
            }
            Err(ModelError::Stopped) if !state.ended => {
                // The batch, or its prefix, was cancelled; texts that have new waiters go back
                // into the queue.
                for job in batch {
                    state.wait_anew(job);
                }
                self.ready.notify_all();
            }
            found => {
                let mut found = found.map(Vec::into_iter);
                let mut told = Vec::with_capacity(batch.len());
                for job in batch {
                    let found: Found = match &mut found {
                        Ok(rows) => rows.next().map(Arc::new).ok_or_else(|| {
                            ModelError::Run("the graph gave too few rows".to_owned())
                        }),
                        Err(error) => Err(error.clone()),
                    };
                    self.computed.fetch_add(u64::from(found.is_ok()), Ordering::Relaxed);
                    state.close(job.key, found.as_ref().ok());
                    told.push((job.waiters, found));
                }
                drop(state);
                for (waiters, found) in told {
                    waiters.answer(&found);
                }
            }
        }
    }
}

impl Cancellable for Scheduler {
    fn waiter_left(&self) {
        let mut state = self.lock();
        state.left = true;
        for running in state.running.iter().flatten() {
            if !running.wanted_by.iter().any(|waiters| waiters.any()) {
                running.stopper.stop();
            }
        }
    }
}

impl State {
    /// Takes a text in: what answers it, and whether it has to be computed.
    fn enter(&mut self, text: Arc<Tokens>, key: Option<Key>) -> (Receiver<Found>, bool) {
        if let (Some(key), Some(memo)) = (&key, &mut self.memo) {
            if let Some(rows) = memo.get(key) {
                return (ticket::answered(Ok(rows)), false);
            }
            if let Some(waiters) = self.open.get(key) {
                return (waiters.join(), false);
            }
        }
        let waiters = Arc::new(Waiters::default());
        let found = waiters.join();
        if let Some(key) = key {
            self.open.insert(key, Arc::clone(&waiters));
        }
        let window = self.window.arrival();
        self.waiting.push(Job { text, prefix: None, key, waiters, passed_over: 0, window });
        self.fresh = true;
        (found, true)
    }

    /// A text is done: no waiter can join it any more. Its output is kept where there is any.
    fn close(&mut self, key: Option<Key>, rows: Option<&Arc<ModelOutput>>) {
        let Some(key) = key else { return };
        self.open.remove(&key);
        if let (Some(memo), Some(rows)) = (&mut self.memo, rows) {
            memo.put(key, rows);
        }
    }

    /// Puts a text back whose batch was cancelled, if it has waiters.
    fn wait_anew(&mut self, job: Job) {
        if job.waiters.any() {
            self.waiting.push(Job { prefix: None, ..job });
            self.fresh = true;
        } else {
            self.close(job.key, None);
        }
    }

    /// Drops requests without waiters.
    fn drop_cancelled(&mut self) {
        if !mem::take(&mut self.left) {
            return;
        }
        let open = &mut self.open;
        let mut wanted = |job: &Job| {
            let wanted = job.waiters.any();
            if let (false, Some(key)) = (wanted, &job.key) {
                open.remove(key);
            }
            wanted
        };
        self.waiting.retain(&mut wanted);
        for half in &mut self.halves {
            half.retain(&mut wanted);
        }
        self.halves.retain(|half| !half.is_empty());
    }

    /// Finds what the texts that wait begin with in common, where one came since the last time.
    fn split(&mut self, prefixes: &Prefixes) {
        if !mem::take(&mut self.fresh) {
            return;
        }
        let texts: Vec<&Tokens> = self.waiting.iter().map(|job| &*job.text).collect();
        let found = prefixes.of(&texts);
        for (job, prefix) in self.waiting.iter_mut().zip(found) {
            job.prefix = prefix;
        }
    }

    /// Plans what waits, and takes one batch out of it: of little, the share of one of the idle workers.
    fn take(&mut self, mut rules: BatchRules) -> Option<Vec<Job>> {
        let free = |job: &Job| !job.prefix.as_ref().is_some_and(|prefix| prefix.is_under_way());
        let free = self.waiting.iter().enumerate().filter(|(_, job)| free(job));
        let waiting = free.map(|(at, job)| Waiting {
            at,
            length: job.length(),
            alone: job.text.sampling.is_some(),
            behind: job.prefix.as_ref().map(|prefix| (Arc::as_ptr(prefix).addr(), prefix.length())),
            passed_over: job.passed_over,
            window: job.window,
        });
        let waiting: Vec<Waiting> = waiting.collect();
        let idle = self.running.iter().filter(|running| running.is_none()).count();
        let tokens: usize = waiting.iter().map(|one| one.length).sum();
        rules.budget = rules.budget.min(tokens.div_ceil(idle.max(1)).max(SHARE_MIN));
        let chosen = self.window.next(waiting, &rules)?;
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

#[cfg(test)]
mod tests;
