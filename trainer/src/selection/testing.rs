//! What the tests of the kinds share.

use serde_json::{Map, Value};

use crate::groups::Groups;
use crate::ragged::Ragged;
use crate::selection::outcome::Selection;
use crate::selection::policy::Selector;
use crate::selection::rollouts::{Attempt, RolloutBatch};
use crate::selection::state::SelectionState;

/// A selector of a kind with these settings.
pub(crate) fn built(kind: &str, settings: Value) -> Box<dyn Selector> {
    crate::selection::build(table(kind, settings)).unwrap()
}

/// What is said of settings that are refused.
pub(crate) fn refused(kind: &str, settings: Value) -> String {
    match crate::selection::build(table(kind, settings)) {
        Ok(_) => panic!("{kind} was built"),
        Err(error) => error.to_string(),
    }
}

fn table(kind: &str, settings: Value) -> Map<String, Value> {
    let mut table: Map<String, Value> = serde_json::from_value(settings).unwrap();
    table.entry("kind").or_insert_with(|| Value::String(kind.to_owned()));
    table
}

/// The rows that are kept.
pub(crate) fn kept_rows(selection: &Selection) -> Vec<usize> {
    selection.kept.iter().map(|kept| kept.row).collect()
}

/// The rows that were dropped.
pub(crate) fn dropped_rows(selection: &Selection) -> Vec<usize> {
    selection.dropped.iter().map(|dropped| dropped.row).collect()
}

/// What comes back from earlier batches.
pub(crate) fn replayed_ids(selection: &Selection) -> Vec<&str> {
    selection.replayed.iter().map(|replayed| &*replayed.id).collect()
}

/// Fails where a rollout of the batch is not exactly one of kept, held and dropped, or where one
/// without a reward is not dropped.
pub(crate) fn check_fates(batch: &RolloutBatch<'_>, selection: &Selection) {
    let mut rows = kept_rows(selection);
    rows.extend(&selection.held);
    for row in &rows {
        assert!(batch.reward(*row).is_some(), "row {row} has no reward and was not dropped");
    }
    rows.extend(dropped_rows(selection));
    rows.sort_unstable();
    assert_eq!(rows, (0..batch.rows()).collect::<Vec<_>>());
    assert!(selection.kept.iter().all(|kept| kept.weight > 0.0));
}

/// Columns of a batch that a test owns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) size: usize,
    pub(crate) rewards: Vec<f64>,
    pub(crate) ids: Vec<String>,
    pub(crate) advantages: Vec<f64>,
    pub(crate) lengths: Vec<usize>,
    pub(crate) truncated: Vec<bool>,
    pub(crate) step_means: Vec<f64>,
    pub(crate) step_counts: Vec<usize>,
    /// Given to a policy only where they are not empty.
    pub(crate) prompts: Vec<String>,
    pub(crate) curves: Vec<Vec<f64>>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) versions: Vec<u64>,
}

impl Columns {
    /// Groups of `size`, with the advantages of GRPO without an epsilon, and made-up other columns.
    /// A rollout is called by its group and its reward's place in it.
    pub(crate) fn new(size: usize, rewards: &[f64]) -> Self {
        let groups = rewards.chunks(size);
        let advantages = groups.clone().flat_map(advantages).collect();
        let ids = groups.enumerate().flat_map(|(group, members)| {
            (0..members.len()).map(move |member| format!("{group}-{member}"))
        });
        let rows = 0..rewards.len();
        Self {
            size,
            ids: ids.collect(),
            advantages,
            rewards: rewards.to_vec(),
            lengths: rows.clone().map(|row| 10 + row * 7 % 13).collect(),
            truncated: rows.clone().map(|row| row % 5 == 4).collect(),
            step_means: rows
                .clone()
                .map(|row| crate::selection::stats::float(row * 37 % 11) / 10.0)
                .collect(),
            step_counts: rows.map(|row| 1 + row % 4).collect(),
            ..Self::default()
        }
    }

    /// The same with names of prompts, accuracy curves and attempts.
    pub(crate) fn with_all(mut self) -> Self {
        let groups = self.rewards.len() / self.size;
        self.prompts = (0..groups).map(|group| format!("prompt {group}")).collect();
        let accuracy = |group: usize, epoch: usize| {
            crate::selection::stats::float((group * 31 + epoch * epoch * 7) % 10) / 10.0
        };
        let curve = |group| (0..5).map(|epoch| accuracy(group, epoch)).collect();
        self.curves = (0..groups).map(curve).collect();
        self.attempts = vec![Attempt::default(); self.rewards.len()];
        self.versions = (0..self.rewards.len() as u64).map(|row| row * 5 % 4).collect();
        self
    }

    /// The same groups in another order.
    pub(crate) fn in_order(&self, order: &[usize]) -> Self {
        fn pick<T: Clone>(column: &[T], size: usize, order: &[usize]) -> Vec<T> {
            order.iter().flat_map(|group| column[group * size..][..size].to_vec()).collect()
        }
        Self {
            size: self.size,
            rewards: pick(&self.rewards, self.size, order),
            ids: pick(&self.ids, self.size, order),
            advantages: pick(&self.advantages, self.size, order),
            lengths: pick(&self.lengths, self.size, order),
            truncated: pick(&self.truncated, self.size, order),
            step_means: pick(&self.step_means, self.size, order),
            step_counts: pick(&self.step_counts, self.size, order),
            prompts: pick(&self.prompts, usize::from(!self.prompts.is_empty()), order),
            curves: pick(&self.curves, usize::from(!self.curves.is_empty()), order),
            attempts: self.attempts.clone(),
            versions: pick(
                &self.versions,
                self.size * usize::from(!self.versions.is_empty()),
                order,
            ),
        }
    }

    /// What these columns say, selected from.
    pub(crate) fn select(&self, selector: &dyn Selector, state: &SelectionState) -> Selection {
        let groups = Groups::of_size(self.rewards.len(), self.size).unwrap();
        let curves: Ragged<f64> = self.curves.iter().cloned().collect();
        let batch = RolloutBatch {
            ids: Some(&self.ids),
            advantages: Some(&self.advantages),
            lengths: Some(&self.lengths),
            truncated: Some(&self.truncated),
            step_means: Some(&self.step_means),
            step_counts: Some(&self.step_counts),
            prompts: Some(&*self.prompts).filter(|prompts| !prompts.is_empty()),
            curves: Some(&curves).filter(|curves| curves.rows() > 0),
            attempts: Some(&*self.attempts).filter(|attempts| !attempts.is_empty()),
            versions: Some(&*self.versions).filter(|versions| !versions.is_empty()),
            ..RolloutBatch::new(&groups, &self.rewards).unwrap()
        };
        let selection = selector.select(&batch, state).unwrap();
        check_fates(&batch, &selection);
        selection
    }

    /// The names of what was kept, sorted.
    pub(crate) fn kept_ids(&self, selection: &Selection) -> Vec<(&str, f64)> {
        let kept = selection.kept.iter();
        let mut ids: Vec<(&str, f64)> =
            kept.map(|kept| (&*self.ids[kept.row], kept.weight)).collect();
        ids.sort_by_key(|(id, _)| *id);
        ids
    }
}

fn advantages(rewards: &[f64]) -> Vec<f64> {
    let scored: Vec<f64> = rewards.iter().copied().filter(|reward| !reward.is_nan()).collect();
    let mean = crate::selection::stats::mean(&scored);
    let std = crate::selection::stats::std(&scored, crate::advantages::conventions::Std::Unbiased);
    let advantage = |reward: &f64| match (reward - mean) / std {
        advantage if advantage.is_finite() => advantage,
        _ => 0.0,
    };
    rewards.iter().map(advantage).collect()
}
