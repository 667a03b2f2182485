//! `gate`: nothing is earned unless another reward is high enough.

use crate::shape::member::other;
use crate::shape::prelude::*;
use crate::shape::settings::{half, zero};

/// `r` where the reward `by` is `at_least` or more, else `floor`; with `product`, `r` times that reward.
///
/// Source: the gate and the product of rewards as every trainer has them; here for one reward, where
/// `combine.how = "gate"` is for all.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gate {
    /// The reward that opens the gate.
    by: String,
    /// The least reward that opens it.
    #[serde(default = "half")]
    at_least: f64,
    /// What is earned where it is closed; less than that stays as it is.
    #[serde(default = "zero")]
    floor: f64,
    /// Multiply, instead of opening and closing.
    #[serde(default)]
    product: bool,
}

impl Shape for Gate {
    const KIND: &'static str = "gate";

    fn reads(&self) -> Vec<&str> {
        vec![&self.by]
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        Ok(match other(member, &self.by)? {
            Err(why) => Shaped::skipped(reward, why),
            Ok((_, by)) if self.product => Shaped::new(reward * by),
            Ok((_, by)) if by >= self.at_least => Shaped::new(reward).with("open", true),
            Ok(_) => Shaped::new(reward.min(self.floor)).with("open", false),
        })
    }
}
