//! One reward on whole groups.

use std::sync::Arc;

use assay_verifiers::{Earlier, Group, Lane, Member, Meter, Sample, Verdict};

use super::call::Call;
use super::core::{Awaited, Core, Progress, Row, answered};
use super::groups::groups;
use super::pool::guarded;

#[expect(clippy::indexing_slicing, reason = "members are rows, and rewards those of the plan")]
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
        let (planned, row) = (&self.plan.rewards[reward], &mut rows[at]);
        let start_ns = self.clock.now_ns();
        let known = self.ruled_out(reward, planned, &samples[at], row, call, start_ns);
        known.map(|verdict| row.record(reward, verdict, 0)).is_some()
    }

    fn judge_group(
        self: &Arc<Self>,
        reward: usize,
        members: Vec<usize>,
        samples: &[Sample],
        rows: &mut [Row],
        call: &Arc<Call>,
    ) -> Option<Awaited> {
        let planned = &self.plan.rewards[reward];
        let start = self.clock.now_ns();
        let count = members.len();
        let member = |&at: &usize| {
            let earlier = Earlier::new(&self.plan.names, &rows[at].verdicts);
            Member { sample: &samples[at], earlier }
        };
        let group = Group { members: members.iter().map(member).collect() };
        let limit = self.limit(call, start);
        let fuel = planned.fuel.saturating_mul(count as u64);
        let mut meter = Meter::new(fuel).with_cancellation(&limit);
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
            rows[at].record(reward, verdict, spent_ns);
        }
        None
    }
}
