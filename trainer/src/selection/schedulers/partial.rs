//! Partial rollouts: what is not finished when a batch is full goes on in the next step.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::TrainerError;
use crate::selection::stats;

/// How many groups are begun, and how long their rollouts may take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartialSettings {
    /// How many groups a training batch has.
    pub batch_groups: usize,
    /// How many rollouts a group has.
    pub group_size: usize,
    /// By which share more groups are decoded at once than a training batch has.
    pub over_provision: f64,
    /// By how many versions the oldest token of a group may be older than the policy that is trained.
    #[serde(default = "three")]
    pub age_max: u64,
    /// What becomes of a group with an older token.
    #[serde(default)]
    pub on_expired: OnExpired,
}

/// What becomes of a group that is too old.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnExpired {
    /// All of its rollouts begin anew.
    #[default]
    Retry,
    /// Its prompt is given up.
    Drop,
}

fn three() -> u64 {
    3
}

/// Partial rollouts (APRIL: Active Partial Rollouts in Reinforcement Learning to Tame Long-tail
/// Generation): more groups are begun than are needed, and as soon as enough are complete the others are
/// interrupted, parked with their tokens and their policy version, and resumed first in the next step.
///
/// A step is [`begin`](Self::begin), then [`on_finished`](Self::on_finished) until it gives a batch, then
/// [`on_interrupted`](Self::on_interrupted) for each rollout that the batch names. The tokens and their
/// log-probabilities belong to the caller. Every token of a group that is trained on is at most
/// `age_max` versions old.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartialRollouts {
    settings: PartialSettings,
    version: u64,
    /// Groups that are not complete, those that were begun first at the front.
    groups: VecDeque<OpenGroup>,
    /// Where each rollout that is being decoded belongs: the number of its group and its place in it.
    running: BTreeMap<u64, (u64, usize)>,
    complete: Vec<PartialGroup>,
    next_group: u64,
    next_job: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenGroup {
    number: u64,
    prompt: String,
    rollouts: Vec<PartialRollout>,
}

/// A rollout, as far as it is decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartialRollout {
    /// Its number; it stays the same when it is resumed.
    pub job: u64,
    /// Its tokens, by the version of the policy that made them.
    pub segments: Vec<TokenSegment>,
    /// Whether it is finished.
    pub is_finished: bool,
}

/// Tokens that one version of the policy has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenSegment {
    /// The version.
    pub version: u64,
    /// How many tokens.
    pub tokens: usize,
}

/// A rollout to begin, or to resume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartialJob {
    /// The number of the rollout.
    pub job: u64,
    /// What its prompt is called.
    pub prompt: String,
    /// Its place in its group.
    pub member: usize,
    /// How many tokens it has already.
    pub tokens: usize,
}

/// A group whose rollouts are all finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartialGroup {
    /// What its prompt is called.
    pub prompt: String,
    /// Its rollouts.
    pub rollouts: Vec<PartialRollout>,
}

/// What a step begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartialStart {
    /// Rollouts to decode: those that are resumed, then those that begin.
    pub jobs: Vec<PartialJob>,
    /// Rollouts whose tokens are thrown away, because their group is too old.
    pub discarded: Vec<u64>,
    /// Prompts that are given up.
    pub dropped: Vec<String>,
}

/// What a step ends with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PartialBatch {
    /// Groups to train on.
    pub groups: Vec<PartialGroup>,
    /// Rollouts to interrupt.
    pub interrupt: Vec<u64>,
}

impl PartialRollouts {
    /// A scheduler without groups.
    ///
    /// # Errors
    /// A size of 0, or a negative share.
    pub fn new(settings: PartialSettings) -> Result<Self, TrainerError> {
        let sizes = [("batch_groups", settings.batch_groups), ("group_size", settings.group_size)];
        if let Some((key, _)) = sizes.into_iter().find(|(_, size)| *size == 0) {
            return Err(TrainerError::setting(key, format!("`{key}` is 0, expected at least 1")));
        }
        let share = settings.over_provision;
        if !(share.is_finite() && share >= 0.0) {
            let message = format!("`over_provision` is {share}, expected at least 0");
            return Err(TrainerError::setting("over_provision", message));
        }
        Ok(Self {
            settings,
            version: 0,
            groups: VecDeque::new(),
            running: BTreeMap::new(),
            complete: Vec::new(),
            next_group: 0,
            next_job: 0,
        })
    }

    /// How many groups are decoded at once: `ceil(batch_groups * (1 + over_provision))`.
    pub fn groups_at_once(&self) -> usize {
        let groups =
            stats::float(self.settings.batch_groups) * (1.0 + self.settings.over_provision);
        stats::floored((groups * (1.0 - 1e-12)).ceil())
    }

    /// How many groups are not complete.
    pub fn open(&self) -> usize {
        self.groups.len()
    }

    /// Begins a step with a version of the policy, and takes as many new prompts as it needs. There is
    /// nothing to do where it gives no job.
    ///
    /// # Errors
    /// A step that has not ended, or a version before the last one.
    pub fn begin(
        &mut self,
        version: u64,
        prompts: &mut dyn Iterator<Item = String>,
    ) -> Result<PartialStart, TrainerError> {
        if let Some(job) = self.running.keys().next() {
            let have = format!("rollout {job} is being decoded");
            return Err(TrainerError::input("step", have, "all finished or interrupted"));
        }
        if version < self.version {
            let expected = format!("at least {}", self.version);
            return Err(TrainerError::input("version", version.to_string(), expected));
        }
        self.version = version;
        let mut start = PartialStart::default();
        self.expire(&mut start);
        let wanted = self.groups_at_once().saturating_sub(self.groups.len());
        for prompt in prompts.take(wanted) {
            let rollouts = self.new_rollouts();
            self.groups.push_back(OpenGroup { number: self.next_group, prompt, rollouts });
            self.next_group += 1;
        }
        let (mut resumed, mut begun) = (Vec::new(), Vec::new());
        for group in &self.groups {
            for (member, rollout) in group.rollouts.iter().enumerate() {
                if !rollout.is_finished {
                    self.running.insert(rollout.job, (group.number, member));
                    let (job, tokens) = (rollout.job, rollout.tokens());
                    let jobs = if tokens > 0 { &mut resumed } else { &mut begun };
                    jobs.push(PartialJob { job, prompt: group.prompt.clone(), member, tokens });
                }
            }
        }
        resumed.append(&mut begun);
        Ok(PartialStart { jobs: resumed, ..start })
    }

    /// A rollout is finished, after so many more tokens in this step. Returns the batch where enough
    /// groups are complete.
    ///
    /// # Errors
    /// A rollout that is not being decoded.
    pub fn on_finished(
        &mut self,
        job: u64,
        tokens: usize,
    ) -> Result<Option<PartialBatch>, TrainerError> {
        let place = self.stop(job, tokens)?;
        let Some(group) = self.groups.get_mut(place.0) else { return Ok(None) };
        if let Some(rollout) = group.rollouts.get_mut(place.1) {
            rollout.is_finished = true;
        }
        if group.rollouts.iter().any(|rollout| !rollout.is_finished) {
            return Ok(None);
        }
        if let Some(OpenGroup { prompt, rollouts, .. }) = self.groups.remove(place.0) {
            self.complete.push(PartialGroup { prompt, rollouts });
        }
        // Where prompts have run out, what is left is the last batch.
        if self.complete.len() < self.settings.batch_groups && !self.groups.is_empty() {
            return Ok(None);
        }
        let interrupt = self.running.keys().copied().collect();
        Ok(Some(PartialBatch { groups: std::mem::take(&mut self.complete), interrupt }))
    }

    /// A rollout was interrupted, after so many more tokens in this step: it is parked.
    ///
    /// # Errors
    /// A rollout that is not being decoded.
    pub fn on_interrupted(&mut self, job: u64, tokens: usize) -> Result<(), TrainerError> {
        self.stop(job, tokens).map(|_| ())
    }

    /// Throws away what is too old.
    fn expire(&mut self, start: &mut PartialStart) {
        let (version, age_max) = (self.version, self.settings.age_max);
        for mut group in std::mem::take(&mut self.groups) {
            let is_old = |rollout: &PartialRollout| {
                rollout.oldest().is_some_and(|oldest| version.saturating_sub(oldest) > age_max)
            };
            if group.rollouts.iter().any(is_old) {
                start.discarded.extend(group.rollouts.iter().map(|rollout| rollout.job));
                if self.settings.on_expired == OnExpired::Drop {
                    start.dropped.push(group.prompt);
                    continue;
                }
                group.rollouts = self.new_rollouts();
            }
            self.groups.push_back(group);
        }
    }

    fn new_rollouts(&mut self) -> Vec<PartialRollout> {
        let first = self.next_job;
        self.next_job += self.settings.group_size as u64;
        let rollout = |job| PartialRollout { job, segments: Vec::new(), is_finished: false };
        (first..self.next_job).map(rollout).collect()
    }

    /// Takes a rollout from those that are being decoded. Returns where it stands.
    fn stop(&mut self, job: u64, tokens: usize) -> Result<(usize, usize), TrainerError> {
        let unknown = || TrainerError::input("rollout", job.to_string(), "one that was started");
        let (number, member) = self.running.remove(&job).ok_or_else(unknown)?;
        let place = self.groups.binary_search_by_key(&number, |group| group.number);
        let place = place.map_err(|_| unknown())?;
        let group = self.groups.get_mut(place).ok_or_else(unknown)?;
        let rollout = group.rollouts.get_mut(member).ok_or_else(unknown)?;
        if tokens > 0 {
            rollout.segments.push(TokenSegment { version: self.version, tokens });
        }
        Ok((place, member))
    }
}

impl PartialRollout {
    /// How many tokens it has.
    pub fn tokens(&self) -> usize {
        self.segments.iter().map(|segment| segment.tokens).sum()
    }

    /// The version of its oldest token; none where it has none.
    pub fn oldest(&self) -> Option<u64> {
        self.segments.first().map(|segment| segment.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: PartialSettings = PartialSettings {
        batch_groups: 1,
        group_size: 2,
        over_provision: 1.0,
        age_max: 1,
        on_expired: OnExpired::Retry,
    };

    fn jobs(start: &PartialStart) -> Vec<(u64, &str, usize)> {
        start.jobs.iter().map(|job| (job.job, &*job.prompt, job.tokens)).collect()
    }

    #[test]
    fn what_is_not_finished_is_resumed_first() {
        let mut prompts = ["p", "q", "r", "s"].map(str::to_owned).into_iter();
        let mut partial = PartialRollouts::new(SETTINGS).unwrap();
        let start = partial.begin(0, &mut prompts).unwrap();
        assert_eq!(jobs(&start), [(0, "p", 0), (1, "p", 0), (2, "q", 0), (3, "q", 0)]);
        assert_eq!(partial.on_finished(2, 5).unwrap(), None);
        assert_eq!(partial.on_finished(0, 6).unwrap(), None);
        let batch = partial.on_finished(3, 7).unwrap().unwrap();
        assert_eq!((batch.groups[0].prompt.as_str(), batch.interrupt), ("q", vec![1]));
        assert!(partial.begin(1, &mut prompts).is_err(), "rollout 1 is not parked yet");
        partial.on_interrupted(1, 9).unwrap();
        assert!(partial.on_interrupted(1, 9).is_err());

        let text = serde_json::to_string(&partial).unwrap();
        let mut partial: PartialRollouts = serde_json::from_str(&text).unwrap();
        let start = partial.begin(1, &mut prompts).unwrap();
        assert_eq!(jobs(&start), [(1, "p", 9), (4, "r", 0), (5, "r", 0)]);
        let batch = partial.on_finished(1, 2).unwrap().unwrap();
        let segment = |version, tokens| TokenSegment { version, tokens };
        assert_eq!(batch.groups[0].rollouts[0].segments, [segment(0, 6)]);
        assert_eq!(batch.groups[0].rollouts[1].segments, [segment(0, 9), segment(1, 2)]);
        assert_eq!((batch.interrupt, partial.open()), (vec![4, 5], 1));
    }

    #[test]
    fn what_is_too_old_begins_anew_or_is_given_up() {
        for (on_expired, expected, dropped) in [
            (OnExpired::Retry, vec![(4, "p", 0), (5, "p", 0)], vec![]),
            (OnExpired::Drop, vec![], vec!["p".to_owned()]),
        ] {
            let settings = PartialSettings { on_expired, ..SETTINGS };
            let mut partial = PartialRollouts::new(settings).unwrap();
            let mut prompts = ["p", "q"].map(str::to_owned).into_iter();
            partial.begin(3, &mut prompts).unwrap();
            partial.on_finished(2, 1).unwrap();
            partial.on_finished(0, 1).unwrap();
            let batch = partial.on_finished(3, 1).unwrap().unwrap();
            assert_eq!(batch.interrupt, [1]);
            partial.on_interrupted(1, 4).unwrap();
            // Version 5 is two ahead of the tokens of version 3.
            let start = partial.begin(5, &mut prompts).unwrap();
            assert_eq!((jobs(&start), start.dropped.clone()), (expected, dropped));
            assert_eq!(start.discarded, [0, 1]);
            assert!(partial.begin(4, &mut prompts).is_err());
        }
    }

    #[test]
    fn wrong_settings_are_refused() {
        for wrong in [
            PartialSettings { batch_groups: 0, ..SETTINGS },
            PartialSettings { group_size: 0, ..SETTINGS },
            PartialSettings { over_provision: -0.5, ..SETTINGS },
        ] {
            assert!(PartialRollouts::new(wrong).is_err());
        }
        let settings = PartialSettings { batch_groups: 10, over_provision: 0.1, ..SETTINGS };
        assert_eq!(PartialRollouts::new(settings).unwrap().groups_at_once(), 11);
    }
}
