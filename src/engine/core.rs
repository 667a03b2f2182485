//! One plan at work: the way of samples through the stages, in both lanes.
//!
//! A chunk of samples is taken through the plan by one thread of the pool at a time. Where something
//! is awaited, it gives the thread back, and goes on with another once everything is answered.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use assay_verifiers::{Fault, FaultKind, Outcome, Pending, Sample, Scored, Verdict, Verdicts};
use crossbeam_utils::CachePadded;
use futures_util::FutureExt as _;
use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _,
};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

use super::activity::Activity;
use super::cache::Cache;
use super::call::Call;
use super::config::{CombineBy, OnFault};
use super::groups::{drop_group, groups};
use super::plan::Plan;
use super::pool::{Pool, panicked};
use super::when::RowConditions;
use crate::clock::Clock;

/// What everything in flight shares.
pub(super) struct Core {
    pub(super) plan: Plan,
    pub(super) pool: Pool,
    /// Where awaited work is polled.
    pub(super) handle: Handle,
    pub(super) cache: Option<Cache>,
    pub(super) clock: Arc<dyn Clock>,
    /// Along the rewards: how what is awaited is let in.
    pub(super) admissions: Vec<Admission>,
    /// The engine was dropped.
    pub(super) closed: AtomicBool,
    pub(super) activity: Arc<Activity>,
    /// What a row that came from no file took lately, in nanoseconds.
    pub(super) row_ns: CachePadded<AtomicU64>,
}

/// How samples are let in to an awaited verifier.
#[derive(Clone)]
pub(super) enum Admission {
    /// Under a number of permits.
    Permits(Arc<Semaphore>),
    /// All at once: the verifier has a queue of its own. Counts the samples in it.
    Queued(Arc<AtomicUsize>),
}

/// Samples on their way through the plan.
pub(super) struct Progress {
    pub(super) samples: Vec<Sample>,
    pub(super) rows: Vec<Row>,
    /// The next stage: those of single samples, then one for each group verifier.
    stage: usize,
    answered: Vec<Answered>,
}

/// What is known of one sample. The vectors run along the rewards of the plan.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) verdicts: Vec<Option<Verdict>>,
    pub(super) spent_ns: Vec<u64>,
    /// What the conditions of its rewards share, until something is awaited.
    pub(super) conditions: RowConditions,
}

/// Verdicts that are awaited, and the rows that they belong to.
pub(super) struct Awaited {
    reward: usize,
    rows: Vec<usize>,
    task: AbortOnDropHandle<(Vec<Verdict>, u64)>,
}

/// Verdicts that were awaited.
struct Answered {
    reward: usize,
    rows: Vec<usize>,
    verdicts: Vec<Verdict>,
    spent_ns: u64,
}

impl Awaited {
    pub(super) fn new(
        reward: usize,
        rows: Vec<usize>,
        task: AbortOnDropHandle<(Vec<Verdict>, u64)>,
    ) -> Self {
        Self { reward, rows, task }
    }
}

impl Row {
    pub(super) fn record(&mut self, reward: usize, verdict: Verdict, spent_ns: u64) {
        if let (Some(slot), Some(spent)) =
            (self.verdicts.get_mut(reward), self.spent_ns.get_mut(reward))
        {
            *slot = Some(verdict);
            *spent = spent_ns;
        }
    }
}

impl Progress {
    /// Nothing is known of the samples yet.
    fn new(samples: Vec<Sample>) -> Self {
        Self { samples, rows: Vec::new(), stage: 0, answered: Vec::new() }
    }
}

impl Core {
    /// Takes samples through the plan, and what came of them through `finish`, on the pool. All
    /// samples of a group must come in one call. `None` where the work was lost.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        samples: Vec<Sample>,
        call: &Arc<Call>,
        finish: impl FnOnce(Vec<Scored>) -> T + Send + 'static,
    ) -> Option<T> {
        let (mut progress, mut finish) = (Progress::new(samples), finish);
        loop {
            let (core, own) = (Arc::clone(self), Arc::clone(call));
            let advanced = self.pool.run(move || {
                let awaited = core.advance(&mut progress, &own);
                if awaited.is_empty() {
                    Ok(finish(core.finish(progress, &own)))
                } else {
                    Err((progress, awaited, finish))
                }
            });
            let awaited;
            (progress, awaited, finish) = match advanced.await? {
                Ok(finished) => return Some(finished),
                Err(waiting) => waiting,
            };
            for one in awaited {
                let Awaited { reward, rows, task } = one;
                let (verdicts, spent_ns) = task.await.unwrap_or_else(|_| {
                    let lost = || Verdict::failed(Fault::internal("the engine was dropped"));
                    (rows.iter().map(|_| lost()).collect(), 0)
                });
                progress.answered.push(Answered { reward, rows, verdicts, spent_ns });
            }
        }
    }

    /// Takes samples through a plan of which nothing is awaited, on this thread.
    pub(super) fn score_at_once(
        self: &Arc<Self>,
        samples: Vec<Sample>,
        call: &Arc<Call>,
    ) -> Vec<Scored> {
        let mut progress = Progress::new(samples);
        let awaited = self.advance(&mut progress, call);
        debug_assert!(awaited.is_empty(), "the plan awaits verdicts");
        self.finish(progress, call)
    }

    /// Goes through the stages until something is awaited; nothing is at the end.
    fn advance(self: &Arc<Self>, progress: &mut Progress, call: &Arc<Call>) -> Vec<Awaited> {
        if progress.stage == 0 {
            let count = self.plan.rewards.len();
            let row = Row {
                verdicts: vec![None; count],
                spent_ns: vec![0; count],
                conditions: RowConditions::default(),
            };
            progress.rows = vec![row; progress.samples.len()];
        }
        self.settle(progress);
        loop {
            let at = progress.stage;
            progress.stage += 1;
            let awaited = if let Some(stage) = self.plan.stages.get(at) {
                self.stage(stage, progress, call)
            } else {
                match self.plan.group_rewards.get(at - self.plan.stages.len()) {
                    Some(&reward) => self.judge_groups(reward, progress, call),
                    None => return Vec::new(),
                }
            };
            if !awaited.is_empty() {
                // A row that waits holds no second copy of its texts.
                progress.rows.iter_mut().for_each(|row| row.conditions = RowConditions::default());
                return awaited;
            }
        }
    }

    /// Runs one stage: what is awaited is started first, and the pool works meanwhile.
    fn stage(
        self: &Arc<Self>,
        stage: &[usize],
        progress: &mut Progress,
        call: &Arc<Call>,
    ) -> Vec<Awaited> {
        let (own, others): (Vec<usize>, Vec<usize>) =
            stage.iter().partition(|at| !self.plan.is_awaited(**at));
        let mut awaited = Vec::new();
        let Progress { samples, rows, .. } = progress;
        for (at, (sample, row)) in samples.iter().zip(rows.iter_mut()).enumerate() {
            for &reward in &others {
                if let Some(pending) = self.start(reward, sample, row, call) {
                    let task =
                        self.spawn(reward, 1, call, pending.map(|verdict| vec![verdict]).boxed());
                    awaited.push(Awaited::new(reward, vec![at], task));
                }
            }
        }
        let is_slow = self.plan.is_slow();
        let compute = |(sample, row): (&Sample, &mut Row)| {
            // The end of one verdict is the start of the next.
            own.iter().fold(self.clock.now_ns(), |start_ns, &reward| {
                // Counting would cost more than a cheap check.
                let _judging = is_slow.then(|| self.activity.judging(reward));
                self.compute(reward, sample, row, call, start_ns)
            });
        };
        if is_slow && samples.len() > 1 {
            rows.par_iter_mut().zip(&*samples).for_each(|(row, sample)| compute((sample, row)));
        } else {
            samples.iter().zip(rows).for_each(compute);
        }
        awaited
    }

    /// Polls awaited work on the engine's runtime, where HTTP clients and timers live, within permits
    /// and deadlines. The deadline of a verdict counts from its permit on; where the verifier has a
    /// queue of its own, it is multiplied by the samples in the queue, all of a group counted.
    pub(super) fn spawn(
        self: &Arc<Self>,
        reward: usize,
        count: usize,
        call: &Call,
        pending: Pending<Vec<Verdict>>,
    ) -> AbortOnDropHandle<(Vec<Verdict>, u64)> {
        let admission = self.admissions.get(reward).cloned();
        let limit = Duration::from_millis(self.plan.config.limits.deadline_ms)
            .saturating_mul(self.plan.deadlines(reward));
        let (clock, start) = (Arc::clone(&self.clock), self.clock.now_ns());
        let activity = Arc::clone(&self.activity);
        let left = call.left(start).unwrap_or(Duration::MAX);
        let judged = async move {
            let (mut _permit, mut _place, mut limit) = (None, None, limit);
            match admission {
                Some(Admission::Permits(permits)) => _permit = permits.acquire_owned().await.ok(),
                Some(Admission::Queued(waiting)) => {
                    let place = Place::take(waiting, count);
                    limit = limit.saturating_mul(u32::try_from(place.ahead).unwrap_or(u32::MAX));
                    _place = Some(place);
                }
                None => {}
            }
            let _judging = activity.judging(reward);
            let judged = AssertUnwindSafe(pending).catch_unwind();
            tokio::time::timeout(limit, judged).await.map_err(|_| late(limit))
        };
        let task = async move {
            let verdicts = match tokio::time::timeout(left, judged).await {
                Ok(Ok(Ok(verdicts))) => answered(verdicts, count),
                Ok(Ok(Err(panic))) => vec![Verdict::failed(panicked(&*panic)); count],
                Ok(Err(fault)) => vec![Verdict::failed(fault); count],
                Err(_) => vec![Verdict::failed(late(left)); count],
            };
            (verdicts, clock.now_ns().saturating_sub(start))
        };
        AbortOnDropHandle::new(self.handle.spawn(task))
    }

    /// Records what was awaited, and keeps it for the next run.
    fn settle(&self, progress: &mut Progress) {
        for answered in std::mem::take(&mut progress.answered) {
            let Answered { reward, rows, verdicts, spent_ns } = answered;
            let spent_ns = spent_ns / rows.len().max(1) as u64;
            for (at, verdict) in rows.into_iter().zip(verdicts) {
                let (Some(sample), Some(row)) =
                    (progress.samples.get(at), progress.rows.get_mut(at))
                else {
                    continue;
                };
                self.keep(reward, sample, row, &verdict);
                row.record(reward, verdict, spent_ns);
            }
        }
    }

    /// What comes after the stages: rewards are shaped, and become one.
    fn finish(&self, progress: Progress, call: &Call) -> Vec<Scored> {
        let Progress { samples, mut rows, .. } = progress;
        self.shape(&samples, &mut rows, call);
        let missing = || Verdict::failed(Fault::internal("no verdict was given"));
        let judged = |row: Row| -> (Vec<Verdict>, Vec<u64>) {
            (
                row.verdicts.into_iter().map(|one| one.unwrap_or_else(missing)).collect(),
                row.spent_ns,
            )
        };
        let rows: Vec<(Vec<Verdict>, Vec<u64>)> = rows.into_iter().map(judged).collect();
        let outcomes = self.outcomes(&samples, &rows, call);
        let scored = |((sample, (verdicts, spent_ns)), outcome): ((&Sample, _), _)| {
            self.scored(sample, outcome, verdicts, spent_ns)
        };
        let mut scored: Vec<Scored> = samples.iter().zip(rows).zip(outcomes).map(scored).collect();
        if self.plan.config.combine.on_fault == OnFault::DropGroup {
            for members in groups(&samples) {
                drop_group(&members, &mut scored);
            }
        }
        scored
    }

    /// What the verdicts of each sample come to.
    #[expect(clippy::indexing_slicing, reason = "groups are of the rows")]
    fn outcomes(
        &self,
        samples: &[Sample],
        rows: &[(Vec<Verdict>, Vec<u64>)],
        call: &Call,
    ) -> Vec<Outcome> {
        let (combiner, step) = (&self.plan.combiner, call.step());
        if self.plan.config.combine.normalise.is_none() {
            return rows
                .iter()
                .map(|(verdicts, _)| {
                    let limit = self.limit(call, self.combining_ns());
                    combiner.combine_within(verdicts, step, Some(&limit))
                })
                .collect();
        }
        let lost = || Outcome::Failed(Fault::internal("no outcome was given"));
        let mut outcomes: Vec<Outcome> = rows.iter().map(|_| lost()).collect();
        for members in groups(samples) {
            let limit = self.limit(call, self.combining_ns());
            let own: Vec<&[Verdict]> = members.iter().map(|at| rows[*at].0.as_slice()).collect();
            let totals = combiner.combine_group(&own, step, Some(&limit));
            for (at, outcome) in members.into_iter().zip(totals) {
                outcomes[at] = outcome;
            }
        }
        outcomes
    }

    /// The moment from which an expression that combines rewards counts. Nothing else asks for it.
    fn combining_ns(&self) -> u64 {
        let is_script = self.plan.config.combine.how == CombineBy::Expression;
        if is_script { self.clock.now_ns() } else { 0 }
    }

    fn scored(
        &self,
        sample: &Sample,
        outcome: Outcome,
        verdicts: Vec<Verdict>,
        spent_ns: Vec<u64>,
    ) -> Scored {
        Scored {
            id: sample.id().to_owned(),
            group: sample.group().map(str::to_owned),
            outcome,
            verdicts: Verdicts::new(Arc::clone(&self.plan.names), verdicts),
            spent_ns,
        }
    }

    /// A sample of which no verdict was reached.
    pub(super) fn unjudged(&self, sample: &Sample, fault: &Fault, call: &Call) -> Scored {
        let count = self.plan.rewards.len();
        let verdicts = vec![Verdict::failed(fault.clone()); count];
        let outcome = match self.plan.combiner.combine(&verdicts, call.step()) {
            // Every reward has weight 0.
            Outcome::Abstained(_) => Outcome::Failed(fault.clone()),
            outcome => outcome,
        };
        self.scored(sample, outcome, verdicts, vec![0; count])
    }
}

/// A place in the queue of a verifier.
struct Place {
    waiting: Arc<AtomicUsize>,
    /// Samples that wait here together: one, or a group.
    count: usize,
    /// Samples in the queue, these included.
    ahead: usize,
}

impl Place {
    fn take(waiting: Arc<AtomicUsize>, count: usize) -> Self {
        let ahead = waiting.fetch_add(count, Ordering::Relaxed) + count;
        Self { waiting, count, ahead }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.count, Ordering::Relaxed);
    }
}

/// The verdicts, where there is one for each sample.
pub(super) fn answered(verdicts: Vec<Verdict>, count: usize) -> Vec<Verdict> {
    if verdicts.len() == count {
        return verdicts;
    }
    let why = format!("{} verdicts for {count} samples", verdicts.len());
    vec![Verdict::failed(Fault::internal(why)); count]
}

fn late(limit: Duration) -> Fault {
    Fault::new(FaultKind::Timeout, format!("no answer within {} ms", limit.as_millis()))
}
