//! What a selection policy answers: what becomes of each rollout, and what is asked for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::selection::rollouts::RolloutBatch;
use crate::selection::state::{HeldGroup, SelectionState};

/// What becomes of the rollouts of a batch. Each of them is kept, held or dropped.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Selection {
    /// Whether the training batch is complete. Where it is not, the caller samples what is requested
    /// and selects again before it trains.
    pub ready: bool,
    /// Rollouts of this batch that are trained on now, in the order of their rows.
    pub kept: Vec<KeptRollout>,
    /// Rows of this batch that are trained on in a later batch; they come back in `replayed`.
    pub held: Vec<usize>,
    /// Rollouts of this batch that are not trained on, and why, in the order of their rows.
    pub dropped: Vec<DroppedRollout>,
    /// Rollouts of earlier batches that are trained on now.
    pub replayed: Vec<ReplayedRollout>,
    /// What is to be sampled next.
    pub requests: Vec<RolloutRequest>,
    /// Rows of this batch that are stored for later; the caller keeps them.
    pub stored: Vec<StoredRollout>,
    /// Names of rollouts that were held or stored and will not come back: the caller can let them go.
    pub released: Vec<String>,
    /// Rollouts to compare with one another, for a loss of preferences.
    pub pairs: Vec<RolloutPair>,
    /// How often prompts are to be sampled from now on, relative to one another: those of this batch.
    pub prompt_weights: BTreeMap<String, f64>,
    /// What the policy measured, by name.
    pub metrics: BTreeMap<String, f64>,
    /// What the policy keeps for the next batch.
    pub state: SelectionState,
}

/// A rollout that is trained on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KeptRollout {
    /// Its row.
    pub row: usize,
    /// How often it counts: how often it was drawn where rollouts are drawn, else 1.
    pub weight: f64,
    /// The first token that is trained on; those before it are masked.
    pub from_token: usize,
}

/// A rollout that is not trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DroppedRollout {
    /// Its row.
    pub row: usize,
    /// Why.
    pub reason: DropReason,
}

/// Why a rollout is not trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DropReason {
    /// It has no reward.
    MissingReward,
    /// It has a reward, but nothing else that the policy ranks by.
    MissingMeasure,
    /// It is alone in its group with a reward.
    Single,
    /// The rewards of its group vary too little.
    LowVariance,
    /// The statistic of its group is below the band.
    BelowBand,
    /// The statistic of its group is above the band.
    AboveBand,
    /// Its advantage is too close to 0.
    SmallAdvantage,
    /// It was cut at the length limit.
    Truncated,
    /// It was cut at the length limit and has a positive advantage.
    TruncatedPositive,
    /// Its steps and its outcome disagree more than those of others.
    Inconsistent,
    /// Others of its group or its batch rank higher.
    RankedOut,
    /// The learning on its prompt does not go along with the learning on all.
    OffCurve,
    /// Its prompt was answered right at every visit.
    Solved,
    /// It was not drawn.
    NotDrawn,
    /// Too few groups of its batch can be used.
    RejectedBatch,
    /// The training batch is full.
    Surplus,
    /// The policy that made it is too old.
    Stale,
    /// The formula does not select it.
    NotSelected,
}

impl DropReason {
    /// The reason of this word.
    ///
    /// # Errors
    /// It is none; the error names those that are.
    pub(crate) fn of(word: &str) -> Result<Self, serde::de::value::Error> {
        Self::deserialize(serde::de::IntoDeserializer::into_deserializer(word))
    }
}

/// A rollout of an earlier batch that is trained on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayedRollout {
    /// What it is called.
    pub id: String,
    /// How often it counts.
    pub weight: f64,
    /// Its advantage when it was stored; none where it was only held, so that its group is normalised
    /// with the batch.
    pub advantage: Option<f64>,
}

/// Rollouts to be sampled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RolloutRequest {
    /// Groups of new prompts.
    NewPrompts {
        /// How many.
        prompts: usize,
    },
    /// More rollouts of a prompt of this batch.
    MoreRollouts {
        /// Its group.
        group: usize,
        /// What it is called.
        prompt: String,
        /// How many.
        rollouts: usize,
        /// At which temperature.
        temperature: f64,
    },
}

/// A row that is stored for later.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StoredRollout {
    /// The row.
    pub row: usize,
    /// What of it is stored.
    pub part: StoredPart,
    /// The reward that it is stored with.
    pub reward: f64,
}

/// What of a rollout is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredPart {
    /// The rollout as it is.
    Rollout,
    /// The reflection that led to it.
    Reflection,
    /// Its response, under the prompt without a hint.
    WithoutHint,
}

/// A rollout that is preferred to another of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RolloutPair {
    /// The row of the preferred one.
    pub chosen: usize,
    /// The row of the other.
    pub rejected: usize,
}

impl Selection {
    /// How many rollouts were dropped for each reason.
    pub fn reasons(&self) -> BTreeMap<DropReason, usize> {
        let mut counts = BTreeMap::new();
        for dropped in &self.dropped {
            *counts.entry(dropped.reason).or_default() += 1;
        }
        counts
    }

    /// How many rollouts the training batch has, counted as often as they count.
    pub fn size(&self) -> f64 {
        let kept = self.kept.iter().map(|kept| kept.weight);
        kept.chain(self.replayed.iter().map(|replayed| replayed.weight)).sum()
    }
}

/// What becomes of each row, while a policy decides. Rows without a reward are dropped from the start,
/// and the first reason stays.
#[derive(Debug)]
pub(crate) struct Fates {
    fates: Vec<Fate>,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Kept { weight: f64, from_token: usize },
    Held,
    Dropped(DropReason),
}

impl Fates {
    /// Every rollout that has a reward is kept.
    pub(crate) fn new(batch: &RolloutBatch<'_>) -> Self {
        let fate = |row| match batch.reward(row) {
            Some(_) => Fate::Kept { weight: 1.0, from_token: 0 },
            None => Fate::Dropped(DropReason::MissingReward),
        };
        Self { fates: (0..batch.rows()).map(fate).collect() }
    }

    pub(crate) fn drop(&mut self, row: usize, reason: DropReason) {
        if let Some(fate) = self.fates.get_mut(row)
            && !matches!(fate, Fate::Dropped(_))
        {
            *fate = Fate::Dropped(reason);
        }
    }

    pub(crate) fn drop_all(&mut self, rows: impl Iterator<Item = usize>, reason: DropReason) {
        rows.for_each(|row| self.drop(row, reason));
    }

    pub(crate) fn hold(&mut self, row: usize) {
        if let Some(fate @ Fate::Kept { .. }) = self.fates.get_mut(row) {
            *fate = Fate::Held;
        }
    }

    /// How often a rollout that is kept counts.
    pub(crate) fn weigh(&mut self, row: usize, drawn: f64) {
        if let Some(Fate::Kept { weight, .. }) = self.fates.get_mut(row) {
            *weight = drawn;
        }
    }

    /// Where the tokens begin that are trained on.
    pub(crate) fn train_from(&mut self, row: usize, token: usize) {
        if let Some(Fate::Kept { from_token, .. }) = self.fates.get_mut(row) {
            *from_token = token;
        }
    }

    pub(crate) fn is_kept(&self, row: usize) -> bool {
        matches!(self.fates.get(row), Some(Fate::Kept { .. }))
    }

    /// A selection of these fates, and of nothing else. `state` has been brought up to date.
    pub(crate) fn selection(self, state: SelectionState) -> Selection {
        let mut selection = Selection { ready: true, state, ..Selection::default() };
        for (row, fate) in self.fates.into_iter().enumerate() {
            match fate {
                Fate::Kept { weight, from_token } => {
                    selection.kept.push(KeptRollout { row, weight, from_token });
                }
                Fate::Held => selection.held.push(row),
                Fate::Dropped(reason) => selection.dropped.push(DroppedRollout { row, reason }),
            }
        }
        selection
    }
}

/// The rollouts of a group that waited, as they are trained on.
pub(crate) fn replay_held(group: HeldGroup) -> impl Iterator<Item = ReplayedRollout> {
    group.ids.into_iter().map(|id| ReplayedRollout { id, weight: 1.0, advantage: None })
}
