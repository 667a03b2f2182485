//! `chain`: policies one after another.

use serde_json::{Map, Value};

use crate::selection::prelude::*;

/// Policies one after another: each selects from what the one before has kept.
///
/// To a later stage, a rollout that an earlier one has dropped or holds is one without a reward. The
/// weights of a rollout are multiplied, and the training batch is ready where it is to all stages.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChainSettings {
    /// The tables of the stages, each with its `kind` or `preset`.
    pub stages: Vec<Map<String, Value>>,
}

/// Policies one after another; see [`ChainSettings`].
pub struct SelectionChain {
    stages: Vec<Box<dyn Selector>>,
}

impl SelectionChain {
    /// A chain of these stages.
    pub fn new(stages: Vec<Box<dyn Selector>>) -> Self {
        Self { stages }
    }
}

impl Selector for SelectionChain {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let mut rewards = batch.rewards.to_vec();
        let mut after = state.next();
        after.stages.resize_with(self.stages.len(), SelectionState::default);
        let mut selection = Fates::new(batch).selection(after);
        for (at, stage) in self.stages.iter().enumerate() {
            let stage_batch = RolloutBatch { rewards: &rewards, ..*batch };
            // Two stages of one kind do not draw the same.
            let fresh = || SelectionState::seeded(state.seed.wrapping_add(at as u64));
            let before = state.stages.get(at).cloned().unwrap_or_else(fresh);
            let selected = stage.select(&stage_batch, &before)?;
            for lost in selected.dropped.iter().map(|drop| drop.row).chain(selected.held.clone()) {
                if let Some(reward) = rewards.get_mut(lost) {
                    *reward = f64::NAN;
                }
            }
            merge(&mut selection, selected, at);
        }
        Ok(selection)
    }

    fn reads_curves(&self) -> bool {
        self.stages.iter().any(|stage| stage.reads_curves())
    }
}

/// Adds what a stage has selected to what the stages before it left.
fn merge(all: &mut Selection, stage: Selection, at: usize) {
    let before = std::mem::replace(&mut all.kept, stage.kept);
    for kept in &mut all.kept {
        let earlier = before.binary_search_by_key(&kept.row, |kept| kept.row);
        if let Some(earlier) = earlier.ok().and_then(|place| before.get(place)) {
            kept.weight *= earlier.weight;
            kept.from_token = kept.from_token.max(earlier.from_token);
        }
    }
    let still_kept = |row: usize| before.binary_search_by_key(&row, |kept| kept.row).is_ok();
    all.held.extend(stage.held);
    all.held.sort_unstable();
    all.dropped.extend(stage.dropped.into_iter().filter(|dropped| still_kept(dropped.row)));
    all.dropped.sort_unstable_by_key(|dropped| dropped.row);
    all.ready &= stage.ready;
    all.replayed.extend(stage.replayed);
    all.requests.extend(stage.requests);
    all.stored.extend(stage.stored);
    all.released.extend(stage.released);
    let kept = &all.kept;
    let is_kept = |row: usize| kept.binary_search_by_key(&row, |kept| kept.row).is_ok();
    all.pairs.retain(|pair| is_kept(pair.chosen) && is_kept(pair.rejected));
    all.pairs.extend(stage.pairs);
    all.prompt_weights.extend(stage.prompt_weights);
    all.metrics.extend(stage.metrics);
    if let Some(place) = all.state.stages.get_mut(at) {
        *place = stage.state;
    }
}
