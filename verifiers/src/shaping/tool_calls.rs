//! `tool_calls`: a right answer that took fewer calls of tools earns more.

use crate::shape::prelude::*;
use crate::shape::tool_use::ToolUse;

/// `max(r - cost (calls - free), floor)` for a right completion that called tools more than `free`
/// times; else `r`.
///
/// A reward below `floor` stays as it is. Calls are those of the messages of the assistant, and
/// opening tags that are named. Source: the generic form of the search penalty of "MMSearch-R1:
/// Incentivizing LMMs to Search"; the cost of 0.05, paid for right answers alone, after `MedSAM-Agent`.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolCalls {
    /// What a call costs.
    #[default(Schedule::try_from(0.05).unwrap_or_default())]
    cost: Schedule,
    /// How many calls cost nothing.
    free: u32,
    /// The least to which the calls may lower a reward.
    floor: f64,
    /// Only right completions pay for their calls.
    #[default(true)]
    only_correct: bool,
    /// The least reward of a right completion.
    #[default(Reward::RIGHT)]
    correct_at: f64,
    #[serde(flatten)]
    calls: ToolUse,
}

impl Shape for ToolCalls {
    const KIND: &'static str = "tool_calls";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        never_negative("cost", &self.cost)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let calls = self.calls.count(member.sample, meter)?.calls;
        let pays = !self.only_correct || reward >= self.correct_at;
        let paid = (calls - f64::from(self.free)).max(0.0) * self.cost.at(state.step);
        let shaped = if pays { (reward - paid).max(self.floor.min(reward)) } else { reward };
        Ok(Shaped::new(shaped).with("calls", calls))
    }
}
