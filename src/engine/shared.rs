//! One plan at work: what everything in flight shares, and the way of samples through the stages.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_verifiers::{Fault, Group, Lane, Member, Meter, Outcome, Sample, Verdict};
use futures_util::future::join3;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use tokio::sync::mpsc;

use super::cache::Cache;
use super::chunk::{Judged, Row, Scored};
use super::clock::Clock;
use super::config::OnFault;
use super::lanes::{Job, Permits, Pool, Queue};
use super::plan::Plan;

/// What everything in flight shares.
pub(super) struct Shared {
    pub(super) plan: Arc<Plan>,
    pub(super) pool: Pool,
    pub(super) cache: Option<Cache>,
    pub(super) clock: Arc<dyn Clock>,
    /// Along the rewards: the queue of each model.
    pub(super) queues: Vec<Option<Queue>>,
    /// Along the rewards: the permits of each remote verifier.
    pub(super) permits: Vec<Option<Permits>>,
}

/// Samples that travel together.
type Samples = Arc<Vec<Sample>>;
/// A row and a reward that wait for a lane other than compute.
type Waiting = (usize, usize);

impl Shared {
    /// Takes samples through every stage. All samples of a group must come in one call.
    pub(super) async fn score(self: Arc<Self>, samples: Samples) -> Vec<Scored> {
        let mut rows: Vec<Row> =
            samples.iter().map(|_| Row::new(self.plan.rewards.len())).collect();
        for stage in &self.plan.stages {
            rows = self.stage(stage, &samples, rows).await;
        }
        let (shared, count) = (Arc::clone(&self), samples.len());
        let finished = self.pool.run(move || shared.finish(&samples, rows)).await;
        // A pass that was lost leaves fewer rows: every sample is answered all the same.
        finished.filter(|scored| scored.len() == count).unwrap_or_else(|| {
            let fault = Fault::internal("the samples were lost");
            (0..count).map(|_| Scored::failed(fault.clone())).collect()
        })
    }

    /// Runs one stage in all lanes at once: what waits for others is sent off first, and the
    /// compute lane works meanwhile.
    async fn stage(
        self: &Arc<Self>,
        stage: &[usize],
        samples: &Samples,
        rows: Vec<Row>,
    ) -> Vec<Row> {
        let (own, others): (Vec<usize>, Vec<usize>) =
            stage.iter().partition(|at| self.lane(**at).is_some_and(is_compute));
        if others.is_empty() {
            return self.pass(own, samples, rows).await.0;
        }
        let (rows, waiting) = self.pass(others, samples, rows).await;
        let ((mut rows, _), modelled, awaited) = join3(
            self.pass(own, samples, rows),
            self.model(samples, &waiting),
            self.remote(samples, &waiting),
        )
        .await;
        for judged in modelled.into_iter().chain(awaited) {
            if let Some(row) = rows.get_mut(judged.row) {
                row.record(judged.reward, judged.verdict, judged.spent_ns);
            }
        }
        rows
    }

    /// One pass of the compute lane over the rows.
    async fn pass(
        self: &Arc<Self>,
        stage: Vec<usize>,
        samples: &Samples,
        mut rows: Vec<Row>,
    ) -> (Vec<Row>, Vec<Waiting>) {
        let (shared, samples) = (Arc::clone(self), Arc::clone(samples));
        let passed = self.pool.run(move || {
            let waiting = shared.compute(&stage, &samples, &mut rows);
            (rows, waiting)
        });
        passed.await.unwrap_or_default()
    }

    async fn model(self: &Arc<Self>, samples: &Samples, waiting: &[Waiting]) -> Vec<Judged> {
        let (reply, mut replies) = mpsc::unbounded_channel();
        for &(row, reward) in waiting {
            if let Some(Some(queue)) = self.queues.get(reward) {
                let samples = Arc::clone(samples);
                queue.send(Job { samples, row, reward, reply: reply.clone() });
            }
        }
        drop(reply);
        let mut judged = Vec::new();
        while let Some(one) = replies.recv().await {
            judged.push(one);
        }
        self.kept(samples, judged).await
    }

    async fn remote(self: &Arc<Self>, samples: &Samples, waiting: &[Waiting]) -> Vec<Judged> {
        let deadline_ms = self.plan.config.limits.deadline_ms;
        let in_flight: FuturesUnordered<_> = waiting
            .iter()
            .filter_map(|&(row, reward)| {
                let (Some(Some(permits)), Some(Lane::Remote(verifier)), Some(sample)) =
                    (self.permits.get(reward), self.lane(reward), samples.get(row))
                else {
                    return None;
                };
                Some(async move {
                    let start = self.clock.now_ns();
                    let verdict = permits.verify(&**verifier, sample, deadline_ms).await;
                    let spent_ns = self.clock.now_ns().saturating_sub(start);
                    Judged { row, reward, verdict, spent_ns }
                })
            })
            .collect();
        let judged = in_flight.collect().await;
        self.kept(samples, judged).await
    }

    /// Keeps verdicts for the next run. On the pool, because it writes files.
    async fn kept(self: &Arc<Self>, samples: &Samples, judged: Vec<Judged>) -> Vec<Judged> {
        if self.cache.is_none() || judged.is_empty() {
            return judged;
        }
        let (shared, samples) = (Arc::clone(self), Arc::clone(samples));
        let kept = self.pool.run(move || {
            for one in &judged {
                if let (Some(reward), Some(sample)) =
                    (shared.plan.rewards.get(one.reward), samples.get(one.row))
                {
                    shared.keep(reward, sample, &one.verdict);
                }
            }
            judged
        });
        kept.await.unwrap_or_default()
    }

    /// What comes after the stages: group verifiers, then the combination.
    fn finish(&self, samples: &[Sample], mut rows: Vec<Row>) -> Vec<Scored> {
        let groups = if self.plan.needs_groups() { groups(samples) } else { Vec::new() };
        for &reward in &self.plan.group_rewards {
            for members in &groups {
                self.judge_group(reward, members, samples, &mut rows);
            }
        }
        let combine = |row: Row| {
            let (verdicts, spent_ns) = row.finish();
            Scored { outcome: self.plan.combiner.combine(&verdicts), verdicts, spent_ns }
        };
        let mut scored: Vec<Scored> = rows.into_par_iter().map(combine).collect();
        if self.plan.config.combine.on_fault == OnFault::DropGroup {
            for members in &groups {
                drop_group(members, &mut scored);
            }
        }
        scored
    }

    fn judge_group(&self, reward: usize, members: &[usize], samples: &[Sample], rows: &mut [Row]) {
        let Some(planned) = self.plan.rewards.get(reward) else { return };
        let Lane::Group(verifier) = &planned.built.lane else { return };
        let start = self.clock.now_ns();
        let member = |&at: &usize| {
            let (sample, row) = (samples.get(at)?, rows.get(at)?);
            Some(Member { sample, names: &self.plan.names, verdicts: &row.verdicts })
        };
        let group = Group { members: members.iter().filter_map(member).collect() };
        let mut meter = Meter::new(planned.fuel.saturating_mul(members.len() as u64));
        let verdicts = super::lanes::guarded(|| verifier.verify_group(&group, &mut meter));
        let mut verdicts = match verdicts {
            Ok(verdicts) if verdicts.len() == members.len() => verdicts,
            Ok(verdicts) => {
                let why = format!("{} verdicts for {} samples", verdicts.len(), members.len());
                members.iter().map(|_| Verdict::failed(Fault::internal(why.clone()))).collect()
            }
            Err(fault) => members.iter().map(|_| Verdict::failed(fault.clone())).collect(),
        };
        for (at, verdict) in members.iter().zip(&mut verdicts) {
            let (Some(sample), Some(row)) = (samples.get(*at), rows.get(*at)) else { continue };
            if let Some(known) = self.plan.ruled_out(reward, planned, sample, &row.verdicts) {
                *verdict = known;
            }
        }
        let spent_ns = self.clock.now_ns().saturating_sub(start) / members.len().max(1) as u64;
        for (at, verdict) in members.iter().zip(verdicts) {
            if let Some(row) = rows.get_mut(*at) {
                row.record(reward, verdict, spent_ns);
            }
        }
    }

    fn lane(&self, reward: usize) -> Option<&Lane> {
        self.plan.rewards.get(reward).map(|reward| &reward.built.lane)
    }
}

fn is_compute(lane: &Lane) -> bool {
    matches!(lane, Lane::Compute(_))
}

/// The prompt that samples share: the group that the row names, else the text of the prompt.
pub(super) fn group_key(sample: &Sample) -> &str {
    sample.group().unwrap_or_else(|| sample.prompt())
}

/// The members of each group, groups in the order of their first member.
fn groups(samples: &[Sample]) -> Vec<Vec<usize>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, sample) in samples.iter().enumerate() {
        let place = *places.entry(group_key(sample)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(members) => members.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

/// One failure leaves the whole group without a reward.
fn drop_group(members: &[usize], scored: &mut [Scored]) {
    let failed = |at: &usize| {
        scored.get(*at).is_some_and(|scored| matches!(scored.outcome, Outcome::Failed(_)))
    };
    if !members.iter().any(failed) {
        return;
    }
    for at in members {
        if let Some(scored) = scored.get_mut(*at)
            && !matches!(scored.outcome, Outcome::Failed(_))
        {
            scored.outcome = Outcome::Abstained("a sample of its group failed".into());
        }
    }
}
