//! `l1_exact`: a completion is to be as long as its prompt says.

use crate::shape::length::CompletionLength;
use crate::shape::member::Amount;
use crate::shape::prelude::*;
use crate::shape::settings::fixed;

/// `r - alpha |budget - L|`: each unit too long or too short costs `alpha`.
///
/// At most `r` comes out; there is no lower bound. Source: "L1: Controlling How Long A Reasoning
/// Model Thinks With Reinforcement Learning", section "Method", L1-Exact.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct L1Exact {
    /// The length that was asked for: a number, or the column that holds it.
    budget: Amount,
    /// What a unit costs.
    #[serde(default = "alpha")]
    alpha: Schedule,
    #[serde(flatten)]
    length: CompletionLength,
}

impl Shape for L1Exact {
    const KIND: &'static str = "l1_exact";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        never_negative("alpha", &self.alpha)?;
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
        let cost = self.alpha.at(state.step) * (budget - length).abs();
        Ok(Shaped::new(reward - cost).with("length", length).with("budget", budget))
    }
}

fn alpha() -> Schedule {
    fixed(3e-4)
}
