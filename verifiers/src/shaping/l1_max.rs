//! `l1_max`: a completion is to be no longer than its prompt says.

use crate::shape::length::CompletionLength;
use crate::shape::member::Amount;
use crate::shape::prelude::*;
use crate::shape::settings::{fixed, half};

/// `r clip(alpha (budget - L) + delta, 0, 1)`: shorter than the budget earns up to all, longer less.
///
/// A reward of 0 or less stays as it is, so that a wrong completion gains nothing by its length.
/// Between 0 and `r` comes out. Source: "L1: Controlling How Long A Reasoning Model Thinks With
/// Reinforcement Learning", section "Method", L1-Max.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct L1Max {
    /// The length that was allowed: a number, or the column that holds it.
    budget: Amount,
    /// What a unit is worth.
    #[serde(default = "alpha")]
    alpha: Schedule,
    /// The share of the reward that a completion of exactly this length earns.
    #[serde(default = "half")]
    delta: f64,
    #[serde(flatten)]
    length: CompletionLength,
}

impl Shape for L1Max {
    const KIND: &'static str = "l1_max";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        never_negative("alpha", &self.alpha)?;
        unit("delta", self.delta)?;
        self.length.load(files)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let budget = self.budget.of(member.sample)?;
        let length = self.length.of(member.sample, meter)?;
        let share = self.alpha.at(state.step) * (budget - length) + self.delta;
        let shaped = if reward > 0.0 { reward * share.clamp(0.0, 1.0) } else { reward };
        Ok(Shaped::new(shaped).with("length", length).with("budget", budget))
    }
}

fn alpha() -> Schedule {
    fixed(3e-4)
}
