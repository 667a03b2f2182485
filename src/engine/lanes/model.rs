//! The model lane: one queue and one worker a model. The queue takes the rows of all callers, so
//! that batches fill up whoever asks.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_verifiers::{BatchVerifier, Fault, Lane, Sample, Verdict};
use tokio::sync::mpsc::UnboundedSender;

use super::guarded;
use crate::engine::chunk::Judged;
use crate::engine::clock::Clock;
use crate::engine::plan::{Plan, Planned};

/// How long a batch that is not full waits for one more row.
const LINGER: Duration = Duration::from_millis(1);

/// The queue of one model.
pub(crate) struct Queue {
    jobs: Option<Sender<Job>>,
    worker: Option<JoinHandle<()>>,
}

/// One row that waits for a model.
pub(crate) struct Job {
    pub(crate) samples: Arc<Vec<Sample>>,
    pub(crate) row: usize,
    pub(crate) reward: usize,
    pub(crate) reply: UnboundedSender<Judged>,
}

impl Queue {
    /// Starts the worker of reward `at`; `None` where that is not of this lane.
    pub(crate) fn start(
        plan: &Arc<Plan>,
        at: usize,
        clock: &Arc<dyn Clock>,
    ) -> std::io::Result<Option<Self>> {
        if !matches!(plan.rewards.get(at).map(|r| &r.built.lane), Some(Lane::Model(_))) {
            return Ok(None);
        }
        let (jobs, receiver) = channel();
        let (plan, clock) = (Arc::clone(plan), Arc::clone(clock));
        let worker = std::thread::Builder::new()
            .name(format!("assay-model-{at}"))
            .spawn(move || work(&plan, at, &*clock, &receiver))?;
        Ok(Some(Self { jobs: Some(jobs), worker: Some(worker) }))
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
        // Closing the queue is what ends the worker.
        self.jobs = None;
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

fn work(plan: &Plan, at: usize, clock: &dyn Clock, queue: &Receiver<Job>) {
    let Some(Planned { built, .. }) = plan.rewards.get(at) else { return };
    let Lane::Model(verifier) = &built.lane else { return };
    while let Ok(first) = queue.recv() {
        let batch = fill(first, verifier.batch_max().max(1), queue);
        let start = clock.now_ns();
        let verdicts = judge(&**verifier, &batch);
        let spent_ns = clock.now_ns().saturating_sub(start) / batch.len() as u64;
        for (job, verdict) in batch.into_iter().zip(verdicts) {
            // A caller that left does not want its verdict.
            let judged = Judged { row: job.row, reward: job.reward, verdict, spent_ns };
            let _ = job.reply.send(judged);
        }
    }
}

/// A batch: what waits already, and what comes within the linger.
fn fill(first: Job, size: usize, queue: &Receiver<Job>) -> Vec<Job> {
    let mut batch = vec![first];
    while batch.len() < size {
        match queue.try_recv().or_else(|_| queue.recv_timeout(LINGER)) {
            Ok(job) => batch.push(job),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    batch
}

fn judge(verifier: &dyn BatchVerifier, batch: &[Job]) -> Vec<Verdict> {
    let samples: Vec<&Sample> = batch.iter().filter_map(|job| job.samples.get(job.row)).collect();
    let fault = match guarded(|| verifier.verify_batch(&samples)) {
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
