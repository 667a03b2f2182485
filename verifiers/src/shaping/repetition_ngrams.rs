//! `repetition_ngrams`: the more of a completion is said twice, the less it earns.

use std::collections::BTreeSet;

use crate::shape::member::texts;
use crate::shape::prelude::*;

/// `r - penalty max(0, rep - slack)`, with `rep = 1 - (distinct n-grams of words) / (n-grams)`.
///
/// A completion of fewer than `n` words loses nothing. Between `r - penalty` and `r` comes out. Source:
/// with `n = 3`, `slack = 0` and `penalty = 1` the repetition penalty of Open-R1
/// (`get_repetition_penalty_reward`, after "Demystifying Long Chain-of-Thought Reasoning in LLMs",
/// section on the repetition penalty); the slack, and its default, are ours.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RepetitionNgrams {
    /// How many words an n-gram has.
    #[default(4)]
    n: usize,
    /// The share of repeated n-grams that costs nothing.
    #[default(0.2)]
    slack: f64,
    /// What is taken off where all is repetition.
    #[default(1.0)]
    penalty: f64,
    /// Compare words without regard to case.
    #[default(true)]
    ignore_case: bool,
}

impl Shape for RepetitionNgrams {
    const KIND: &'static str = "repetition_ngrams";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.n == 0 || self.n > 1000 {
            return Err(BuildError::new("n", "n is 1 to 1000 words"));
        }
        unit("slack", self.slack)?;
        at_least("penalty", self.penalty, 0.0)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let mut cased = String::new();
        for text in texts(member.sample) {
            meter.spend(8 * text.len() as u64)?;
            cased.push_str(text);
            cased.push(' ');
        }
        let cased = if self.ignore_case { cased.to_lowercase() } else { cased };
        let words: Vec<&str> = cased.split_whitespace().collect();
        let mut distinct: BTreeSet<&[&str]> = BTreeSet::new();
        let mut all = 0_u32;
        for gram in words.windows(self.n) {
            meter.spend(16 + 8 * self.n as u64)?;
            distinct.insert(gram);
            all = all.saturating_add(1);
        }
        let count = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
        let repeated = if all == 0 { 0.0 } else { 1.0 - f64::from(count) / f64::from(all) };
        let cost = self.penalty * (repeated - self.slack).max(0.0);
        Ok(Shaped::new(reward - cost).with("repeated", repeated))
    }
}
