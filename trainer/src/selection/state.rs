//! What a selection policy keeps from batch to batch: groups that wait, a replay buffer, averages.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// What a policy keeps from batch to batch. It holds the names of rollouts, never their tokens: the
/// caller keeps those, with their log-probabilities, until a selection releases them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelectionState {
    /// Where the randomness of the policy begins.
    pub seed: u64,
    /// How many batches were selected from.
    pub batches: u64,
    /// How many steps were trained, as far as the policy can tell.
    pub steps: u64,
    /// Groups that were kept and not trained on yet, the oldest first.
    pub held: VecDeque<HeldGroup>,
    /// Rollouts that are trained on more than once.
    pub buffer: ReplayBuffer,
    /// Averages and counts, by name.
    #[serde(with = "crate::not_finite")]
    pub numbers: BTreeMap<String, f64>,
    /// Shares of wrong answers at the last visits of each prompt, the oldest first.
    #[serde(with = "crate::not_finite")]
    pub visits: BTreeMap<String, VecDeque<f64>>,
    /// The states of the policies that this one is made of.
    pub stages: Vec<SelectionState>,
}

/// A group that waits for a training batch to fill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldGroup {
    /// What its prompt is called.
    pub prompt: String,
    /// What its rollouts are called.
    pub ids: Vec<String>,
    /// The number of the batch that it came from.
    pub batch: u64,
}

/// Rollouts that are trained on again, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReplayBuffer {
    rollouts: VecDeque<BufferedRollout>,
}

/// A rollout that is trained on again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferedRollout {
    /// What it is called.
    pub id: String,
    /// Its advantage when it was stored.
    pub advantage: f64,
    /// Its reward.
    pub reward: f64,
    /// The step that stored it.
    pub step: u64,
}

impl SelectionState {
    /// The state before the first batch.
    pub fn seeded(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// The state as one more batch begins.
    #[must_use]
    pub(crate) fn next(&self) -> Self {
        Self { batches: self.batches + 1, ..self.clone() }
    }

    /// A number by its name; 0 where there is none yet.
    pub fn number(&self, name: &str) -> f64 {
        self.numbers.get(name).copied().unwrap_or_default()
    }

    /// Sets a number.
    pub fn set(&mut self, name: &str, value: f64) {
        self.numbers.insert(name.to_owned(), value);
    }
}

impl ReplayBuffer {
    /// The rollouts, the oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &BufferedRollout> {
        self.rollouts.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rollouts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rollouts.is_empty()
    }

    /// Adds rollouts behind the others. Those of the same names are replaced.
    pub fn extend(&mut self, rollouts: Vec<BufferedRollout>) {
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, rollout) in rollouts.iter().enumerate() {
            last.insert(&rollout.id, place);
        }
        self.rollouts.retain(|old| !last.contains_key(&*old.id));
        let mut places: Vec<usize> = last.into_values().collect();
        places.sort_unstable();
        let mut places = places.into_iter().peekable();
        let news = rollouts.into_iter().enumerate();
        let kept = news.filter(|(place, _)| places.next_if_eq(place).is_some());
        self.rollouts.extend(kept.map(|(_, rollout)| rollout));
    }

    /// Takes out the oldest while there are more than `capacity`. Returns their names.
    pub fn shrink(&mut self, capacity: usize) -> Vec<String> {
        let surplus = self.len().saturating_sub(capacity);
        self.rollouts.drain(..surplus).map(|rollout| rollout.id).collect()
    }

    /// Takes out what was stored more than `age_max` steps before `step`. Returns their names.
    pub fn expire(&mut self, step: u64, age_max: u64) -> Vec<String> {
        let is_old = |rollout: &BufferedRollout| step.saturating_sub(rollout.step) > age_max;
        let (old, young) = self.rollouts.drain(..).partition(is_old);
        self.rollouts = young;
        let old: VecDeque<BufferedRollout> = old;
        old.into_iter().map(|rollout| rollout.id).collect()
    }

    /// Takes out all. Returns their names.
    pub fn clear(&mut self) -> Vec<String> {
        self.shrink(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rollout(id: &str, step: u64) -> BufferedRollout {
        BufferedRollout { id: id.to_owned(), advantage: 1.0, reward: 1.0, step }
    }

    #[test]
    fn the_oldest_leave_the_buffer_first() {
        let mut buffer = ReplayBuffer::default();
        buffer.extend(vec![rollout("b", 0), rollout("a", 1), rollout("b", 2)]);
        buffer.extend(vec![rollout("c", 3), rollout("a", 4)]);
        assert_eq!(buffer.len(), 3, "two were stored twice and are there once");
        assert_eq!(buffer.shrink(2), ["b"]);
        assert_eq!(buffer.expire(6, 2), ["c"]);
        assert_eq!(buffer.iter().map(|rollout| rollout.step).collect::<Vec<_>>(), [4]);
        assert_eq!(buffer.clear(), ["a"]);
        assert!(buffer.is_empty());
    }

    #[test]
    fn a_state_is_the_same_after_a_stop() {
        let mut state = SelectionState::seeded(7);
        state.buffer.extend(vec![rollout("a", 1)]);
        state.held.push_back(HeldGroup { prompt: "p".into(), ids: vec!["b".into()], batch: 2 });
        state.set("share", 0.1);
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<SelectionState>(&text).unwrap(), state);
        assert_eq!(
            serde_json::from_str::<SelectionState>("{}").unwrap(),
            SelectionState::default()
        );
        assert_eq!((state.number("share"), state.number("none")), (0.1, 0.0));
    }
}
