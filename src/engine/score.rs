//! The engine: scoring of samples, with a bounded intake (backpressure) over all callers.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use assay_verifiers::{Fault, FaultKind, Sample, Scored};
use futures_util::stream::{self as futures, StreamExt as _};
use tokio::runtime::{Handle, Runtime, RuntimeFlavor};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::unconstrained;
use tokio_util::task::AbortOnDropHandle;

use super::activity::Activity;
use super::cache::{Cache, CacheCounts};
use super::call::{Call, GiveUp, ScoreOptions};
use super::core::Core;
use super::groups;
use super::plan::Plan;

/// Samples that travel together when nothing needs them apart or together.
pub(super) const CHUNK_ROWS: usize = 256;
/// What a call may take beyond its deadline, so that verifiers that stop at it are heard.
const GRACE: Duration = Duration::from_millis(10);

/// A plan at work. Share it behind an [`Arc`]: every caller's samples meet in the same lanes.
///
/// It can be made, used and dropped inside any async runtime and on any thread. Dropping it gives up
/// what is still under way.
///
/// ```
/// use assay::{Config, Engine, verifiers::Sample};
///
/// let config = "version = 1\n[[reward]]\nname = 'correct'\nverifier = 'math'\n";
/// let engine = Engine::builder().config(Config::parse("assay.toml", config)?).build()?;
/// let sample = Sample::builder("So it is \\boxed{\\frac{1}{2}}.").reference("0.5").build();
/// let scored = engine.score(vec![sample]);
/// assert_eq!(scored[0].reward(), Some(1.0));
/// assert!(scored[0].verdict("correct").is_some());
/// # Ok::<(), assay::EngineError>(())
/// ```
pub struct Engine {
    pub(super) core: Arc<Core>,
    /// Where awaited work is polled; taken only by `drop`.
    pub(super) runtime: Option<Runtime>,
    /// Room for samples in flight, over all callers of [`Engine::score_async`].
    pub(super) intake: Arc<Semaphore>,
    pub(super) intake_rows: usize,
    pub(super) jobs: usize,
}

impl Engine {
    /// The plan that is at work.
    pub fn plan(&self) -> &Plan {
        &self.core.plan
    }

    /// What the engine is at, for people who wait.
    pub fn activity(&self) -> Arc<Activity> {
        Arc::clone(&self.core.activity)
    }

    /// Threads of the compute lane.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// How the cache fared so far; `None` where nothing is kept.
    pub fn cache_counts(&self) -> Option<CacheCounts> {
        self.core.cache.as_ref().map(Cache::counts)
    }

    /// What judges were asked so far; `None` where none was asked.
    #[cfg(feature = "rubrics")]
    pub fn judge_report(&self) -> Option<serde_json::Value> {
        let report = self.plan().judges.report();
        let asked = !report.judges.is_empty();
        asked.then(|| serde_json::to_value(report).unwrap_or_default())
    }

    /// In place of what judges were asked, in a build without them.
    #[cfg(not(feature = "rubrics"))]
    pub fn judge_report(&self) -> Option<serde_json::Value> {
        None
    }

    /// Fails where a reply of a judge could not be kept in its store.
    ///
    /// # Errors
    /// How many were lost, and why.
    #[cfg(feature = "rubrics")]
    pub fn replies_kept(&self) -> Result<(), String> {
        let store = self.plan().judges.report().store;
        match store.and_then(|store| store.error.map(|why| (store.lost, why))) {
            Some((lost, why)) => Err(format!("{lost} replies of judges were not kept: {why}")),
            None => Ok(()),
        }
    }

    /// In place of the store of replies, in a build without judges.
    ///
    /// # Errors
    /// None.
    #[cfg(not(feature = "rubrics"))]
    pub fn replies_kept(&self) -> Result<(), String> {
        Ok(())
    }

    /// Runs work that is not a row of a dataset, such as an audit, on the threads of the engine.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.core.pool.install(work)
    }

    /// Judges samples and waits for them: one [`Scored`] each, in their order. Samples of one
    /// group may stand anywhere among them.
    ///
    /// The thread is blocked meanwhile. Inside an async runtime, await [`Engine::score_async`]
    /// instead.
    pub fn score(&self, samples: impl IntoIterator<Item = Sample>) -> Vec<Scored> {
        self.score_with(samples, ScoreOptions::default())
    }

    /// The same with a deadline, or at a step of a training.
    pub fn score_with(
        &self,
        samples: impl IntoIterator<Item = Sample>,
        options: ScoreOptions,
    ) -> Vec<Scored> {
        block_on(self.score_async(samples.into_iter().collect(), options))
    }

    /// Judges samples: one [`Scored`] each, in their order. Samples of one group may stand anywhere
    /// among them.
    ///
    /// Any executor may drive the future. Dropping it gives the work up: verifiers that run stop at
    /// their next look at the meter. What cannot be judged in time is a fault in its place, never
    /// missing: `Timeout` behind the deadline, `Overloaded` where there is no room and the call does
    /// not wait, `Internal` where the engine was dropped meanwhile.
    pub fn score_async(
        &self,
        samples: Vec<Sample>,
        options: ScoreOptions,
    ) -> impl Future<Output = Vec<Scored>> + Send + 'static {
        let (core, intake) = (Arc::clone(&self.core), Arc::clone(&self.intake));
        let room = u32::try_from(samples.len().min(self.intake_rows)).unwrap_or(u32::MAX);
        let (chunk_rows, window) = (self.chunk_rows(samples.len()), self.window());
        let scored = async move {
            let call = Arc::new(Call::new(&options, core.clock.now_ns()));
            let _give_up = GiveUp(Arc::clone(&call));
            let mut scored: Vec<Option<Scored>> = samples.iter().map(|_| None).collect();
            let judged = async {
                let _room = admitted(&intake, room, options.wait).await?;
                let run = |chunk: Vec<usize>| {
                    let own = chunk.iter().filter_map(|at| samples.get(*at)).cloned().collect();
                    let (core, call) = (&core, &call);
                    async move { (chunk, core.run(own, call, |scored| scored).await) }
                };
                let chunks = chunks(&core, &samples, chunk_rows).into_iter();
                let mut running = futures::iter(chunks.map(run)).buffer_unordered(window);
                while let Some((chunk, judged)) = running.next().await {
                    for (at, one) in chunk.into_iter().zip(judged.unwrap_or_default()) {
                        if let Some(slot) = scored.get_mut(at) {
                            *slot = Some(one);
                        }
                    }
                }
                Ok(())
            };
            let ended = within(&core.handle, options.deadline, judged).await;
            let fault = ended.err().unwrap_or_else(|| Fault::internal("the sample was lost"));
            let given = scored.into_iter().zip(&samples);
            given
                .map(|(one, sample)| one.unwrap_or_else(|| core.unjudged(sample, &fault, &call)))
                .collect()
        };
        // Another executor inside a tokio task has no budget of polls to give back, and would wait
        // for one forever.
        unconstrained(scored)
    }

    /// Samples that travel together, of `rows`.
    fn chunk_rows(&self, rows: usize) -> usize {
        if self.plan().is_slow() { 1 } else { rows.div_ceil(4 * self.jobs).clamp(1, CHUNK_ROWS) }
    }

    /// How many chunks are under way at once: enough to keep both lanes busy.
    pub(super) fn window(&self) -> usize {
        2 * self.jobs + 2 + self.plan().awaited_rows()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.core.closed.store(true, Ordering::Relaxed);
        self.intake.close();
        if let Some(runtime) = self.runtime.take() {
            // Waiting for threads is not allowed where futures are polled.
            runtime.shutdown_background();
        }
    }
}

/// Waits for `future` on this thread. A worker of a tokio runtime hands its other tasks on first.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = Handle::try_current().map(|handle| handle.runtime_flavor());
    let mut waiting = Some(unconstrained(future));
    let mut wait = || waiting.take().map(pollster::block_on);
    if matches!(runtime, Ok(RuntimeFlavor::MultiThread)) {
        match catch_unwind(AssertUnwindSafe(|| tokio::task::block_in_place(&mut wait))) {
            Ok(Some(done)) => return done,
            Err(panic) if waiting.is_none() => resume_unwind(panic),
            // This thread of the runtime may not block; nothing was awaited yet.
            Ok(None) | Err(_) => {}
        }
    }
    match waiting.take() {
        Some(future) => pollster::block_on(future),
        None => unreachable!("what was awaited was returned"),
    }
}

/// Waits for room, or not.
async fn admitted(intake: &Semaphore, room: u32, wait: bool) -> Result<SemaphorePermit<'_>, Fault> {
    let closed = || Fault::internal("the engine was dropped");
    if wait {
        return intake.acquire_many(room).await.map_err(|_| closed());
    }
    intake.try_acquire_many(room).map_err(|_| {
        if intake.is_closed() {
            return closed();
        }
        let left = intake.available_permits();
        let why = format!("room for {left} samples is left, and the call does not wait");
        Fault::new(FaultKind::Overloaded, why)
    })
}

/// The samples that travel together: groups whole, where they have to be judged whole.
fn chunks(core: &Core, samples: &[Sample], chunk_rows: usize) -> Vec<Vec<usize>> {
    if core.plan.needs_groups() {
        return groups::groups(samples);
    }
    let all: Vec<usize> = (0..samples.len()).collect();
    all.chunks(chunk_rows).map(<[usize]>::to_vec).collect()
}

/// The work, unless its deadline passes first.
async fn within(
    handle: &Handle,
    deadline: Option<Duration>,
    work: impl Future<Output = Result<(), Fault>>,
) -> Result<(), Fault> {
    let Some(deadline) = deadline else { return work.await };
    // Timers live in the engine's own runtime: the executor that polls this future may have none.
    let late = async move { tokio::time::sleep(deadline.saturating_add(GRACE)).await };
    let late = AbortOnDropHandle::new(handle.spawn(late));
    tokio::select! {
        biased;
        done = work => done,
        // A runtime that is gone has no timers; the work then ends by itself.
        Ok(()) = late => {
            let why = format!("the call took more than {} ms", deadline.as_millis());
            Err(Fault::new(FaultKind::Timeout, why))
        }
    }
}
