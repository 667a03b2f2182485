//! Rewards that see all samples of a prompt at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_verifiers::{Earlier, Group, Lane, Member, Meter, Outcome, Sample, Scored, Verdict};

use super::call::Call;
use super::core::{Awaited, Core, Progress, Row, answered};
use super::pool::guarded;

impl Core {
    /// Judges every group by the group verifier of `reward`. Members that a gate or a `when` ruled
    /// out are not shown to it.
    pub(super) fn judge_groups(
        self: &Arc<Self>,
        reward: usize,
        progress: &mut Progress,
        call: &Arc<Call>,
    ) -> Vec<Awaited> {
        let Progress { samples, rows, .. } = progress;
        let mut awaited = Vec::new();
        for mut members in groups(samples) {
            members.retain(|&at| !self.rule_out(reward, at, samples, rows, call));
            if !members.is_empty() {
                awaited.extend(self.judge_group(reward, members, samples, rows, call));
            }
        }
        awaited
    }

    /// Whether a member is not to be judged. Why is recorded.
    fn rule_out(
        &self,
        reward: usize,
        at: usize,
        samples: &[Sample],
        rows: &mut [Row],
        call: &Call,
    ) -> bool {
        let planned = self.plan.rewards.get(reward);
        let (Some(planned), Some(sample), Some(row)) = (planned, samples.get(at), rows.get_mut(at))
        else {
            return true;
        };
        let known = self.plan.ruled_out(reward, planned, sample, &row.verdicts, call.step);
        let is_known = known.is_some();
        if let Some(verdict) = known {
            row.record(reward, verdict, 0);
        }
        is_known
    }

    fn judge_group(
        self: &Arc<Self>,
        reward: usize,
        members: Vec<usize>,
        samples: &[Sample],
        rows: &mut [Row],
        call: &Arc<Call>,
    ) -> Option<Awaited> {
        let planned = self.plan.rewards.get(reward)?;
        let start = self.clock.now_ns();
        let count = members.len();
        let member = |&at: &usize| {
            let (sample, row) = (samples.get(at)?, rows.get(at)?);
            Some(Member { sample, earlier: Earlier::new(&self.plan.names, &row.verdicts) })
        };
        let group = Group { members: members.iter().filter_map(member).collect() };
        let limit = self.limit(call, start);
        let fuel = planned.fuel.saturating_mul(count as u64);
        let mut meter = Meter::new(fuel).with_backstop(&limit);
        let judged = match &planned.built.lane {
            Lane::Group(verifier) => guarded(|| verifier.verify_group(&group, &mut meter)),
            Lane::AwaitedGroup(verifier) => {
                match guarded(|| Arc::clone(verifier).verify_group(&group, &mut meter)) {
                    Ok(pending) => {
                        let task = self.spawn(reward, count, call, pending);
                        return Some(Awaited::new(reward, members, task));
                    }
                    Err(fault) => Err(fault),
                }
            }
            Lane::Compute(_) | Lane::Awaited(_) => return None,
        };
        let verdicts = match judged {
            Ok(verdicts) => answered(verdicts, count),
            Err(fault) => vec![Verdict::failed(fault); count],
        };
        let spent_ns = self.clock.now_ns().saturating_sub(start) / count as u64;
        for (at, verdict) in members.into_iter().zip(verdicts) {
            if let Some(row) = rows.get_mut(at) {
                row.record(reward, verdict, spent_ns);
            }
        }
        None
    }
}

/// The prompt that samples share: the group that the row names, else the text of the prompt.
pub(super) fn group_key(sample: &Sample) -> &str {
    sample.group().unwrap_or_else(|| sample.prompt())
}

/// The members of each group, groups in the order of their first member.
pub(super) fn groups(samples: &[Sample]) -> Vec<Vec<usize>> {
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
pub(super) fn drop_group(members: &[usize], scored: &mut [Scored]) {
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
