//! The compute lane: one sample at a time, on a pool of threads.

use assay_verifiers::{Lane, Meter, Sample, Verdict};
use rayon::ThreadPool;
use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _,
};
use tokio::sync::oneshot;

use super::guarded_verdict;
use crate::engine::cache::Cache;
use crate::engine::chunk::Row;
use crate::engine::clock::Deadline;
use crate::engine::plan::Planned;
use crate::engine::shared::Shared;

/// The threads of the compute lane.
pub(crate) struct Pool(ThreadPool);

impl Pool {
    pub(crate) fn new(jobs: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        // Parsers recurse to a fixed depth; the stack has room for it many times over.
        let name = |at| format!("assay-compute-{at}");
        let builder = rayon::ThreadPoolBuilder::new().num_threads(jobs).thread_name(name);
        builder.stack_size(8 << 20).build().map(Self)
    }

    /// Runs `work` on the pool. `None` where it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = oneshot::channel();
        self.0.spawn(move || {
            // The receiver is gone only when the caller is: nobody wants the answer then.
            let _ = sender.send(super::guarded(work).ok());
        });
        receiver.await.ok().flatten()
    }
}

impl Shared {
    /// Judges every row by the compute verifiers among `stage`, in place. For the others it only
    /// decides: what is known already is recorded, and the rest comes back as (row, reward).
    pub(in crate::engine) fn compute(
        &self,
        stage: &[usize],
        samples: &[Sample],
        rows: &mut [Row],
    ) -> Vec<(usize, usize)> {
        let judge = |(at, (row, sample)): (usize, (&mut Row, &Sample))| {
            self.compute_row(stage, sample, row).into_iter().map(move |reward| (at, reward))
        };
        rows.par_iter_mut().zip(samples).enumerate().flat_map_iter(judge).collect()
    }

    fn compute_row(&self, stage: &[usize], sample: &Sample, row: &mut Row) -> Vec<usize> {
        let mut waiting = Vec::new();
        for &at in stage {
            let Some(reward) = self.plan.rewards.get(at) else { continue };
            let start = self.clock.now_ns();
            let known = self.known(at, reward, sample, row);
            let Some(verdict) = known.or_else(|| self.judge(reward, sample, start)) else {
                waiting.push(at);
                continue;
            };
            row.record(at, verdict, self.clock.now_ns().saturating_sub(start));
        }
        waiting
    }

    /// The verdict, where it takes no verifier to know it: ruled out, or kept from another run.
    fn known(&self, at: usize, reward: &Planned, sample: &Sample, row: &Row) -> Option<Verdict> {
        self.plan.ruled_out(at, reward, sample, &row.verdicts).or_else(|| {
            let cache = self.cache.as_ref()?;
            cache.get(&Cache::key(reward.cache_key.as_ref()?, sample))
        })
    }

    /// Runs a compute verifier; `None` for those of other lanes.
    fn judge(&self, reward: &Planned, sample: &Sample, now_ns: u64) -> Option<Verdict> {
        let Lane::Compute(verifier) = &reward.built.lane else { return None };
        let deadline =
            Deadline::after_ms(&*self.clock, now_ns, self.plan.config.limits.deadline_ms);
        let mut meter = Meter::new(reward.fuel).with_backstop(&deadline);
        let verdict = guarded_verdict(|| verifier.verify(sample, &mut meter));
        self.keep(reward, sample, &verdict);
        Some(verdict)
    }

    /// Keeps a verdict for the next run, where the reward asks for it.
    pub(in crate::engine) fn keep(&self, reward: &Planned, sample: &Sample, verdict: &Verdict) {
        if let (Some(cache), Some(key)) = (&self.cache, &reward.cache_key) {
            cache.put(&Cache::key(key, sample), verdict);
        }
    }
}
