//! One reward on one sample: ruled out, cached by an earlier run, or verified now.

use std::sync::Arc;

use assay_verifiers::canonical::{self, Digest};
use assay_verifiers::{
    AsyncVerifier, Earlier, Fault, FaultKind, Lane, Meter, Pending, Sample, Verdict, Verifier,
};
use futures_util::FutureExt as _;
use futures_util::future::join_all;

use super::cache::Cache;
use super::call::{Call, ScoreOptions, VerdictLimit};
use super::core::{Core, Row};
use super::plan::Planned;
use super::pool::guarded;
use super::score::{Engine, block_on};
use super::turns::{TurnVerdict, Turns, at_place, merged};
use super::when::RowView;

#[expect(clippy::indexing_slicing, reason = "the places of rewards are those of the plan")]
impl Core {
    /// Judges a sample by the compute verifier of `reward`, from `start_ns` on. The moment at which
    /// it was judged comes back.
    pub(super) fn compute(
        &self,
        reward: usize,
        sample: &Sample,
        row: &mut Row,
        call: &Call,
        start_ns: u64,
    ) -> u64 {
        let planned = &self.plan.rewards[reward];
        let Lane::Compute(verifier) = &planned.built.lane else { return start_ns };
        let verdict =
            self.known(reward, planned, sample, row, call, start_ns).unwrap_or_else(|| {
                let (verifier, earlier) = (&**verifier, self.plan.earlier(reward, row));
                let verdict =
                    self.computed_by_turns(planned, verifier, sample, earlier, call, start_ns);
                self.keep(reward, sample, row, &verdict);
                verdict
            });
        let now_ns = self.clock.now_ns();
        row.record(reward, verdict, now_ns.saturating_sub(start_ns));
        now_ns
    }

    /// What a compute verifier says of a sample, or of each of its turns, from `start_ns` on.
    fn computed_by_turns(
        &self,
        planned: &Planned,
        verifier: &dyn Verifier,
        sample: &Sample,
        earlier: Earlier<'_>,
        call: &Call,
        start_ns: u64,
    ) -> Verdict {
        let one = |sample: &Sample| {
            let limit = self.limit(call, start_ns);
            let mut meter = Meter::new(planned.fuel).with_cancellation(&limit);
            computed(verifier, sample, earlier, &mut meter)
        };
        match planned.turns.of(sample) {
            Turns::One(sample) => at_place(one(&sample), sample.earlier_place()),
            Turns::Each(turns) => {
                merged(turns.iter().map(|(at, own)| turn(*at, own, one(own))).collect())
            }
            Turns::Missing(why) => Verdict::abstained(why),
        }
    }

    /// Starts to judge a sample by the awaited verifier of `reward`. `None` where the verdict is
    /// known already; it is recorded then.
    pub(super) fn start(
        &self,
        reward: usize,
        sample: &Sample,
        row: &mut Row,
        call: &Call,
    ) -> Option<Pending<Verdict>> {
        let planned = &self.plan.rewards[reward];
        let Lane::Awaited(verifier) = &planned.built.lane else { return None };
        let start = self.clock.now_ns();
        if let Some(known) = self.known(reward, planned, sample, row, call, start) {
            row.record(reward, known, self.clock.now_ns().saturating_sub(start));
            return None;
        }
        let earlier = self.plan.earlier(reward, row);
        let one = |sample: &Sample| -> Pending<Verdict> {
            let limit = self.limit(call, start);
            let mut meter = Meter::new(planned.fuel).with_cancellation(&limit);
            started(verifier, sample, earlier, &mut meter)
        };
        Some(match planned.turns.of(sample) {
            Turns::One(sample) => match sample.earlier_place() {
                None => one(&sample),
                place => one(&sample).map(move |verdict| at_place(verdict, place)).boxed(),
            },
            Turns::Each(turns) => {
                let pending = turns.into_iter().map(|(at, own)| {
                    let pending = one(&own);
                    pending.map(move |verdict| turn(at, &own, verdict))
                });
                join_all(pending.collect::<Vec<_>>()).map(merged).boxed()
            }
            Turns::Missing(why) => at_once(Verdict::abstained(why)),
        })
    }

    /// Where a verdict of `call` that starts at `start_ns` ends, whatever its fuel.
    pub(super) fn limit<'a>(&'a self, call: &'a Call, start_ns: u64) -> VerdictLimit<'a> {
        let limit_ms = self.plan.config.limits.deadline_ms;
        let own_ns = start_ns.saturating_add(limit_ms.saturating_mul(1_000_000));
        VerdictLimit::new(&*self.clock, call, &self.closed, own_ns)
    }

    /// The verdict, where it takes no verifier to know it: ruled out, or kept from another run.
    fn known(
        &self,
        reward: usize,
        planned: &Planned,
        sample: &Sample,
        row: &mut Row,
        call: &Call,
        start_ns: u64,
    ) -> Option<Verdict> {
        self.ruled_out(reward, planned, sample, row, call, start_ns).or_else(|| {
            let cache = self.cache.as_ref()?;
            cache.get(&self.cache_key(reward, planned, sample, row)?)
        })
    }

    /// The verdict of a sample to which the reward does not apply, or that is not to be asked.
    pub(super) fn ruled_out(
        &self,
        reward: usize,
        planned: &Planned,
        sample: &Sample,
        row: &mut Row,
        call: &Call,
        start_ns: u64,
    ) -> Option<Verdict> {
        if call.is_over(start_ns) {
            return Some(Verdict::failed(Fault::new(
                FaultKind::Timeout,
                "the deadline of the call passed",
            )));
        }
        let Row { verdicts, conditions, .. } = row;
        let view = RowView { names: &self.plan.names, sample, verdicts, step: call.step() };
        let limit = self.limit(call, start_ns);
        let known = self.plan.ruled_out(reward, planned, view, conditions, &limit);
        let is_withheld = !call.asks() && self.plan.is_awaited(reward);
        known.or_else(|| is_withheld.then(|| Verdict::abstained("not asked")))
    }

    /// Keeps a verdict for the next run, where the reward asks for it.
    pub(super) fn keep(&self, reward: usize, sample: &Sample, row: &Row, verdict: &Verdict) {
        let Some(cache) = &self.cache else { return };
        if let Some(key) = self.cache_key(reward, &self.plan.rewards[reward], sample, row) {
            cache.put(&key, verdict);
        }
    }

    /// Everything that decides the verdict: the verifier, the sample, and the verdicts that the
    /// verifier reads.
    fn cache_key(
        &self,
        reward: usize,
        planned: &Planned,
        sample: &Sample,
        row: &Row,
    ) -> Option<Digest> {
        let key = Cache::key(planned.cache_key.as_ref()?, sample);
        if !planned.built.spec.reads_verdicts {
            return Some(key);
        }
        let earlier = self.plan.earlier(reward, row);
        let read: serde_json::Map<_, _> = earlier
            .iter()
            .map(|(name, verdict)| Some((name.to_owned(), serde_json::to_value(verdict).ok()?)))
            .collect::<Option<_>>()?;
        Some(canonical::digest_parts(&[&key, &canonical::digest(&read.into())]))
    }
}

impl Engine {
    /// What the verifier of the reward at `reward` says of a sample by itself: no gate, no `when`, no
    /// other verdicts, and no cache. `None` where it sees whole groups. The thread is blocked
    /// meanwhile.
    pub fn verify_alone(&self, reward: usize, sample: &Sample) -> Option<Verdict> {
        let core = &self.core;
        let planned = core.plan.rewards.get(reward)?;
        let start_ns = core.clock.now_ns();
        let call = Call::new(&ScoreOptions::default(), start_ns);
        let limit = core.limit(&call, start_ns);
        let mut meter = Meter::new(planned.fuel).with_cancellation(&limit);
        match &planned.built.lane {
            Lane::Compute(verifier) => {
                Some(computed(&**verifier, sample, Earlier::default(), &mut meter))
            }
            Lane::Awaited(verifier) => {
                let pending = started(verifier, sample, Earlier::default(), &mut meter);
                let pending = pending.map(|verdict| vec![verdict]).boxed();
                let task = core.spawn(reward, 1, &call, pending);
                block_on(task).ok()?.0.pop()
            }
            Lane::Group(_) | Lane::AwaitedGroup(_) => None,
        }
    }

    /// What the compute verifier of the reward at `reward` says of a row that a gate or its `when` rules
    /// out, given the verdicts along the rewards. `None` where it is awaited or sees whole groups.
    pub fn verify_ruled_out(
        &self,
        reward: usize,
        sample: &Sample,
        verdicts: &[Option<Verdict>],
    ) -> Option<Verdict> {
        let core = &self.core;
        let planned = core.plan.rewards.get(reward)?;
        let Lane::Compute(verifier) = &planned.built.lane else { return None };
        let start_ns = core.clock.now_ns();
        let call = Call::new(&ScoreOptions::default(), start_ns);
        let reads = planned.built.spec.reads_verdicts;
        let before = if reads { verdicts.split_at(reward).0 } else { &[] };
        let earlier = Earlier::new(&core.plan.names, before);
        Some(core.computed_by_turns(planned, &**verifier, sample, earlier, &call, start_ns))
    }

    /// Whether the verdict of the reward at `reward` on a sample is kept from another run; `None`
    /// where none is kept of it.
    pub fn is_kept(&self, reward: usize, sample: &Sample) -> Option<bool> {
        let (cache, planned) = (self.core.cache.as_ref()?, self.plan().rewards.get(reward)?);
        let key = planned.cache_key.as_ref()?;
        Some(cache.get(&Cache::key(key, sample)).is_some())
    }
}

impl super::plan::Plan {
    /// The verdicts that the verifier of `reward` reads: of all rewards that are listed before it.
    pub(super) fn earlier<'a>(&'a self, reward: usize, row: &'a Row) -> Earlier<'a> {
        #[expect(clippy::indexing_slicing, reason = "the places of rewards are those of the plan")]
        let reads = self.rewards[reward].built.spec.reads_verdicts;
        let before = if reads { row.verdicts.split_at(reward).0 } else { &[] };
        Earlier::new(&self.names, before)
    }
}

/// What a compute verifier says; a panic is a fault.
fn computed(
    verifier: &dyn Verifier,
    sample: &Sample,
    earlier: Earlier<'_>,
    meter: &mut Meter<'_>,
) -> Verdict {
    guarded(|| verifier.verify(sample, earlier, meter)).unwrap_or_else(Verdict::failed)
}

/// What an awaited verifier started; a panic is a fault.
fn started(
    verifier: &Arc<dyn AsyncVerifier>,
    sample: &Sample,
    earlier: Earlier<'_>,
    meter: &mut Meter<'_>,
) -> Pending<Verdict> {
    guarded(|| Arc::clone(verifier).verify(sample, earlier, meter))
        .unwrap_or_else(|fault| at_once(Verdict::failed(fault)))
}

fn turn(turn: usize, sample: &Sample, verdict: Verdict) -> TurnVerdict {
    TurnVerdict { turn, length: sample.completion().len(), verdict }
}

fn at_once(verdict: Verdict) -> Pending<Verdict> {
    std::future::ready(verdict).boxed()
}
