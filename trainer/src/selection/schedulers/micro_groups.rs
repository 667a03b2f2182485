//! Micro groups: a large group is decoded a few rollouts at a time, in bounded memory.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::TrainerError;
use crate::selection::schedulers::accumulator::GroupAccumulator;
use crate::selection::schedulers::length_batches::length_batches;

/// How groups are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MicroGroupSettings {
    /// How many rollouts a group has.
    pub group_size: usize,
    /// How many rollouts of one group are decoded at once, at most.
    pub micro_size: usize,
    /// How many rollouts are decoded at once, at most.
    pub slots: usize,
    /// How many tokens the rollouts that are decoded at once may have together, by their predicted
    /// lengths; one that is predicted to be longer is decoded alone.
    #[serde(default)]
    pub tokens_max: Option<usize>,
    /// Which rollouts come first.
    #[serde(default)]
    pub order: DecodeOrder,
    /// When a slot is used again.
    #[serde(default)]
    pub refill: SlotRefill,
}

/// Which rollouts come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecodeOrder {
    /// Those that are predicted to be shortest, in each group.
    #[default]
    Shortest,
    /// As they came.
    Arrival,
}

/// When a slot is used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlotRefill {
    /// As soon as a rollout is finished.
    #[default]
    Continuous,
    /// When the whole micro group is finished.
    Micro,
}

/// Decodes groups of G rollouts as micro groups (Infinite Sampling: Efficient and Stable Grouped RL
/// Training for Large Language Models): slots are used again as rollouts finish, and the rewards of a
/// group are gathered in constant memory until all are there.
///
/// Start what [`next`](Self::next) gives until it gives nothing, and report each rollout that finishes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MicroGroups {
    settings: MicroGroupSettings,
    groups: BTreeMap<u64, WaitingGroup>,
    running: BTreeMap<u64, MicroJob>,
    /// How many rollouts of the micro group that is being decoded are still to be started.
    micro_left: usize,
    next_group: u64,
    next_job: u64,
}

/// A group of which not all rewards are there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WaitingGroup {
    prompt: String,
    /// Micro groups whose decoding has not begun, the last one first; members and predicted lengths.
    waiting: Vec<Vec<(usize, usize)>>,
    rewards: GroupAccumulator,
}

/// A rollout to decode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MicroJob {
    /// Its number.
    pub job: u64,
    /// The number of its group, in the order of [`MicroGroups::push`].
    pub group: u64,
    /// What its prompt is called.
    pub prompt: String,
    /// Its place in its group.
    pub member: usize,
    /// How many tokens it is predicted to have.
    pub predicted: usize,
}

/// A group all of whose rewards are there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompletedGroup {
    /// Its number, in the order of [`MicroGroups::push`].
    pub group: u64,
    /// What its prompt is called.
    pub prompt: String,
    /// The statistics of its rewards.
    pub rewards: GroupAccumulator,
}

impl MicroGroups {
    /// A scheduler without groups.
    ///
    /// # Errors
    /// A size of 0.
    pub fn new(settings: MicroGroupSettings) -> Result<Self, TrainerError> {
        let sizes = [
            ("group_size", settings.group_size),
            ("micro_size", settings.micro_size),
            ("slots", settings.slots),
        ];
        if let Some((key, _)) = sizes.into_iter().find(|(_, size)| *size == 0) {
            return Err(TrainerError::setting(key, format!("`{key}` is 0, expected at least 1")));
        }
        let (groups, running) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { settings, groups, running, micro_left: 0, next_group: 0, next_job: 0 })
    }

    /// Adds a group, with the lengths that its rollouts are predicted to have. Returns its number.
    ///
    /// # Errors
    /// Not one length for each rollout of a group.
    pub fn push(&mut self, prompt: &str, predicted: &[usize]) -> Result<u64, TrainerError> {
        let MicroGroupSettings { group_size, micro_size, tokens_max, order, .. } = self.settings;
        if predicted.len() != group_size {
            let have = format!("{} values", predicted.len());
            return Err(TrainerError::input("predicted lengths", have, group_size.to_string()));
        }
        let members: Vec<usize> = (0..group_size).collect();
        let micro = micro_size.min(self.settings.slots);
        let mut waiting: Vec<Vec<usize>> = match order {
            DecodeOrder::Shortest => length_batches(predicted, micro, tokens_max),
            DecodeOrder::Arrival => members.chunks(micro).map(<[usize]>::to_vec).collect(),
        };
        if order == DecodeOrder::Shortest {
            for members in &mut waiting {
                members.sort_by_key(|member| predicted.get(*member));
            }
        }
        let length = |member: usize| (member, predicted.get(member).copied().unwrap_or_default());
        let named = waiting.into_iter().rev();
        let waiting =
            named.map(|members| members.into_iter().rev().map(length).collect()).collect();
        let (group, rewards) = (self.next_group, GroupAccumulator::default());
        self.groups.insert(group, WaitingGroup { prompt: prompt.to_owned(), waiting, rewards });
        self.next_group += 1;
        Ok(group)
    }

    /// The next rollout to start, where there is a slot and memory for one.
    #[expect(clippy::should_implement_trait, reason = "more may come after there was none")]
    pub fn next(&mut self) -> Option<MicroJob> {
        if self.running.len() >= self.settings.slots {
            return None;
        }
        let group = self.open_group()?;
        let waiting = self.groups.get_mut(&group)?;
        let prompt = waiting.prompt.clone();
        let micro = waiting.waiting.last_mut()?;
        let (member, predicted) = micro.pop()?;
        self.micro_left = micro.len();
        if micro.is_empty() {
            waiting.waiting.pop();
        }
        let job = MicroJob { job: self.next_job, group, prompt, member, predicted };
        self.next_job += 1;
        self.running.insert(job.job, job.clone());
        Some(job)
    }

    /// A rollout is finished and has this reward, NaN where it is missing. Returns its group where this
    /// was the last one.
    ///
    /// # Errors
    /// A rollout that is not being decoded.
    pub fn on_finished(
        &mut self,
        job: u64,
        reward: f64,
    ) -> Result<Option<CompletedGroup>, TrainerError> {
        let unknown = || TrainerError::input("rollout", job.to_string(), "one that was started");
        let MicroJob { group, .. } = self.running.remove(&job).ok_or_else(unknown)?;
        let waiting = self.groups.get_mut(&group).ok_or_else(unknown)?;
        waiting.rewards.push(reward);
        let gathered = waiting.rewards.count() + waiting.rewards.missing();
        if gathered < self.settings.group_size {
            return Ok(None);
        }
        let completed = self.groups.remove(&group).map(|complete| CompletedGroup {
            group,
            prompt: complete.prompt,
            rewards: complete.rewards,
        });
        Ok(completed)
    }

    /// The rollouts that are being decoded.
    pub fn running(&self) -> impl ExactSizeIterator<Item = &MicroJob> {
        self.running.values()
    }

    /// The tokens that they are predicted to have together.
    pub fn tokens(&self) -> usize {
        self.running.values().map(|job| job.predicted).sum()
    }

    /// Whether all groups are complete.
    pub fn is_done(&self) -> bool {
        self.groups.is_empty()
    }

    /// The group of which the next rollout is started, where there is a slot and memory for it.
    fn open_group(&self) -> Option<u64> {
        let is_open = |group: u64| match self.settings.refill {
            SlotRefill::Continuous => self.running_of(group) < self.settings.micro_size,
            SlotRefill::Micro => self.micro_left > 0 || self.running.is_empty(),
        };
        let mut waiting = self.groups.iter().filter(|(_, group)| !group.waiting.is_empty());
        let (group, next) = waiting.find(|(group, _)| is_open(**group))?;
        let (_, predicted) = next.waiting.last()?.last()?;
        let fits = match self.settings.tokens_max {
            Some(most) => self.tokens() + predicted <= most || self.running.is_empty(),
            None => true,
        };
        fits.then_some(*group)
    }

    fn running_of(&self, group: u64) -> usize {
        self.running.values().filter(|job| job.group == group).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: MicroGroupSettings = MicroGroupSettings {
        group_size: 4,
        micro_size: 2,
        slots: 2,
        tokens_max: None,
        order: DecodeOrder::Shortest,
        refill: SlotRefill::Continuous,
    };

    /// The members that are started until there is no slot.
    fn started(micro: &mut MicroGroups) -> Vec<(u64, usize)> {
        std::iter::from_fn(|| micro.next()).map(|job| (job.group, job.member)).collect()
    }

    #[test]
    fn slots_are_used_again_at_once() {
        let mut micro = MicroGroups::new(SETTINGS).unwrap();
        micro.push("p", &[4, 1, 3, 2]).unwrap();
        assert_eq!(started(&mut micro), [(0, 1), (0, 3)]);
        assert_eq!(micro.on_finished(0, 1.0).unwrap(), None);
        assert_eq!(started(&mut micro), [(0, 2)]);
        assert_eq!(micro.on_finished(2, 0.0).unwrap(), None);
        assert_eq!(started(&mut micro), [(0, 0)]);
        assert_eq!(micro.on_finished(1, f64::NAN).unwrap(), None);
        let text = serde_json::to_string(&micro).unwrap();
        let mut again: MicroGroups = serde_json::from_str(&text).unwrap();
        let complete = again.on_finished(3, 1.0).unwrap().unwrap();
        assert_eq!((complete.prompt.as_str(), complete.rewards.missing()), ("p", 1));
        assert!((complete.rewards.mean() - 2.0 / 3.0).abs() < 1e-12);
        assert!(again.is_done() && again.on_finished(3, 1.0).is_err());
    }

    #[test]
    fn micro_groups_can_wait_for_one_another() {
        let settings = MicroGroupSettings {
            refill: SlotRefill::Micro,
            order: DecodeOrder::Arrival,
            slots: 8,
            ..SETTINGS
        };
        let mut micro = MicroGroups::new(settings).unwrap();
        micro.push("p", &[4, 1, 3, 2]).unwrap();
        micro.push("q", &[1, 1, 1, 1]).unwrap();
        assert_eq!(started(&mut micro), [(0, 0), (0, 1)]);
        micro.on_finished(1, 0.0).unwrap();
        assert_eq!(started(&mut micro), []);
        micro.on_finished(0, 0.0).unwrap();
        assert_eq!(started(&mut micro), [(0, 2), (0, 3)]);
    }

    #[test]
    fn memory_bounds_what_is_decoded_at_once() {
        let settings =
            MicroGroupSettings { tokens_max: Some(5), slots: 8, micro_size: 4, ..SETTINGS };
        let mut micro = MicroGroups::new(settings).unwrap();
        micro.push("p", &[9, 1, 3, 2]).unwrap();
        assert_eq!((started(&mut micro), micro.tokens()), (vec![(0, 1), (0, 3)], 3));
        micro.on_finished(1, 0.0).unwrap();
        assert_eq!((started(&mut micro), micro.running().len()), (vec![(0, 2)], 2));
        micro.on_finished(0, 0.0).unwrap();
        assert_eq!(started(&mut micro), [], "9 tokens wait until they are alone");
        micro.on_finished(2, 0.0).unwrap();
        assert_eq!(started(&mut micro), [(0, 0)]);
    }

    #[test]
    fn a_group_is_decoded_a_few_rollouts_at_a_time() {
        let settings = MicroGroupSettings { slots: 3, order: DecodeOrder::Arrival, ..SETTINGS };
        let mut micro = MicroGroups::new(settings).unwrap();
        micro.push("p", &[1; 4]).unwrap();
        micro.push("q", &[1; 4]).unwrap();
        assert_eq!(started(&mut micro), [(0, 0), (0, 1), (1, 0)]);
        assert!(micro.push("r", &[1; 3]).unwrap_err().to_string().contains("3 values, expected 4"));
        for wrong in [
            MicroGroupSettings { slots: 0, ..SETTINGS },
            MicroGroupSettings { micro_size: 0, ..SETTINGS },
            MicroGroupSettings { group_size: 0, ..SETTINGS },
        ] {
            assert!(MicroGroups::new(wrong).unwrap_err().to_string().contains("at least 1"));
        }
    }
}
