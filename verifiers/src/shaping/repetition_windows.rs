//! `repetition_windows`: a completion that says the same again and again loses reward.

use std::collections::BTreeMap;

use crate::shape::member::texts;
use crate::shape::prelude::*;

/// `r - penalty` where some run of `window` words stands in the completion more than `limit` times,
/// else `r`. Words are between white space and underscores.
///
/// Source: "RLPR: Extrapolating RLVR to General Domains without Verifiers", its code (windows of 10
/// words, more than 6 times); the size of the penalty is a setting there.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RepetitionWindows {
    /// How many words a run has.
    #[default(10)]
    window: usize,
    /// How often it may be there.
    #[default(6)]
    limit: u32,
    /// What is taken off.
    #[default(1.0)]
    penalty: f64,
}

impl Shape for RepetitionWindows {
    const KIND: &'static str = "repetition_windows";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.window == 0 || self.window > 1000 {
            return Err(BuildError::new("window", "window has 1 to 1000 words"));
        }
        at_least("limit", f64::from(self.limit), 1.0)?;
        at_least("penalty", self.penalty, 0.0)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let mut most = 0;
        for text in texts(member.sample) {
            most = self.most(text, meter)?.max(most);
        }
        let cost = if most > self.limit { self.penalty } else { 0.0 };
        Ok(Shaped::new(reward - cost).with("repeats", most))
    }
}

impl RepetitionWindows {
    /// How often the most frequent run is in the text; counting ends where it is too often.
    fn most(&self, text: &str, meter: &mut Meter<'_>) -> Result<u32, Fault> {
        meter.spend(8 * text.len() as u64)?;
        let words = text.split(|char: char| char.is_whitespace() || char == '_');
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let mut spoken: Vec<u32> = Vec::new();
        for word in words.filter(|word| !word.is_empty()) {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            spoken.push(*numbers.entry(word).or_insert(next));
        }
        let mut counts: BTreeMap<&[u32], u32> = BTreeMap::new();
        let mut most = 0;
        for run in spoken.windows(self.window) {
            meter.spend(8 + self.window as u64)?;
            let count = counts.entry(run).or_default();
            *count += 1;
            most = most.max(*count);
            if most > self.limit {
                break;
            }
        }
        Ok(most)
    }
}
