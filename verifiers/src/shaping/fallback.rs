//! `fallback`: a dense reward steps in where the outcome of a group says nothing.

use crate::shape::group;
use crate::shape::member::other;
use crate::shape::prelude::*;
use crate::shape::settings::{right, one};

/// `weight d` with the dense reward `d`, where all samples of the group have the same reward and none
/// of them is right; else `r`.
///
/// A group with a success keeps its outcome, even where all succeed. Source: the hierarchical reward of
/// "P2S: Probabilistic Process Supervision".
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fallback {
    /// The dense reward.
    dense: String,
    /// Its weight.
    #[serde(default = "one")]
    weight: f64,
    /// The least reward of a right sample.
    #[serde(default = "right")]
    correct_at: f64,
}

impl Shape for Fallback {
    const KIND: &'static str = "fallback";

    fn reads(&self) -> Vec<&str> {
        vec![&self.dense]
    }

    fn is_group(&self) -> bool {
        true
    }

    fn shape(
        &self,
        members: &[ShapeMember<'_>],
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Vec<Shaped>, Fault> {
        let range = group::range(&group::rewards(members));
        let is_silent = range.is_some_and(|(low, high)| low >= high && high < self.correct_at);
        Ok(group::each(members, |_, member, reward| {
            if !is_silent {
                return Shaped::new(reward).with("fallback", false);
            }
            match other(member, &self.dense) {
                Ok(Ok((_, dense))) => Shaped::new(self.weight * dense).with("fallback", true),
                Ok(Err(why)) => Shaped::skipped(reward, why),
                Err(fault) => Shaped::failed(fault.to_string()),
            }
        }))
    }
}
