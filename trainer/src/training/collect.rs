//! The collection of a training batch: generation batches are sampled and selected from until there is
//! enough to train on.

use std::collections::{BTreeMap, BTreeSet};

use assay_verifiers::stats::mean;

use super::batch::{Credit, TrainedRollout, groups_of, per_rollout};
use super::error::TrainingError;
use super::rewards::Task;
use super::sampling::{GroupRequest, SampledRollout};
use super::state::TrainerState;
use crate::error::TrainerError;
use crate::groups::{Groups, Members};
use crate::ragged::Ragged;
use crate::selection::{
    Attempt, KeptRollout, ReplayedRollout, RolloutBatch, RolloutRequest, Selection, Selector,
};

/// Generation batches of a step, at most: a selection that takes nothing of so many never will.
pub(super) const GENERATION_BATCHES_MAX: u64 = 64;

/// What a selection has decided.
pub(super) struct Collected {
    /// What is trained on, of this generation batch and of earlier ones.
    pub(super) trained: Vec<TrainedRollout>,
    /// Whether there is enough.
    pub(super) ready: bool,
    /// What is to be sampled where there is not.
    pub(super) requests: Vec<RolloutRequest>,
    /// What the selection measured.
    pub(super) metrics: BTreeMap<String, f64>,
    /// The tasks of the groups of the batch, in the order of the groups.
    pub(super) tasks: Vec<usize>,
}

/// Selects from a generation batch.
pub(super) fn select(
    selector: &dyn Selector,
    rollouts: &[SampledRollout],
    (credit, tasks): (&Credit<'_>, &[Task]),
    state: &mut TrainerState,
) -> Result<Collected, TrainingError> {
    let rows: Vec<&SampledRollout> = rollouts.iter().collect();
    let groups = groups_of(&rows);
    let computed = credit.advantages(&rows, &groups, None)?;
    let advantages = per_rollout(&computed.values, rollouts.iter());
    let mut columns = Columns::new(rollouts, &groups, tasks, advantages);
    if selector.reads_curves() {
        columns.curves = Some(columns.visited(&groups, &mut state.visits));
    }
    let selection = selector.select(&columns.batch(&groups, state.step)?, &state.selection)?;
    let owners = columns.owners;
    Ok(Collected {
        tasks: owners,
        ready: selection.ready,
        requests: selection.requests.clone(),
        metrics: selection.metrics.clone(),
        trained: apply(selection, rollouts, state)?,
    })
}

/// The rollouts of a step without a selection: all are trained on.
pub(super) fn all(rollouts: Vec<SampledRollout>) -> Vec<TrainedRollout> {
    let trained = |sampled| TrainedRollout { sampled, advantage: None, from_token: 0 };
    rollouts.into_iter().map(trained).collect()
}

/// What a selection is told of a generation batch, in columns.
struct Columns {
    rewards: Vec<f64>,
    ids: Vec<String>,
    prompts: Vec<String>,
    owners: Vec<usize>,
    advantages: Vec<f64>,
    lengths: Vec<usize>,
    truncated: Vec<bool>,
    extra: Vec<bool>,
    versions: Vec<u64>,
    step_counts: Vec<usize>,
    step_means: Vec<f64>,
    pass_rates: Vec<f64>,
    curves: Option<Ragged<f64>>,
    /// The loop samples no retries.
    attempts: Vec<Attempt>,
}

#[expect(clippy::indexing_slicing, reason = "a row is one of the rollouts, and has a task")]
impl Columns {
    fn new(
        rollouts: &[SampledRollout],
        groups: &Groups,
        tasks: &[Task],
        advantages: Vec<f64>,
    ) -> Self {
        let first = |members: Members<'_>| members.row(0).map_or(0, |row| rollouts[row].task);
        let owners: Vec<usize> = groups.iter().map(first).collect();
        let id = |task: &usize| tasks[*task].id.clone();
        let pass_rate = |group: usize| {
            let members = groups.members(group);
            let correct = members.rows().filter_map(|row| rollouts.get(row)?.reward.correct);
            mean(correct).unwrap_or(f64::NAN)
        };
        Self {
            rewards: rollouts.iter().map(|one| one.reward.reward.unwrap_or(f64::NAN)).collect(),
            ids: rollouts.iter().map(|one| one.name.clone()).collect(),
            prompts: owners.iter().map(id).collect(),
            owners,
            advantages,
            lengths: rollouts.iter().map(SampledRollout::length).collect(),
            truncated: rollouts.iter().map(|one| one.truncated).collect(),
            extra: rollouts.iter().map(|one| one.extra).collect(),
            versions: rollouts.iter().map(|one| one.step).collect(),
            step_counts: rollouts.iter().map(|one| one.reward.steps.len()).collect(),
            step_means: rollouts
                .iter()
                .map(|one| mean(one.reward.steps.iter().map(|(_, reward)| *reward)))
                .map(|mean| mean.unwrap_or(f64::NAN))
                .collect(),
            pass_rates: (0..groups.len()).map(pass_rate).collect(),
            curves: None,
            attempts: vec![Attempt::default(); rollouts.len()],
        }
    }

    /// Notes the visits of this batch; the curve of each group ends with its own. Where others have
    /// more visits, the first ones are missing.
    fn visited(&self, groups: &Groups, visits: &mut BTreeMap<String, Vec<f64>>) -> Ragged<f64> {
        let is_extra = |group: usize| groups.members(group).rows().all(|row| self.extra[row]);
        for (group, (id, rate)) in self.prompts.iter().zip(&self.pass_rates).enumerate() {
            if !is_extra(group) {
                visits.entry(id.clone()).or_default().push(*rate);
            }
        }
        let own = |id: &String| visits.get(id).map(Vec::as_slice).unwrap_or_default();
        let longest = self.prompts.iter().map(|id| own(id).len()).max().unwrap_or_default();
        let curve = |id: &String| {
            let missing = std::iter::repeat_n(f64::NAN, longest - own(id).len());
            missing.chain(own(id).iter().copied()).collect::<Vec<f64>>()
        };
        self.prompts.iter().map(curve).collect()
    }

    fn batch<'a>(
        &'a self,
        groups: &'a Groups,
        version: u64,
    ) -> Result<RolloutBatch<'a>, TrainerError> {
        let has_steps = self.step_counts.iter().any(|count| *count > 0);
        Ok(RolloutBatch {
            ids: Some(&self.ids),
            prompts: Some(&self.prompts),
            advantages: Some(&self.advantages),
            lengths: Some(&self.lengths),
            truncated: Some(&self.truncated),
            extra: Some(&self.extra),
            versions: Some(&self.versions),
            version: Some(version),
            step_counts: has_steps.then_some(&self.step_counts),
            step_means: has_steps.then_some(&self.step_means),
            pass_rates: Some(&self.pass_rates),
            curves: self.curves.as_ref(),
            attempts: Some(&self.attempts),
            ..RolloutBatch::new(groups, &self.rewards)?
        })
    }
}

/// Does as a selection says: what is kept is trained on, what is held or stored is put aside.
fn apply(
    selection: Selection,
    rollouts: &[SampledRollout],
    state: &mut TrainerState,
) -> Result<Vec<TrainedRollout>, TrainingError> {
    let mut trained = Vec::new();
    for KeptRollout { row, weight, from_token } in selection.kept {
        let Some(sampled) = rollouts.get(row) else { continue };
        let one = TrainedRollout { sampled: sampled.clone(), advantage: None, from_token };
        trained.extend(std::iter::repeat_n(one, times(weight)));
    }
    let stored = selection.stored.iter().map(|stored| stored.row);
    let aside: BTreeSet<usize> = selection.held.iter().copied().chain(stored).collect();
    for sampled in aside.into_iter().filter_map(|row| rollouts.get(row)) {
        state.stored.insert(sampled.name.clone(), sampled.clone());
    }
    for ReplayedRollout { id, weight, advantage } in selection.replayed {
        let Some(sampled) = state.stored.get(&id).cloned() else {
            let expected = "a rollout that was held or stored";
            return Err(TrainerError::input("replayed rollout", id, expected).into());
        };
        let one = TrainedRollout { sampled, advantage, from_token: 0 };
        trained.extend(std::iter::repeat_n(one, times(weight)));
    }
    for name in &selection.released {
        state.stored.remove(name);
    }
    state.task_weights.extend(selection.prompt_weights);
    state.selection = selection.state;
    Ok(trained)
}

/// How often a rollout counts: a whole number, at least once where it counts at all.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn times(weight: f64) -> usize {
    if weight > 0.0 { weight.round().clamp(1.0, 1e6) as usize } else { 0 }
}

/// What a selection wants to be sampled, as groups. `next` draws a task, `first` is the first free
/// number of a group.
pub(super) fn requested(
    requests: &[RolloutRequest],
    tasks: &[usize],
    (group_size, first): (usize, u64),
    mut next: impl FnMut() -> usize,
) -> Vec<GroupRequest> {
    let mut wanted: Vec<(usize, usize, Option<f64>)> = Vec::new();
    for request in requests {
        match request {
            RolloutRequest::NewPrompts { prompts } => {
                wanted.extend((0..*prompts).map(|_| (next(), group_size, None)));
            }
            RolloutRequest::MoreRollouts { group, rollouts, temperature, .. } => {
                let task = tasks.get(*group).copied();
                wanted.extend(task.map(|task| (task, *rollouts, Some(*temperature))));
            }
        }
    }
    let numbered = (first..).zip(wanted);
    numbered
        .map(|(group, (task, rollouts, temperature))| GroupRequest {
            task,
            group,
            rollouts,
            temperature,
        })
        .collect()
}
