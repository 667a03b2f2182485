//! The model lane: one queue a model, and as many workers as it takes calls at once. The queue takes
//! the rows of all callers, so that batches fill up whoever asks.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_verifiers::{Backstop, BatchVerifier, Fault, Lane, Sample, Verdict};
use tokio::sync::mpsc::UnboundedSender;

use super::guarded;
use crate::engine::chunk::Judged;
use crate::engine::clock::{Clock, Deadline};
use crate::engine::plan::{Plan, Planned};

/// How long a batch that is not full waits for one more row.
const LINGER: Duration = Duration::from_millis(1);

/// The queue of one model.
pub(crate) struct Queue {
    jobs: Option<Sender<Job>>,
    workers: Vec<JoinHandle<()>>,
}

/// One row that waits for a model.
pub(crate) struct Job {
    pub(crate) samples: Arc<Vec<Sample>>,
    pub(crate) row: usize,
    pub(crate) reward: usize,
    pub(crate) reply: UnboundedSender<Judged>,
}

impl Queue {
    /// Starts the workers of reward `at`; `None` where that is not of this lane.
    pub(crate) fn start(
        plan: &Arc<Plan>,
        at: usize,
        clock: &Arc<dyn Clock>,
    ) -> std::io::Result<Option<Self>> {
        let Some(Lane::Model(verifier)) = plan.rewards.get(at).map(|r| &r.built.lane) else {
            return Ok(None);
        };
        let (jobs, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let mut queue = Self { jobs: Some(jobs), workers: Vec::new() };
        for _ in 0..verifier.calls_max().max(1) {
            let (plan, clock) = (Arc::clone(plan), Arc::clone(clock));
            let receiver = Arc::clone(&receiver);
            let worker = std::thread::Builder::new()
                .name(format!("assay-model-{at}"))
                .spawn(move || work(&plan, at, &*clock, &receiver))?;
            queue.workers.push(worker);
        }
        Ok(Some(queue))
    }

    /// Puts a row into the queue. Where the worker is gone, the reply channel closes unanswered.
    pub(crate) fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Closing the queue is what ends the workers.
        self.jobs = None;
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

fn work(plan: &Plan, at: usize, clock: &dyn Clock, queue: &Mutex<Receiver<Job>>) {
    let Some(Planned { built, .. }) = plan.rewards.get(at) else { return };
    let Lane::Model(verifier) = &built.lane else { return };
    while let Some(mut batch) = next(queue, verifier.batch_max().max(1)) {
        // A caller that left while it waited costs nothing.
        batch.retain(|job| !job.reply.is_closed());
        if batch.is_empty() {
            continue;
        }
        let start = clock.now_ns();
        // The limit is one verdict's, and a batch is worth its rows.
        let limit_ms = plan.config.limits.deadline_ms.saturating_mul(batch.len() as u64);
        let waiting =
            Waiting { batch: &batch, deadline: Deadline::after_ms(clock, start, limit_ms) };
        let verdicts = judge(&**verifier, &batch, &waiting);
        let spent_ns = clock.now_ns().saturating_sub(start) / batch.len() as u64;
        for (job, verdict) in batch.into_iter().zip(verdicts) {
            // A caller that left does not want its verdict.
            let judged = Judged { row: job.row, reward: job.reward, verdict, spent_ns };
            let _ = job.reply.send(judged);
        }
    }
}

/// A batch: what waits already, and what comes within the linger. One worker fills at a time;
/// `None` at the end.
fn next(queue: &Mutex<Receiver<Job>>, size: usize) -> Option<Vec<Job>> {
    let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let mut batch = vec![queue.recv().ok()?];
    while batch.len() < size {
        match queue.try_recv().or_else(|_| queue.recv_timeout(LINGER)) {
            Ok(job) => batch.push(job),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Some(batch)
}

/// The callers of a batch: they wait until all of them have left, or time is up.
struct Waiting<'a> {
    batch: &'a [Job],
    deadline: Deadline<'a>,
}

impl Backstop for Waiting<'_> {
    fn expired(&self) -> bool {
        self.deadline.expired() || self.batch.iter().all(|job| job.reply.is_closed())
    }
}

fn judge(verifier: &dyn BatchVerifier, batch: &[Job], backstop: &dyn Backstop) -> Vec<Verdict> {
    let samples: Vec<&Sample> = batch.iter().filter_map(|job| job.samples.get(job.row)).collect();
    let fault = match guarded(|| verifier.verify_batch(&samples, backstop)) {
        Ok(verdicts) if verdicts.len() == batch.len() => return verdicts,
        Ok(verdicts) => Fault::internal(format!(
            "the verifier answered {} of {} samples",
            verdicts.len(),
            batch.len()
        )),
        Err(fault) => fault,
    };
    batch.iter().map(|_| Verdict::failed(fault.clone())).collect()
}
