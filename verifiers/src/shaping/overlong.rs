//! `overlong`: long completions lose reward, softly at first.

use crate::shape::length::CompletionLength;
use crate::shape::prelude::*;
use crate::shape::settings::whole;

/// Adds a penalty for length: 0 up to `max - cache`, then `-factor (L - (max - cache)) / cache`, and
/// `-factor` beyond `max`. Between `-factor` and 0 is added.
///
/// Source: "DAPO: An Open-Source LLM Reinforcement Learning System at Scale", section 3.4 (overlong
/// reward shaping), whose lengths are the defaults. `OpenRLHF` has the same with a factor
/// (`overlong_penalty_factor`); with `beyond = "linear"` the penalty grows on beyond `max`, as in
/// verl (`overlong_buffer`, reward manager `dapo`).
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Overlong {
    /// From this length on the penalty is whole.
    #[serde(default = "max_default")]
    max: u32,
    /// Over how many units before `max` the penalty grows.
    #[serde(default = "cache_default")]
    cache: u32,
    /// The whole penalty.
    #[serde(default = "whole")]
    factor: Schedule,
    /// What becomes of the penalty beyond `max`.
    #[serde(default)]
    beyond: Beyond,
    #[serde(flatten)]
    length: CompletionLength,
}

/// What becomes of the penalty beyond the greatest length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Beyond {
    /// It stays whole.
    #[default]
    Flat,
    /// It grows on.
    Linear,
}

impl Shape for Overlong {
    const KIND: &'static str = "overlong";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        if self.cache == 0 || self.cache > self.max {
            let message = format!("cache is {}, expected 1 to max, {}", self.cache, self.max);
            return Err(BuildError::new("cache", message));
        }
        never_negative("factor", &self.factor)?;
        self.length.load(files)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let length = self.length.of(member.sample, meter)?;
        let penalty = self.factor.at(state.step) * self.share(length);
        Ok(Shaped::new(reward - penalty).with("length", length))
    }
}

impl Overlong {
    /// How much of the penalty is due.
    fn share(&self, length: f64) -> f64 {
        let cache = f64::from(self.cache);
        let share = ((length - (f64::from(self.max) - cache)) / cache).max(0.0);
        if self.beyond == Beyond::Flat { share.min(1.0) } else { share }
    }
}

fn max_default() -> u32 {
    20_480
}

fn cache_default() -> u32 {
    4_096
}
