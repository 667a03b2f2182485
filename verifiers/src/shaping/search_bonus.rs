//! `search_bonus`: searching is paid for where nothing else solves the prompt.

use crate::shape::group;
use crate::shape::prelude::*;
use crate::shape::tool_use::ToolUse;

/// `r + bonus` for a right sample that searched, in a group where every sample without a search is
/// known to be wrong; else `r`. One that was not judged may be right, so nothing is paid beside it.
///
/// Source: the extra call reward of "Pangu `DeepDiver`: Adaptive Search Intensity Scaling via Open-Web
/// Reinforcement Learning".
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SearchBonus {
    /// What is added.
    #[default(1.0)]
    bonus: f64,
    /// The least reward of a right sample.
    #[default(Reward::RIGHT)]
    correct_at: f64,
    #[serde(flatten)]
    calls: ToolUse,
}

impl Shape for SearchBonus {
    const KIND: &'static str = "search_bonus";

    fn is_group(&self) -> bool {
        true
    }

    fn shape(
        &self,
        members: &[ShapeMember<'_>],
        _: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Shaped>, Fault> {
        let mut searched = Vec::new();
        for member in members {
            searched.push(self.calls.count(member.sample, meter)?.calls > 0.0);
        }
        let mut without = members.iter().zip(&searched).filter(|(_, searched)| !**searched);
        let is_wrong = |reward: Option<f64>| reward.is_some_and(|reward| reward < self.correct_at);
        let is_needed = without.all(|(member, _)| is_wrong(member.reward()));
        Ok(group::each(members, |at, _, reward| {
            #[expect(clippy::indexing_slicing, reason = "each member was counted")]
            let searched = searched[at];
            let is_paid = is_needed && searched && reward >= self.correct_at;
            let bonus = if is_paid { self.bonus } else { 0.0 };
            Shaped::new(reward + bonus).with("searched", searched)
        }))
    }
}
